#include "kube/client.h"

#include "kube/objects.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <random>

namespace muster::kube {

namespace json = boost::json;

namespace {

constexpr std::int64_t wait_first = 100;        // milliseconds
constexpr std::int64_t wait_max = 10'000;       // after failures
constexpr std::int64_t wait_clean_max = 1'000;  // after streams that only ended
constexpr int list_limit = 500;
constexpr int refusals_max = 4;         // of a watch or a page, in a row
constexpr std::size_t depth_max = 256;  // schemas inside CustomResourceDefinitions nest deeply

Result<json::object> parse_object(std::string_view text, json::storage_ptr storage) {
    json::parse_options options;
    options.max_depth = depth_max;
    boost::system::error_code error;
    json::value value = json::parse(text, error, std::move(storage), options);
    if (error) { return fail(Code::corrupt, "answer is not JSON: " + error.message()); }
    json::object* object = value.if_object();
    if (object == nullptr) { return fail(Code::corrupt, "answer is no JSON object"); }
    return std::move(*object);
}

json::object without_owners(json::object object) {
    if (json::value* metadata = object.if_contains("metadata"); metadata && metadata->is_object()) {
        metadata->as_object().erase("managedFields");
    }
    return object;
}

std::string_view version_of(const json::object& object) {
    return text_at(object, "metadata.resourceVersion");
}
std::string_view version_of(const Extract& extract) { return extract.version; }
std::string_view uid_of(const json::object& object) { return kube::uid_of(object); }
std::string_view uid_of(const Extract& extract) { return extract.uid; }

Result<ListPage> read_page_into(std::string_view body, json::storage_ptr storage) {
    MUSTER_TRY(page, parse_object(body, std::move(storage)));
    if (array_at(page, "items") == nullptr) { return fail(Code::corrupt, "the answer is no list"); }
    // Items of a list leave out what its head says.
    std::string kind(text_at(page, "kind"));
    if (kind.ends_with("List")) { kind.resize(kind.size() - 4); }
    ListPage out{.objects = {},
                 .token = std::string(text_at(page, "metadata.continue")),
                 .version = std::string(text_at(page, "metadata.resourceVersion"))};
    for (json::value& item : page["items"].as_array()) {
        json::object* object = item.if_object();
        if (object == nullptr) { continue; }
        if (!object->contains("kind")) { (*object)["kind"] = kind; }
        if (!object->contains("apiVersion")) {
            (*object)["apiVersion"] = text_at(page, "apiVersion");
        }
        out.objects.push_back(std::move(*object));
    }
    return out;
}

}  // namespace

Result<ListPage> read_page(std::string_view body) { return read_page_into(body, {}); }

std::string escape_query(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                              (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' ||
                              c == '~' || c == ':';
        if (is_plain) {
            out += c;
        } else {
            out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        }
    }
    return out;
}

std::string path_of(const Resource& resource, std::string_view space, std::string_view name,
                    std::string_view rest) {
    std::string out = resource.group.empty()
                          ? "/api/" + resource.version
                          : fmt::format("/apis/{}/{}", resource.group, resource.version);
    if (!space.empty()) { out += "/namespaces/" + escape_query(space); }
    out += "/" + resource.plural;
    if (!name.empty()) { out += "/" + escape_query(name); }
    if (!rest.empty()) { out += fmt::format("/{}", rest); }
    return out;
}

namespace {

/// Where what the server sends is parsed into: objects that are kept stay there.
template <class T>
struct Storage {
    [[nodiscard]] json::storage_ptr pointer() { return {}; }
};
/// All at once and gone at once, which is much less work.
template <>
struct Storage<Extract> {
    json::monotonic_resource pool{std::size_t{64} << 10};

    [[nodiscard]] json::storage_ptr pointer() { return &pool; }
};

/// As the end of a query.
std::string selector_of(const Scope& scope) {
    std::string out;
    if (!scope.name.empty()) {
        out += "&fieldSelector=" + escape_query("metadata.name=" + scope.name);
    }
    if (!scope.labels.empty()) { out += "&labelSelector=" + escape_query(scope.labels); }
    return out;
}

/// What both informers do; T is what is kept of an object.
template <class T>
struct Follower : std::enable_shared_from_this<Follower<T>> {
    using Make = std::function<T(json::object)>;
    using Listener =
        std::function<void(Informer::Change, const ObjectName&, const T& now, const T* before)>;

    Follower(Transport& over, const Resource& resource, const Scope& scope, Make maker,
             Listener told)
        : transport(over),
          path(path_of(resource, scope.space)),
          selector(selector_of(scope)),
          make(std::move(maker)),
          listener(std::move(told)),
          random(std::random_device()()) {}

