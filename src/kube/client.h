// A client of a Kubernetes API: calls by callback, and caches that follow a resource by list and
// watch. Who answers is behind a Transport: a server over HTTP, or the lab in the same process. All
// runs in one event loop's thread.
#pragma once

#include "base/result.h"
#include "kube/group_members.h"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::kube {

struct Call {
    std::string method = "GET";
    std::string target;  // path and query
    std::string content_type = "application/json";
    std::string body;
};

struct Answer {
    int status = 0;
    std::string body;
    std::int64_t retry_after_ms = 0;  // the server asks to be left alone for so long

    [[nodiscard]] bool is_ok() const { return status >= 200 && status < 300; }
};

class Transport {
public:
    virtual ~Transport() = default;
    using Done = std::function<void(Result<Answer>)>;
    /// `done` is called once, later, from the loop.
    virtual void call(Call call, Done done) = 0;

    class Stream {
    public:
        virtual ~Stream() = default;  // ends it; nothing is called any more
    };
    /// `line` for each line of a 200 answer, and an empty one when it begins; `done` when it ends,
    /// or with any other answer.
    virtual std::unique_ptr<Stream> stream(Call call, std::function<void(std::string_view)> line,
                                           Done done) = 0;
    /// Once, so many milliseconds from now.
    virtual void after(std::int64_t milliseconds, std::function<void()> work) = 0;
};

/// As in URLs; the core group is "".
struct Resource {
    std::string group;
    std::string version;
    std::string plural;

    auto operator<=>(const Resource&) const = default;
};

/// "/apis/apps/v1/namespaces/team/deployments/web"; without a name the collection; `rest` is a
/// subresource ("status", "binding").
std::string path_of(const Resource& resource, std::string_view space, std::string_view name = "",
                    std::string_view rest = "");

/// For a query's value or a segment of a path.
std::string escape_query(std::string_view text);

/// A page of a list's answer. Items have apiVersion and kind.
struct ListPage {
    std::vector<boost::json::object> objects;
    std::string token;  // for the next page; empty on the last one
    std::string version;
};
Result<ListPage> read_page(std::string_view body);

/// (namespace, name)
using ObjectName = std::pair<std::string, std::string>;

/// Empty: of all namespaces, of all names, with any labels.
struct Scope {
    std::string space;
    std::string name;
    std::string labels;  // a selector
};

/// Follows one resource in all namespaces, or what a scope names: lists, watches, resumes, lists
/// again after a gap. What it holds is what the server had at some moment; a later one replaces it.
/// Two things differ from what was sent: metadata.managedFields is left out, and items of lists
/// have apiVersion and kind. It is not destroyed by its own listener.
class Informer {
public:
    enum class Change : std::uint8_t { set, gone };
    /// `before` is null when it is new. References hold during the call.
    using Listener = std::function<void(Change, const ObjectName&, const boost::json::object& now,
                                        const boost::json::object* before)>;

    Informer(Transport& transport, const Resource& resource, Listener listener = {},
             const Scope& scope = {});
    ~Informer();
    Informer(const Informer&) = delete;
    Informer& operator=(const Informer&) = delete;

    void start();
    /// The first list has been read.
    [[nodiscard]] bool is_synced() const;
    /// Why it lists or watches not right now; empty when it does.
    [[nodiscard]] const std::string& problem() const;
    [[nodiscard]] const std::map<ObjectName, boost::json::object>& objects() const;
    [[nodiscard]] const boost::json::object* find(const ObjectName& name) const;

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

/// What a client makes of an object whose whole it has no use for.
struct Extract {
    std::string uid;
    std::string version;
    std::string text;
    std::shared_ptr<const std::string> shared;  // what follows the text, one for many objects
    std::string more;
    std::shared_ptr<const std::string> group;  // of a pod: Volcano's, if any
    Standing standing = Standing::waiting;     // in it

    bool operator==(const Extract&) const = default;
};

/// The same for hundreds of thousands of objects: keeps only what `make` makes of each.
class ExtractInformer {
public:
    /// Uid and version are filled in.
    using Make = std::function<Extract(const boost::json::object&)>;
    /// As Informer's.
    using Listener = std::function<void(Informer::Change, const ObjectName&, const Extract& now,
                                        const Extract* before)>;

    ExtractInformer(Transport& transport, const Resource& resource, Make make, Listener listener);
    ~ExtractInformer();
    ExtractInformer(const ExtractInformer&) = delete;
    ExtractInformer& operator=(const ExtractInformer&) = delete;

    void start();
    [[nodiscard]] bool is_synced() const;
    /// That were listed so far.
    [[nodiscard]] std::uint64_t pages() const;
    [[nodiscard]] const std::string& problem() const;
    [[nodiscard]] const std::map<ObjectName, Extract>& objects() const;

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace muster::kube
