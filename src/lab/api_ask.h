// One request, taken apart; shared by the files of Api and by nobody else.
#pragma once

#include "lab/api.h"
#include "lab/selector.h"

#include <boost/json/fwd.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::lab {

struct Api::Ask {
    const net::HttpRequest& request;
    const RequestPath& path;
    ResourcePath at;
    const ResourceType* type = nullptr;
    std::string storage;
    std::vector<std::string> warnings;
    std::vector<std::string> duplicates;  // fields that the body has twice

    [[nodiscard]] Key key() const { return {at.space, at.name}; }
    [[nodiscard]] std::string_view query(std::string_view name) const {
        const auto found = path.query.find(name);
        return found == path.query.end() ? std::string_view() : std::string_view(found->second);
    }
    [[nodiscard]] bool is_asked(std::string_view name) const {
        const std::string_view value = query(name);
        return value == "true" || value == "1";
    }
    [[nodiscard]] bool is_dry() const { return query("dryRun") == "All"; }
    /// Server-side apply, which writes its owners itself.
    [[nodiscard]] bool is_apply() const {
        return request.header("Content-Type").starts_with("application/apply-patch");
    }
    /// Who writes: fieldManager, else the first word of the client's name.
    [[nodiscard]] std::string manager() const;
};

/// The options of a write in the query; `kind` is what they are called: "CreateOptions".
Outcome<> check_options(std::string_view kind, const RequestPath& path, bool is_apply = false);
/// Those of a list or a watch.
Outcome<> check_list_options(const RequestPath& path, bool is_watch);

/// One document, JSON or YAML; `is_strict` refuses keys that are there twice.
Outcome<boost::json::value> parse_body(const net::HttpRequest& request, bool is_strict);

/// What becomes of objects in an answer.
struct View {
    bool is_table = false;
    bool is_metadata = false;  // PartialObjectMetadata
    bool is_metadata_list = false;
    bool is_known = false;       // of a type that is served, in whatever form
    bool is_acceptable = false;  // and in a form that is
};
/// Refuses what can't be given: an unknown type, a list where there is one object.
Outcome<> check_view(const View& view, const ResourceType& type, bool is_list);
View view_of(std::string_view accept);

net::HttpResponse answer(int status, const boost::json::object& object);
net::HttpResponse answer_error(const ApiError& error);
/// One object as the client wants to see it.
net::HttpResponse answer_object(const Registry& registry, const ResourceType& type, int status,
                                const boost::json::object& object, const net::HttpRequest& request,
                                std::int64_t now);
/// The same without the HTTP around it: the object, a table, or its metadata.
boost::json::object seen_as(const Registry& registry, const ResourceType& type,
                            const boost::json::object& object, View view, std::string_view include,
                            std::int64_t now, bool with_columns = true);
boost::json::object table_seen(const Registry& registry, const ResourceType& type,
                               std::span<const boost::json::object* const> objects,
                               std::string_view include, std::int64_t now);
boost::json::object metadata_only(const boost::json::object& object);

/// The selectors of a list, a watch or a deletion of many.
struct Wanted {
    Selector labels;
    Selector fields;

    [[nodiscard]] bool is_all() const { return labels.empty() && fields.empty(); }
    [[nodiscard]] bool takes(const Key& key, const Stored& stored) const;
};
Outcome<Wanted> read_wanted(const ResourceType& type, std::string_view labels,
                            std::string_view fields);

}  // namespace muster::lab
