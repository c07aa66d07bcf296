// Any bytes as a document and a patch, a line each: no crash, no overflow, no long work, and what
// the patches promise.
#include "lab/patch.h"

#include "base/assert.h"
#include "lab/values.h"

#include <boost/json.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

namespace json = boost::json;

const json::value& schema_of_everything() {
    static const json::value schema = json::parse(R"({"type":"object","properties":{
        "p":{"type":"array","items":{"type":"string"},"x-kubernetes-patch-strategy":"merge"},
        "l":{"type":"array","x-kubernetes-patch-strategy":"merge","x-kubernetes-patch-merge-key":"k",
          "x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],
          "items":{"type":"object","properties":{"k":{"type":"integer","format":"int32"},
            "s":{"type":"string","pattern":"^(a+)+$","default":"a","maxLength":9},
            "p":{"type":"array","items":{},"x-kubernetes-patch-strategy":"merge"}}}},
        "m":{"type":"object","additionalProperties":{"type":"number","minimum":1}},
        "r":{"type":"object","x-kubernetes-patch-strategy":"replace"}}})");
    return schema;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) { return 0; }
    json::parse_options options;
    options.max_depth = 64;
    boost::system::error_code wrong;
    const json::value document = json::parse(text.substr(0, end), wrong, {}, options);
    if (wrong) { return 0; }
    const json::value patch = json::parse(text.substr(end + 1), wrong, {}, options);
    if (wrong) { return 0; }

    if (const auto patched = muster::lab::json_patch(document, patch)) {
        MUSTER_ASSERT(muster::lab::is_within(*patched, muster::lab::levels_max));
    }

    const json::value merged = muster::lab::merge_patch(document, patch);
    MUSTER_ASSERT(muster::lab::merge_patch(merged, patch) == merged);

    const muster::lab::Schema schema(schema_of_everything(), nullptr);
    if (auto patched = muster::lab::strategic_patch(document, patch, schema)) {
        MUSTER_ASSERT(patched->is_object());
        muster::lab::prune(*patched, schema);
        muster::lab::fill_defaults(*patched, schema);
        for (const auto& fault : muster::lab::check(*patched, schema)) {
            MUSTER_ASSERT(fault.kind != muster::lab::FieldFault::Kind::unknown);
        }
    }
    return 0;
}
