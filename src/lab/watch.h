// One client's view of what happens to a resource: the lines of a watch, drawn from the store's
// events when the client can take them, so that a slow one costs no memory and a lost one ends with
// 410, never with a gap.
#pragma once

#include "lab/api_ask.h"
#include "net/http.h"

#include <cstdint>
#include <memory>
#include <string>

namespace muster::lab {

struct WatchOptions {
    ResourceType type;
    std::string storage;
    std::string space;  // empty = all
    Wanted wanted;
    View view;
    std::string include;        // includeObject, for tables
    std::uint64_t from = 0;     // events behind this version
    bool with_initial = false;  // first what is there
    bool tells_end_of_initial = false;
    bool with_bookmarks = false;
    std::int64_t end_ms = 0;  // how long it lasts
};

std::unique_ptr<net::HttpBody> make_watch(Api& api, WatchOptions options);

}  // namespace muster::lab
