#include "lab/causes.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <iterator>

namespace muster::lab {

namespace json = boost::json;

void Causes::required(std::string field, std::string_view why) {
    all_.push_back(
        {.reason = "FieldValueRequired",
         .message = why.empty() ? "Required value" : fmt::format("Required value: {}", why),
         .field = std::move(field)});
}

void Causes::wrong(std::string field, const json::value& value, std::string_view why) {
    all_.push_back({.reason = "FieldValueInvalid",
                    .message = fmt::format("Invalid value: {}: {}", json::serialize(value), why),
                    .field = std::move(field)});
}

void Causes::wrong(const std::string& field, const json::value& value,
                   const std::vector<std::string>& reasons) {
    for (const std::string& reason : reasons) { wrong(field, value, reason); }
}

void Causes::unsupported(std::string field, const json::value& value,
                         std::span<const std::string_view> supported) {
    std::string all;
    for (const std::string_view one : supported) {
        all += fmt::format("{}\"{}\"", all.empty() ? "" : ", ", one);
    }
    all_.push_back({.reason = "FieldValueNotSupported",
                    .message = fmt::format("Unsupported value: {}: supported values: {}",
                                           json::serialize(value), all),
                    .field = std::move(field)});
}

void Causes::forbidden(std::string field, std::string_view why) {
    all_.push_back({.reason = "FieldValueForbidden",
                    .message = fmt::format("Forbidden: {}", why),
                    .field = std::move(field)});
}

void Causes::duplicate(std::string field, const json::value& value) {
    all_.push_back({.reason = "FieldValueDuplicate",
                    .message = fmt::format("Duplicate value: {}", json::serialize(value)),
                    .field = std::move(field)});
}

void Causes::not_found(std::string field, const json::value& value, std::string_view why) {
    all_.push_back({.reason = "FieldValueNotFound",
                    .message = fmt::format("Not found: {}{}{}", json::serialize(value),
                                           why.empty() ? "" : ": ", why),
                    .field = std::move(field)});
}

void Causes::too_long(std::string field, std::size_t bytes_max) {
    all_.push_back({.reason = "FieldValueTooLong",
                    .message = fmt::format("Too long: may not be more than {} bytes", bytes_max),
                    .field = std::move(field)});
}

void Causes::add(std::vector<ApiCause> more) {
    std::move(more.begin(), more.end(), std::back_inserter(all_));
}

}  // namespace muster::lab
