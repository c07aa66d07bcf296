// A set of fields of an object: who owns what is said in these. Written as fieldsV1, the format
// that stands in metadata.managedFields: "f:NAME" is a field, "k:{...}" the item of a list with
// these keys, "v:VALUE" the item of a set, "." the thing itself beside what it has inside.
#pragma once

#include "base/result.h"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace muster::lab {

/// Keys and items of sets. A whole number is always an int64, so that equal numbers are the same.
using FieldScalar = std::variant<std::int64_t, double, std::string, bool>;

/// None for what is not a scalar: null, lists and objects.
std::optional<FieldScalar> field_scalar(const boost::json::value& value);

/// One step of a path.
struct FieldStep {
    enum class Kind : std::uint8_t { field, key, value, index };

    Kind kind = Kind::field;
    std::string name;  // of a field
    /// Of a key, by name. The item of a set or an index stands here alone, with no name.
    std::vector<std::pair<std::string, FieldScalar>> key;

    static FieldStep field(std::string_view name);
    static FieldStep item(FieldScalar value);
    static FieldStep at(std::size_t index);

    bool operator==(const FieldStep&) const = default;
};

/// The order in which Kubernetes writes them.
bool operator<(const FieldStep& left, const FieldStep& right);

/// For people: `.image`, `[name="app"]`, `[="a"]`, `[3]`.
std::string print_step(const FieldStep& step);

/// Invariant: whoever stands in the tree is a member, or has one inside.
class FieldSet {
public:
    struct Node;

    static Result<FieldSet> parse(const boost::json::value& fields);
    [[nodiscard]] boost::json::value write() const;

    /// Nothing when it is neither a member nor has one inside.
    void put(const FieldStep& step, bool is_member, FieldSet inside);
    void insert(std::span<const FieldStep> path);

    [[nodiscard]] bool is_empty() const;
    [[nodiscard]] bool has(std::span<const FieldStep> path) const;
    [[nodiscard]] const Node* find(const FieldStep& step) const;
    [[nodiscard]] const std::map<FieldStep, Node>& nodes() const { return nodes_; }
    /// All members for people, `.spec.containers[name="app"].image`; what is nearer to the root of
    /// two relatives is first.
    [[nodiscard]] std::vector<std::string> paths() const;

    [[nodiscard]] FieldSet unite(const FieldSet& other) const;
    [[nodiscard]] FieldSet intersect(const FieldSet& other) const;
    [[nodiscard]] FieldSet subtract(const FieldSet& other) const;

    bool operator==(const FieldSet& other) const;

private:
    std::map<FieldStep, Node> nodes_;
};

struct FieldSet::Node {
    bool is_member = false;
    FieldSet inside;

    bool operator==(const Node&) const = default;
};

}  // namespace muster::lab
