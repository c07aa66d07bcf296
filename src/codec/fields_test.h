// Tests only: every field of a struct is told in its `fields`, every enumerator is known.
#pragma once

#include "codec/fields_json.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>

namespace muster {

struct Anything {
    template <class T>
    operator T() const;
};

template <class T, std::size_t... I>
constexpr bool takes(std::index_sequence<I...> /*members*/) {
    return requires { T{(static_cast<void>(I), Anything{})...}; };
}

/// Members of an aggregate: the most that its braces take.
template <class T, std::size_t count = 24>
constexpr std::size_t member_count() {
    if constexpr (takes<T>(std::make_index_sequence<count>())) {
        return count;
    } else {
        return member_count<T, count - 1>();
    }
}

/// True when the compiler knows a name for the value: clang and g++ print "(Enum)7" where not.
template <auto value>
constexpr bool has_enumerator() {
    constexpr std::string_view function = __PRETTY_FUNCTION__;
    constexpr std::size_t equals = function.find("value = ");
    return function[equals + 8] != '(';
}

/// Goes to every type that is reached from a value, with one item in each list.
class FieldChecker {
public:
    template <class T>
    void operator()(const char* key, T& value) {
        told_.insert({&value, key});
        check(value);
    }
    template <class T>
    void operator()(const char* key, GpuBits<T> gpus) {
        told_.insert({&gpus.mask, key});
    }

    template <class T>
    void check(T& value) {
        if constexpr (std::is_enum_v<T>) {
            constexpr auto past = static_cast<T>(static_cast<int>(last_of<T>) + 1);
            EXPECT_TRUE(has_enumerator<last_of<T>>()) << typeid(T).name();
            EXPECT_FALSE(has_enumerator<past>()) << typeid(T).name() << ": last_of is not its last";
            for (int i = 0; i <= static_cast<int>(last_of<T>); ++i) {
                EXPECT_NE(name_of(static_cast<T>(i)), "");
            }
        } else if constexpr (is_list<T>) {
            check(value.emplace_back());
        } else if constexpr (is_variant<T>) {
            check_variant(value, std::make_index_sequence<std::variant_size_v<T>>());
        } else if constexpr (std::is_aggregate_v<T>) {
            std::set<std::pair<const void*, std::string>> told;
            std::swap(told, told_);
            fields(*this, value);
            std::swap(told, told_);
            std::set<const void*> members;
            std::set<std::string> keys;
            for (const auto& [member, key] : told) {
                members.insert(member);
                keys.insert(key);
            }
            EXPECT_EQ(members.size(), member_count<T>()) << typeid(T).name();
            EXPECT_EQ(keys.size(), member_count<T>()) << typeid(T).name();
        }
    }

private:
    template <class T, std::size_t... I>
    void check_variant(T& value, std::index_sequence<I...> /*alternatives*/) {
        (check(value.template emplace<I>()), ...);
    }

    std::set<std::pair<const void*, std::string>> told_;
};

/// Of T and of every type that is reached from it.
template <class T>
void check_fields() {
    T value;
    FieldChecker().check(value);
}

}  // namespace muster
