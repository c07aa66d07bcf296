// Rules for single fields as tables: where, what must hold. The kinds' own files have the tables;
// what takes two fields to tell is code there.
#pragma once

#include "lab/causes.h"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace muster::lab {

enum class MustBe : std::uint8_t {
    there,           // and not empty
    not_negative,    // 0 or more
    above_zero,      // "must be greater than 0", `words` in place of that
    within,          // "1-65535"
    one_of,          // "Always Never"; when it is there
    dns_label,       // one part of a DNS name
    dns_subdomain,   // parts with dots
    qualified_name,  // "example.com/name"
    port_name,       // as IANA has service names
    labels,          // a map, keys and values
    selector,        // matchLabels and matchExpressions
};

struct FieldRule {
    std::string_view path;  // "containers[].ports[].protocol"
    MustBe must;
    std::string_view words = "";  // of the rule
};

/// `prefix` is where the object is: "spec.template.spec".
void check_rules(std::span<const FieldRule> rules, const boost::json::object& object,
                 std::string_view prefix, Causes& out);

/// All that stands at the path, each with its place; null where only the last part is missing.
void for_each_at(const boost::json::object& object, std::string_view path, std::string_view prefix,
                 const std::function<void(const boost::json::value*, const std::string&)>& visit);

/// What is there; an empty one when nothing of the kind is.
const boost::json::object& map_in(const boost::json::object& object, std::string_view path);
const boost::json::array& list_in(const boost::json::object& object, std::string_view path);

/// An amount as it was written: texts may be numbers.
std::string amount_text(const boost::json::value& amount);
/// Of an amount, also one below zero, in thousandths.
std::optional<std::int64_t> milli_of(const boost::json::value& amount);
void check_label_map(const boost::json::value& labels, const std::string& field, Causes& out);
void check_annotation_map(const boost::json::value& annotations, const std::string& field,
                          Causes& out);
void check_selector(const boost::json::object& selector, const std::string& field, Causes& out);
/// A number from 0 on or a percentage: maxSurge, minAvailable.
void check_share(const boost::json::value& value, const std::string& field, Causes& out);

}  // namespace muster::lab
