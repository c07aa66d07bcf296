// What Kubernetes takes as the name of a label, and how it words what it does not take.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster::lab {

/// "example.com/MyName": what is wrong with it; nothing when it is right.
std::vector<std::string> check_qualified_name(std::string_view name);
std::vector<std::string> check_label_value(std::string_view value);
/// One part of a DNS name, lower case.
std::vector<std::string> check_dns_label(std::string_view name);
/// A DNS subdomain as RFC 1123 has it, lower case.
std::vector<std::string> check_subdomain(std::string_view name);
/// A name of a port: 15 characters, lower case, one letter at least.
std::vector<std::string> check_port_name(std::string_view name);
/// A key of a config map or a secret.
std::vector<std::string> check_config_key(std::string_view key);

}  // namespace muster::lab
