// Builds one JSON value out of the events of a parser, checking what both parsers leave unchecked:
// duplicate keys and nesting. Errors stick; later events are ignored.
#pragma once

#include "base/result.h"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

struct Lines {
    int line = 0;
    std::vector<Lines> children;
};

/// A finished value; the lines are empty for JSON.
struct Tree;
struct TreeDeleter {
    void operator()(Tree* tree) const;
};
using TreePtr = std::unique_ptr<Tree, TreeDeleter>;
const boost::json::value& value_of(const Tree& tree);
const Lines* lines_of(const Tree& tree);

class TreeBuilder {
public:
    explicit TreeBuilder(bool has_lines);
    ~TreeBuilder();
    TreeBuilder(TreeBuilder&&) noexcept;
    TreeBuilder& operator=(TreeBuilder&&) noexcept;

    void null(int line);
    void boolean(bool value, int line);
    void integer(std::int64_t value, int line);
    void natural(std::uint64_t value, int line);
    void real(double value, int line);
    void string(std::string_view value, int line);
    void begin(bool is_object, int line);
    void key(std::string_view name, int line);
    void end();

    /// Keeps a copy of the value that was completed last, or puts such a copy in.
    void remember(std::size_t anchor);
    void recall(std::size_t anchor, int line);
    /// The value under this key is merged into the object that holds it (YAML's `<<`).
    void merge_key(int line);

    [[nodiscard]] bool wants_key() const;
    [[nodiscard]] bool has_value() const;
    [[nodiscard]] bool has_failed() const;
    void fail_at(int line, std::string message);

    /// The value, or the first error: `path: message` with the line in front when there is one.
    Result<TreePtr> finish(std::string_view file);

private:
    struct Work;
    std::unique_ptr<Work> work_;
};

/// The parsers: every document of the text, in order.
Result<std::vector<TreePtr>> parse_json(std::string_view file, std::string_view text);
Result<std::vector<TreePtr>> parse_yaml(std::string_view file, const std::string& text);

}  // namespace muster
