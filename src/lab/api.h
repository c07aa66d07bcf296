// The embedded API: requests of the Kubernetes API in, answers out. It is a function of what is
// stored, the clock and the request, so that it runs as well behind a socket as inside of a test.
// One thread.
#pragma once

#include "kube/client.h"
#include "lab/api_error.h"
#include "lab/kind_rules.h"
#include "lab/object_store.h"
#include "lab/owner_memo.h"
#include "lab/quota_book.h"
#include "lab/registry.h"
#include "lab/request_path.h"
#include "lab/watch_lines.h"
#include "net/http.h"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::lab {

struct ApiOptions {
    std::string kubernetes = "1.37.2";  // whose schemas and version it tells
    std::string token;  // whoever brings it is an administrator; empty = everybody is
    std::function<std::int64_t()> now;    // ms since the epoch
    std::function<std::uint32_t()> dice;  // for uids and generated names
    /// Once, so many milliseconds from now; watches end by it.
    std::function<void(std::int64_t, std::function<void()>)> after;
    /// Without, nobody says what a quota has, so that it bounds nothing, as where no controllers
    /// run.
    bool counts_quotas = true;
};

class Api {
public:
    /// `schemas` outlive it. Makes what every cluster has: its namespaces and priority classes.
    static Result<std::unique_ptr<Api>> open(ObjectStore store, const Schemas& schemas,
                                             ApiOptions options);
    ~Api();

    net::HttpResponse handle(const net::HttpRequest& request);
    /// The same from within, as the client of that name.
    net::HttpResponse handle(kube::Call call, std::string_view client);

    [[nodiscard]] const ObjectStore& store() const { return store_; }
    [[nodiscard]] const Registry& registry() const { return registry_; }
    [[nodiscard]] const ApiOptions& options() const { return options_; }

    /// What `work` makes is one write to the disk, and nobody owns its fields: as of objects that
    /// were there before a server kept account. As with write_together, a failure is the end.
    Result<> load(const std::function<Result<>()>& work);

    /// Whatever it waits for: a namespace in which nothing is left.
    Outcome<> erase(const ResourceType& type, const Key& key);
    ObjectStore& store() { return store_; }
    WatchLines& watch_lines() { return watch_lines_; }

private:
    struct Ask;  // one request, taken apart

    Api(ObjectStore store, const Schemas& schemas, ApiOptions options);

    net::HttpResponse route(const net::HttpRequest& request);
    net::HttpResponse discover(const net::HttpRequest& request, const RequestPath& path);
    Outcome<net::HttpResponse> resource(Ask& ask);
    Outcome<net::HttpResponse> subresource(Ask& ask);

    // api_read.cpp
    Outcome<net::HttpResponse> get(Ask& ask);
    Outcome<> check_version(std::string_view text) const;
    Outcome<net::HttpResponse> list(Ask& ask);
    Outcome<net::HttpResponse> watch(Ask& ask);
    // api_write.cpp
    Outcome<net::HttpResponse> create(Ask& ask);
    Outcome<net::HttpResponse> update(Ask& ask);
    Outcome<net::HttpResponse> remove(Ask& ask);
    Outcome<net::HttpResponse> remove_collection(Ask& ask);
    // api_patch.cpp
    Outcome<net::HttpResponse> patch(Ask& ask);
    Outcome<net::HttpResponse> apply(Ask& ask);
    // api_subresources.cpp
    Outcome<boost::json::value> scale_sent(Ask& ask, const boost::json::object& before);
    Outcome<net::HttpResponse> scale(Ask& ask);
    Outcome<net::HttpResponse> finalize(Ask& ask);
    Outcome<net::HttpResponse> bind(Ask& ask);
    Outcome<net::HttpResponse> evict(Ask& ask);
    Outcome<net::HttpResponse> log(Ask& ask);
    Outcome<net::HttpResponse> review(Ask& ask);
    // api_exec.cpp
    Outcome<net::HttpResponse> exec(Ask& ask);

    /// The body as an object of the request's kind; faults by fieldValidation.
    Outcome<boost::json::object> read_body(Ask& ask);
    Outcome<> check_kind_of(const Ask& ask, std::string_view api_version,
                            std::string_view kind) const;
    Outcome<> check_fields(Ask& ask, boost::json::object& object);
    Outcome<boost::json::object> find(const Ask& ask) const;
    /// Checks, keeps what may not change, counts generations, and writes unless it is a dry run.
    Outcome<boost::json::object> store_new(Ask& ask, boost::json::object object);
    Outcome<boost::json::object> store_changed(Ask& ask, boost::json::object now,
                                               const boost::json::object& before);
    void note_owner(const Ask& ask, boost::json::object& now, const boost::json::object* before);
    /// What the plug-ins LimitRanger and ResourceQuota do, and who a pod is.
    void fill_admitted(const Ask& ask, boost::json::object& object) const;
    Outcome<> admit(const Ask& ask, const boost::json::object& object) const;
    Outcome<> settle_main(const Ask& ask, boost::json::object& now,
                          const boost::json::object& before);
    Outcome<boost::json::object> begin_end(Ask& ask, boost::json::object object,
                                           const boost::json::object& options);
    Outcome<> written(const Result<Stored>& done);
    [[nodiscard]] std::string new_uid() const;
    [[nodiscard]] std::string random_suffix() const;

    ObjectStore store_;
    Registry registry_;
    ApiOptions options_;
    OwnerMemo owners_;
    WatchLines watch_lines_;
    std::optional<QuotaBook> quotas_;
    bool is_loading_ = false;
};

}  // namespace muster::lab
