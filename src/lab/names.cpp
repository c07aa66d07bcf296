#include "lab/names.h"

#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>

namespace muster::lab {

namespace {

constexpr std::size_t name_bytes_max = 63;
constexpr std::size_t subdomain_bytes_max = 253;

bool is_lower_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool is_alphanumeric(char c) { return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z'); }

bool is_name(std::string_view text) {
    return !text.empty() && is_alphanumeric(text.front()) && is_alphanumeric(text.back()) &&
           std::ranges::all_of(
               text, [](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

bool is_dns_part(std::string_view text) {
    return !text.empty() && is_lower_or_digit(text.front()) && is_lower_or_digit(text.back()) &&
           std::ranges::all_of(text, [](char c) { return is_lower_or_digit(c) || c == '-'; });
}

std::string too_long(std::size_t most) {
    return fmt::format("must be no more than {} bytes", most);
}

constexpr std::string_view name_rule =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

}  // namespace

std::vector<std::string> check_dns_label(std::string_view name) {
    std::vector<std::string> out;
    if (name.size() > name_bytes_max) { out.push_back(too_long(name_bytes_max)); }
    if (!is_dns_part(name)) {
        out.emplace_back(
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
            "and must start and end with an alphanumeric character (e.g. 'my-name',  or "
            "'123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')");
    }
    return out;
}

std::vector<std::string> check_subdomain(std::string_view name) {
    std::vector<std::string> out;
    if (name.size() > subdomain_bytes_max) { out.push_back(too_long(subdomain_bytes_max)); }
    if (!std::ranges::all_of(split(name, '.'), is_dns_part)) {
        out.emplace_back(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, "
            "'-' or '.', and must start and end with an alphanumeric character (e.g. "
            "'example.com', regex used for validation is "
            "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')");
    }
    return out;
}

std::vector<std::string> check_qualified_name(std::string_view text) {
    std::vector<std::string> out;
    const std::vector<std::string_view> parts = split(text, '/');
    if (parts.size() > 2) {
        return {
            fmt::format("a qualified name {} with an optional DNS subdomain prefix and '/' "
                        "(e.g. 'example.com/MyName')",
                        name_rule)};
    }
    if (parts.size() == 2 && parts[0].empty()) {
        out.emplace_back("prefix part must be non-empty");
    } else if (parts.size() == 2) {
        for (const std::string& wrong : check_subdomain(parts[0])) {
            out.push_back("prefix part " + wrong);
        }
    }
    const std::string_view name = parts.back();
    if (name.empty()) {
        out.emplace_back("name part must be non-empty");
    } else if (name.size() > name_bytes_max) {
        out.push_back("name part " + too_long(name_bytes_max));
    }
    if (!is_name(name)) { out.push_back(fmt::format("name part {}", name_rule)); }
    return out;
}

std::vector<std::string> check_label_value(std::string_view value) {
    std::vector<std::string> out;
    if (value.size() > name_bytes_max) { out.push_back(too_long(name_bytes_max)); }
    if (!value.empty() && !is_name(value)) {
        out.emplace_back(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' "
            "or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "
            "'my_value',  or '12345', regex used for validation is "
            "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')");
    }
    return out;
}

std::vector<std::string> check_port_name(std::string_view name) {
    constexpr std::size_t port_name_max = 15;
    std::vector<std::string> out;
    if (name.size() > port_name_max) {
        out.push_back(fmt::format("must be no more than {} characters", port_name_max));
    }
    const bool has_only =
        std::ranges::all_of(name, [](char c) { return is_lower_or_digit(c) || c == '-'; });
    if (!has_only) {
        out.emplace_back("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
    }
    if (std::ranges::none_of(
            name, [](char c) { return is_alphanumeric(c) && !(c >= '0' && c <= '9'); })) {
        out.emplace_back("must contain at least one letter (a-z)");
    }
    if (name.find("--") != std::string_view::npos) {
        out.emplace_back("must not contain consecutive hyphens");
    }
    if (name.starts_with('-') || name.ends_with('-')) {
        out.emplace_back("must not begin or end with a hyphen");
    }
    return out;
}

std::vector<std::string> check_config_key(std::string_view key) {
    std::vector<std::string> out;
    if (key.size() > subdomain_bytes_max) { out.push_back(too_long(subdomain_bytes_max)); }
    const bool is_right = !key.empty() && std::ranges::all_of(key, [](char c) {
        return is_alphanumeric(c) || c == '-' || c == '_' || c == '.';
    });
    if (!is_right) {
        out.emplace_back(
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
            "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
            "'[-._a-zA-Z0-9]+')");
    } else if (key == "." || key == ".." || key.starts_with("..")) {
        out.push_back(key == "." || key == ".." ? fmt::format("must not be '{}'", key)
                                                : std::string("must not start with '..'"));
    }
    return out;
}

}  // namespace muster::lab