    void start() {
        if (!std::exchange(is_started, true)) { list(); }
    }
    void list();
    void on_page(Result<Answer> answer);
    void take(ListPage page);
    void replace_all();
    void watch();
    void on_line(std::string_view line);
    void on_event(std::string_view type, json::object object);
    [[nodiscard]] bool is_known(const ObjectName& name, const json::object& object) const;
    void on_end(const Result<Answer>& answer);
    void put(const ObjectName& name, T object);
    void drop(const ObjectName& name);
    void again(bool from_list, std::int64_t wait_most, std::int64_t wait_least = 0) {
        pause(failures++, from_list, wait_most, wait_least);
    }
    void pause(int failed, bool from_list, std::int64_t wait_most, std::int64_t wait_least);
    void note(const Result<Answer>& answer);

    Transport& transport;
    std::string path;      // of the collection
    std::string selector;  // in the query
    Make make;
    Listener listener;
    std::minstd_rand random;
    std::map<ObjectName, T> objects;
    std::map<ObjectName, std::optional<T>> listed;  // the pages so far; none: as it is known
    std::string token;                              // of the page to ask for; empty: the first
    std::string version;                            // the last one seen
    std::unique_ptr<Transport::Stream> stream;
    std::uint64_t turn = 0;  // callbacks of an earlier turn are not heard any more
    std::string problem;
    std::uint64_t pages = 0;
    int failures = 0;       // in a row, without a word from the server
    int page_failures = 0;  // the same, of a list without a page
    bool is_started = false;
    bool is_synced = false;
    bool has_heard = false;  // of an object, on this stream
};

/// Next turn after a wait that doubles and is spread, so that clients do not come back in step. A
/// stream is ended here and not in its own callback.
template <class T>
void Follower<T>::pause(int failed, bool from_list, std::int64_t wait_most,
                        std::int64_t wait_least) {
    const int doublings = std::min(failed, 16);
    const std::int64_t wait = std::min(wait_first << doublings, wait_most);
    const std::int64_t spread =
        wait_least + wait / 2 + static_cast<std::int64_t>(random()) % (wait - wait / 2 + 1);
    const std::uint64_t mine = ++turn;
    transport.after(spread, [weak = this->weak_from_this(), from_list, mine] {
        const auto self = weak.lock();
        if (!self || self->turn != mine) { return; }
        self->stream.reset();
        if (from_list) {
            self->list();
        } else {
            self->watch();
        }
    });
}

template <class T>
void Follower<T>::note(const Result<Answer>& answer) {
    problem = answer ? refusal_of(path, *answer) : answer.error().message;
}

template <class T>
void Follower<T>::list() {
    if (token.empty()) { listed.clear(); }
    Call call;
    call.target = fmt::format("{}?limit={}{}", path, list_limit, selector);
    if (!token.empty()) { call.target += "&continue=" + escape_query(token); }
    transport.call(std::move(call),
                   [weak = this->weak_from_this(), mine = turn](Result<Answer> answer) {
                       const auto self = weak.lock();
                       if (self && self->turn == mine) { self->on_page(std::move(answer)); }
                   });
}

/// A page that failed is asked for again; one that has expired (410), or fails again and again, is
/// of no use, and the list begins anew.
template <class T>
void Follower<T>::on_page(Result<Answer> answer) {
    const bool is_expired = answer && answer->status == 410;
    if (is_expired || page_failures >= refusals_max) { token.clear(); }
    if (!answer || !answer->is_ok()) {
        note(answer);
        return pause(page_failures++, true, wait_max, answer ? answer->retry_after_ms : 0);
    }
    Storage<T> storage;
    auto page = read_page_into(answer->body, storage.pointer());
    if (!page) {
        problem = page.error().message;
        return pause(page_failures++, true, wait_max, 0);
    }
    take(std::move(*page));
}

template <class T>
void Follower<T>::take(ListPage page) {
    for (json::object& object : page.objects) {
        ObjectName name = name_of(object);
        std::optional<T> made;
        if (!is_known(name, object)) { made = make(std::move(object)); }
        listed.insert_or_assign(std::move(name), std::move(made));
    }
    ++pages;
    page_failures = 0;
    token = std::move(page.token);
    if (!token.empty()) { return list(); }
    version = page.version;
    replace_all();
    is_synced = true;
    problem.clear();
    watch();
}

/// What changed while nobody watched is told as if it had been watched.
template <class T>
void Follower<T>::replace_all() {
    std::vector<ObjectName> gone;
    for (const auto& [name, object] : objects) {
        if (!listed.contains(name)) { gone.push_back(name); }
    }
    for (const ObjectName& name : gone) { drop(name); }
    auto fresh = std::move(listed);
    listed.clear();
    for (auto& [name, object] : fresh) {
        if (object) { put(name, std::move(*object)); }
    }
}

template <class T>
void Follower<T>::watch() {
    Call call;
    call.target =
        fmt::format("{}?watch=1&allowWatchBookmarks=true&resourceVersion={}&timeoutSeconds={}{}",
                    path, escape_query(version), 300 + random() % 300, selector);
    const std::uint64_t mine = ++turn;
    has_heard = false;
    const auto weak = this->weak_from_this();
    stream = transport.stream(
        std::move(call),
        [weak, mine](std::string_view line) {
            const auto self = weak.lock();
            if (self && self->turn == mine) { self->on_line(line); }
        },
        [weak, mine](const Result<Answer>& answer) {
            const auto self = weak.lock();
            if (self && self->turn == mine) { self->on_end(answer); }
        });
}

template <class T>
void Follower<T>::on_line(std::string_view line) {
    if (line.empty()) {  // it begins, and may have nothing to say for long
        problem.clear();
        return;
    }
    Storage<T> storage;
    auto event = parse_object(line, storage.pointer());
    const bool is_event = event && object_at(*event, "object") != nullptr;
    if (!is_event) { return again(true, wait_max); }  // something may have been lost
    const std::string type(text_at(*event, "type"));
    json::object object = std::move((*event)["object"].as_object());
    if (type == "ERROR") {
        const bool is_gone = int_at(object, "code") == 410;
        return again(is_gone || failures >= refusals_max, wait_max);
    }
    failures = 0;
    has_heard = has_heard || type != "BOOKMARK";
    problem.clear();
    on_event(type, std::move(object));
}

template <class T>
void Follower<T>::on_event(std::string_view type, json::object object) {
    const std::string_view seen = text_at(object, "metadata.resourceVersion");
    if (!seen.empty()) { version = seen; }
    const ObjectName name = name_of(object);
    if (type == "ADDED" || type == "MODIFIED") {
        if (!is_known(name, object)) { put(name, make(std::move(object))); }
    } else if (type == "DELETED") {
        drop(name);
    }
}

/// A stream that ended by itself goes on where it was, and at once when it had something to say: a
/// server under load ends those that are slow to read. 410 says that this is too long ago. What is
/// refused again and again is begun anew as well: a server whose store was put back to an older
/// state has not come as far yet, and says so by other codes.
template <class T>
void Follower<T>::on_end(const Result<Answer>& answer) {
    const int status = answer ? answer->status : 0;
    if (status != 200) { note(answer); }
    const bool is_stuck = status >= 400 && status != 429 && failures >= refusals_max;
    const std::int64_t wait_clean = has_heard ? 0 : wait_clean_max;
    again(status == 410 || is_stuck, status == 200 ? wait_clean : wait_max,
          answer ? answer->retry_after_ms : 0);
}

template <class T>
bool Follower<T>::is_known(const ObjectName& name, const json::object& object) const {
    const std::string_view now = version_of(object);
    const auto at = objects.find(name);
    return at != objects.end() && !now.empty() && version_of(at->second) == now &&
           uid_of(at->second) == uid_of(object);
}

template <class T>
void Follower<T>::put(const ObjectName& name, T object) {
    auto at = objects.find(name);
    if (at != objects.end() && uid_of(at->second) != uid_of(object)) {
        drop(name);  // another one of the same name
        at = objects.end();
    }
    if (at == objects.end()) {
        at = objects.emplace(name, std::move(object)).first;
        if (listener) { listener(Informer::Change::set, at->first, at->second, nullptr); }
        return;
    }
    std::swap(at->second, object);
    if (listener) { listener(Informer::Change::set, at->first, at->second, &object); }
}

template <class T>
void Follower<T>::drop(const ObjectName& name) {
    const auto taken = objects.extract(name);
    if (taken && listener) {
        listener(Informer::Change::gone, taken.key(), taken.mapped(), &taken.mapped());
    }
}

}  // namespace

struct Informer::Impl : Follower<json::object> {
    using Follower::Follower;
};

Informer::Informer(Transport& transport, const Resource& resource, Listener listener,
                   const Scope& scope)
    : impl_(std::make_shared<Impl>(transport, resource, scope, without_owners,
                                   std::move(listener))) {}

Informer::~Informer() { impl_->stream.reset(); }

void Informer::start() { impl_->start(); }
bool Informer::is_synced() const { return impl_->is_synced; }
const std::string& Informer::problem() const { return impl_->problem; }
const std::map<ObjectName, json::object>& Informer::objects() const { return impl_->objects; }

const json::object* Informer::find(const ObjectName& name) const {
    const auto at = impl_->objects.find(name);
    return at == impl_->objects.end() ? nullptr : &at->second;
}

struct ExtractInformer::Impl : Follower<Extract> {
    using Follower::Follower;
};

ExtractInformer::ExtractInformer(Transport& transport, const Resource& resource, Make make,
                                 Listener listener)
    : impl_(std::make_shared<Impl>(
          transport, resource, Scope{},
          [make = std::move(make)](const json::object& object) {
              Extract out = make(object);
              out.uid = kube::uid_of(object);
              out.version = text_at(object, "metadata.resourceVersion");
              return out;
          },
          std::move(listener))) {}

ExtractInformer::~ExtractInformer() { impl_->stream.reset(); }

void ExtractInformer::start() { impl_->start(); }
bool ExtractInformer::is_synced() const { return impl_->is_synced; }
std::uint64_t ExtractInformer::pages() const { return impl_->pages; }
const std::string& ExtractInformer::problem() const { return impl_->problem; }
const std::map<ObjectName, Extract>& ExtractInformer::objects() const { return impl_->objects; }

}  // namespace muster::kube
