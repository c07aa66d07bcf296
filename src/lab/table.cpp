#include "lab/table.h"

#include "dialect/trace_time.h"
#include "lab/json_path.h"
#include "lab/table_kinds.h"

#include <boost/json.hpp>
#include <fmt/core.h>

namespace muster::lab {

namespace json = boost::json;

namespace {

json::object column_json(std::string_view name, std::string_view type, std::string_view format,
                         std::string_view description, std::int64_t priority) {
    return {{"name", name},
            {"type", type},
            {"format", format},
            {"description", description},
            {"priority", priority}};
}

const KindTable* built_in_table(std::string_view group, std::string_view kind) {
    for (const auto& tables :
         {node_tables(), core_tables(), workload_tables(), scheduling_tables()}) {
        for (const KindTable& table : tables) {
            if (table.group == group && table.kind == kind) { return &table; }
        }
    }
    return nullptr;
}

/// What a column of a CustomResourceDefinition shows; null for what is of another type.
json::value printed_cell(const json::value& value, std::string_view type, std::int64_t now) {
    if (value.is_null()) { return nullptr; }
    if (type == "integer") {
        if (!value.is_number()) { return nullptr; }
        if (const double* number = value.if_double()) {
            return *number > -9e18 && *number < 9e18
                       ? json::value(static_cast<std::int64_t>(*number))
                       : json::value(nullptr);
        }
        return value;
    }
    if (type == "number") { return value.is_number() ? value : json::value(nullptr); }
    if (type == "boolean") { return value.is_bool() ? value : json::value(nullptr); }
    if (type == "date") {
        if (!value.is_string()) { return nullptr; }
        const auto time = dialect::parse_civil_time(value.get_string());
        return time ? json::value(age(now - *time)) : json::value("<invalid>");
    }
    return value.is_string() ? value : json::value(json::serialize(value));
}

json::array printed_cells(const json::object& object, const json::array& columns,
                          std::int64_t now) {
    json::array out;
    out.emplace_back(own_name(object));
    for (const json::value& one : columns) {
        if (!one.is_object()) { continue; }
        const auto found = select_path(object, text_of(one.get_object(), "jsonPath"));
        if (!found || found->empty()) {
            out.emplace_back(nullptr);
        } else {
            out.push_back(printed_cell(*found->front(), text_of(one.get_object(), "type"), now));
        }
    }
    return out;
}

json::array printed_columns(const json::array& columns) {
    json::array out;
    out.emplace_back(column_json("Name", "string", "name", "", 0));
    for (const json::value& one : columns) {
        if (!one.is_object()) { continue; }
        const json::object& column = one.get_object();
        out.emplace_back(column_json(text_of(column, "name"), text_of(column, "type"),
                                     text_of(column, "format"), text_of(column, "description"),
                                     integer_of(column, "priority")));
    }
    return out;
}

json::value row_json(const json::object& object, RowObject row_object) {
    switch (row_object) {
        case RowObject::none: return nullptr;
        case RowObject::whole: return object;
        case RowObject::metadata:
            return {{"kind", "PartialObjectMetadata"},
                    {"apiVersion", "meta.k8s.io/v1"},
                    {"metadata", map_of(object, "metadata")}};
    }
    return nullptr;
}

/// By this the command line leaves finished pods out of some views.
void note_completion(json::object& row, const json::object& pod) {
    const std::string phase = text_of(pod, "status.phase");
    if (phase != "Succeeded" && phase != "Failed") { return; }
    json::object condition{
        {"type", "Completed"},
        {"status", "True"},
        {"reason", phase},
        {"message", phase == "Failed" ? "The pod failed." : "The pod has completed successfully."}};
    json::array conditions;
    conditions.emplace_back(std::move(condition));
    row["conditions"] = std::move(conditions);
}

}  // namespace

std::string age(std::int64_t seconds) {
    constexpr std::int64_t minute = 60;
    constexpr std::int64_t hour = 60 * minute;
    constexpr std::int64_t day = 24 * hour;
    constexpr std::int64_t year = 365 * day;
    const auto with_rest = [&](std::int64_t unit, char name, std::int64_t part, char part_name) {
        const std::int64_t rest = seconds % unit / part;
        if (rest == 0) { return fmt::format("{}{}", seconds / unit, name); }
        return fmt::format("{}{}{}{}", seconds / unit, name, rest, part_name);
    };
    if (seconds < -1) { return "<invalid>"; }
    if (seconds < 0) { return "0s"; }
    if (seconds < 2 * minute) { return fmt::format("{}s", seconds); }
    if (seconds < 10 * minute) { return with_rest(minute, 'm', 1, 's'); }
    if (seconds < 3 * hour) { return fmt::format("{}m", seconds / minute); }
    if (seconds < 8 * hour) { return with_rest(hour, 'h', minute, 'm'); }
    if (seconds < 2 * day) { return fmt::format("{}h", seconds / hour); }
    if (seconds < 8 * day) { return with_rest(day, 'd', hour, 'h'); }
    if (seconds < 2 * year) { return fmt::format("{}d", seconds / day); }
    if (seconds < 8 * year) { return with_rest(year, 'y', day, 'd'); }
    return fmt::format("{}y", seconds / year);
}

json::object table_of(std::string_view group, std::string_view kind,
                      std::span<const json::object* const> objects, const json::array* columns,
                      RowObject row_object, std::int64_t now) {
    static const json::array plain_columns{json::object{
        {"name", "Age"}, {"type", "date"}, {"jsonPath", ".metadata.creationTimestamp"}}};
    const KindTable* table = columns == nullptr ? built_in_table(group, kind) : nullptr;
    if (columns == nullptr) { columns = volcano_columns(group, kind); }
    if (columns == nullptr || columns->empty()) { columns = &plain_columns; }

    json::array definitions;
    if (table == nullptr) {
        definitions = printed_columns(*columns);
    } else {
        for (const TableColumn& one : table->columns) {
            definitions.emplace_back(column_json(one.name, one.type, one.format, "", one.priority));
        }
    }
    json::array rows;
    rows.reserve(objects.size());
    for (const json::object* object : objects) {
        json::object row;
        row["cells"] =
            table == nullptr ? printed_cells(*object, *columns, now) : table->cells(*object, now);
        if (group.empty() && kind == "Pod") { note_completion(row, *object); }
        row["object"] = row_json(*object, row_object);
        rows.emplace_back(std::move(row));
    }
    return {{"kind", "Table"},
            {"apiVersion", "meta.k8s.io/v1"},
            {"metadata", json::object()},
            {"columnDefinitions", std::move(definitions)},
            {"rows", std::move(rows)}};
}

}  // namespace muster::lab
