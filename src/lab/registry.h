// Which resources are served right now: built-in ones, and those that stored
// CustomResourceDefinitions describe, with their schemas and columns.
#pragma once

#include "lab/api_error.h"
#include "lab/resources.h"
#include "lab/schema.h"

#include <boost/json/fwd.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::lab {

class Registry {
public:
    /// `schemas` outlive it.
    explicit Registry(const Schemas& schemas);
    ~Registry();

    [[nodiscard]] const ResourceType* find(std::string_view group, std::string_view version,
                                           std::string_view plural) const;
    /// By the storage's name and any version.
    [[nodiscard]] const ResourceType* stored(std::string_view storage) const;
    [[nodiscard]] const std::vector<ResourceType>& served() const { return served_; }
    [[nodiscard]] std::optional<Schema> schema(const ResourceType& type) const;
    /// additionalPrinterColumns; null when there are none.
    [[nodiscard]] const boost::json::array* columns(const ResourceType& type) const;
    /// Schemas of a group's custom kinds, by kind.
    [[nodiscard]] boost::json::object custom_schemas(std::string_view group,
                                                     std::string_view version) const;
    [[nodiscard]] const Schemas& schemas() const { return schemas_; }

    /// A definition that is new or changed, or that is gone.
    void define(std::string_view name, const boost::json::object& definition);
    void undefine(std::string_view name);

private:
    struct Definition;
    void rebuild();

    const Schemas& schemas_;
    std::vector<ResourceType> served_;
    std::map<std::string, std::unique_ptr<Definition>, std::less<>> definitions_;
};

/// What is wrong with a definition before it is stored.
std::vector<ApiCause> check_definition(const boost::json::object& definition);
/// acceptedNames and the conditions Established and NamesAccepted; the list names default.
void establish(boost::json::object& definition, std::string_view now);

}  // namespace muster::lab
