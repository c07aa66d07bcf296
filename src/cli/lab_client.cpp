#include "cli/lab_client.h"

#include "base/text.h"
#include "codec/document.h"
#include "kube/http_transport.h"
#include "sim/file.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <cstdlib>
#include <vector>

namespace muster::cli {

namespace json = boost::json;
using kube::text_at;

namespace {

/// `part` of the only entry of `list`; an empty object when there is none.
json::object entry_of(const json::object& config, std::string_view list, std::string_view part) {
    const json::array* all = kube::array_at(config, list);
    const json::object* first = all && !all->empty() ? all->front().if_object() : nullptr;
    const json::object* found = first ? kube::object_at(*first, part) : nullptr;
    return found ? *found : json::object();
}

Result<std::string> file_of(const json::object& entry, std::string_view key) {
    const std::string_view name = text_at(entry, key);
    if (name.empty()) { return std::string(); }
    return sim::read_file(std::string(name));
}

}  // namespace

std::filesystem::path lab_folder(const std::string& given) {
    if (!given.empty()) { return std::filesystem::absolute(given); }
    const char* home = std::getenv("HOME");
    return std::filesystem::path(home == nullptr ? "." : home) / ".muster" / "lab";
}

Result<LabClient> LabClient::reach(const std::filesystem::path& kubeconfig) {
    MUSTER_TRY(text, sim::read_file(kubeconfig.string()));
    const std::vector<SourceText> sources{{kubeconfig.string(), std::move(text)}};
    MUSTER_TRY(documents, read_documents(sources));
    const json::object* config =
        documents.all().empty() ? nullptr : documents.all().front().root->if_object();
    const json::object cluster = config ? entry_of(*config, "clusters", "cluster") : json::object();
    const json::object user = config ? entry_of(*config, "users", "user") : json::object();
    const std::string_view url = text_at(cluster, "server");
    const std::size_t colon = url.rfind(':');
    const auto port =
        parse_int("port", colon == std::string_view::npos ? "" : url.substr(colon + 1), 1, 65'535);
    if (!port) {
        return fail(Code::invalid, fmt::format("{}: no server with a port", kubeconfig.string()));
    }
    kube::ServerAddress address;
    address.http.port = static_cast<std::uint16_t>(*port);
    address.http.is_tls = url.starts_with("https:");
    address.token = text_at(user, "token");
    MUSTER_TRY(authority, file_of(cluster, "certificate-authority"));
    MUSTER_TRY(certificate, file_of(user, "client-certificate"));
    MUSTER_TRY(key, file_of(user, "client-key"));
    address.http.authority = std::move(authority);
    address.http.certificate = std::move(certificate);
    address.http.key = std::move(key);
    LabClient out;
    out.loop_ = std::make_unique<net::EventLoop>();
    out.transport_ = kube::connect_http(*out.loop_, std::move(address));
    out.hand_ = std::make_unique<lab::LabHand>(
        *out.transport_, [loop = out.loop_.get()](std::int64_t wait) { loop->run_for(wait); });
    return out;
}

}  // namespace muster::cli
