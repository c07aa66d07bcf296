// Result<T>: a value, or the world's fault (bad input, disk, socket) with a code and a sentence.
// Callers branch on `code`, people read `message`: it names the thing, what is wrong, what was
// expected.
#pragma once

#include <tl/expected.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace muster {

enum class Code : std::uint8_t {
    invalid,
    not_found,
    conflict,
    unavailable,
    corrupt,
    limit,
    timeout
};

struct Error {
    Code code = Code::invalid;
    std::string message;

    /// Puts `context: ` in front of the message.
    Error wrap(std::string_view context) && {
        message.insert(0, ": ");
        message.insert(0, context);
        return std::move(*this);
    }
};

template <class T = void>
class [[nodiscard]] Result : public tl::expected<T, Error> {
public:
    using tl::expected<T, Error>::expected;
};

inline tl::unexpected<Error> fail(Code code, std::string message) {
    return tl::unexpected<Error>(Error{code, std::move(message)});
}

}  // namespace muster

#define MUSTER_JOIN_(a, b) a##b
#define MUSTER_JOIN(a, b) MUSTER_JOIN_(a, b)

/// `MUSTER_TRY(name, expression)`: binds the value, or returns the error to the caller.
#define MUSTER_TRY(name, expression)                                                               \
    auto MUSTER_JOIN(result_, __LINE__) = (expression);                                            \
    if (!MUSTER_JOIN(result_, __LINE__)) {                                                         \
        return tl::unexpected<::muster::Error>(std::move(MUSTER_JOIN(result_, __LINE__)).error()); \
    }                                                                                              \
    auto&& name = *MUSTER_JOIN(result_, __LINE__)

/// The same for a Result<void>.
#define MUSTER_CHECK(expression)                                                                   \
    if (auto muster_check_ = (expression); !muster_check_) {                                       \
        return tl::unexpected<::muster::Error>(std::move(muster_check_).error());                  \
    }
