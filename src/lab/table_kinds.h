// The columns of each kind that is built in, and what stands in them. Only table.cpp asks.
#pragma once

#include "kube/objects.h"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::lab {

struct TableColumn {
    std::string_view name;
    std::string_view type = "string";
    std::string_view format;
    int priority = 0;  // 1: `-o wide` only
};

struct KindTable {
    std::string_view group;
    std::string_view kind;
    std::vector<TableColumn> columns;
    /// One cell per column.
    boost::json::array (*cells)(const boost::json::object& object, std::int64_t now);
};

std::span<const KindTable> core_tables();
std::span<const KindTable> node_tables();  // nodes and pods
std::span<const KindTable> workload_tables();
std::span<const KindTable> scheduling_tables();

/// The columns of a definition: the built-in ones of Volcano's kinds are written so too. Null for
/// kinds that have none.
const boost::json::array* volcano_columns(std::string_view group, std::string_view kind);

// Columns that many kinds have.
inline constexpr TableColumn name_column{.name = "Name", .format = "name"};
inline constexpr TableColumn age_column{.name = "Age"};
inline constexpr TableColumn containers_column{.name = "Containers", .priority = 1};
inline constexpr TableColumn images_column{.name = "Images", .priority = 1};
inline constexpr TableColumn selector_column{.name = "Selector", .priority = 1};

// Reading by path: "status.nodeInfo.kubeletVersion". What is not there, or is of another type, is
// nothing, empty or zero.
using kube::value_at;
std::string text_of(const boost::json::object& object, std::string_view path,
                    std::string_view otherwise = {});
std::int64_t integer_of(const boost::json::object& object, std::string_view path,
                        std::int64_t otherwise = 0);
bool flag_of(const boost::json::object& object, std::string_view path);
const boost::json::array& list_of(const boost::json::object& object, std::string_view path);
const boost::json::object& map_of(const boost::json::object& object, std::string_view path);
/// A number or a text, as text.
std::optional<std::string> scalar_of(const boost::json::object& object, std::string_view path);

/// How long ago; "<unknown>" when there is no time.
std::string age_of(const boost::json::object& object, std::string_view path, std::int64_t now);
std::string own_age(const boost::json::object& object, std::int64_t now);
std::string own_name(const boost::json::object& object);
/// Seconds since the epoch.
std::optional<std::int64_t> time_of(const boost::json::object& object, std::string_view path);

/// The condition of a type in status.conditions; null when there is none.
const boost::json::object* condition_of(const boost::json::object& object, std::string_view type);
bool is_condition_true(const boost::json::object& object, std::string_view type);

/// "a,b" of the names, and of the images, of a list of containers.
std::string joined(const boost::json::array& objects, std::string_view key);
/// "app=web,tier=x", "<none>" when empty.
std::string labels_text(const boost::json::object& labels);
/// "app=web,tier in (a,b)" of a LabelSelector; `none` when it selects everything or is not there.
std::string selector_text(const boost::json::object& selector, std::string_view none);

}  // namespace muster::lab
