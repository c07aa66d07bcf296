#include "codec/policy_text.h"

#include "codec/field.h"
#include "codec/json_writer.h"
#include "codec/limits.h"
#include "codec/scenario_values.h"
#include "model/limits.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster {

namespace {

constexpr std::int64_t weight_max = 1'000'000'000;

std::string read_model(const Field& field) {
    const std::string_view text = field.text();
    const bool is_printable =
        std::ranges::all_of(text, [](char c) { return c >= ' ' && c < '\x7f'; });
    if (text.empty() || text.size() > name_bytes_max || !is_printable) {
        field.expected(
            fmt::format("a GPU model of at most {} printable characters", name_bytes_max));
    }
    return std::string(text);
}

MixEntry read_entry(const Field& field) {
    MixEntry entry;
    if (!field.is_object()) {
        field.expected("a mapping with gpu, share, cpu, models, weight");
        return entry;
    }
    field.refuse_others({"gpu", "share", "cpu", "models", "weight"});
    const Field share = field["share"];
    if (share.is_present()) {
        entry.gpu_milli = static_cast<std::int32_t>(share.quantity_milli(gpu_milli_whole));
        if (entry.gpu_milli == 0) { share.expected("a part of a GPU over 0, at most 1"); }
    }
    entry.gpu_count = static_cast<std::int32_t>(
        field["gpu"].integer(0, static_cast<std::int64_t>(gpus_per_node_max), share.is_present()));
    entry.milli_cpu = field["cpu"].quantity_milli(milli_cpu_max);
    for (const Field& model : field["models"].items()) {
        entry.models.push_back(read_model(model));
    }
    entry.weight = field["weight"].integer(1, weight_max, 1);
    return entry;
}

}  // namespace

Result<Policy> read_policy(const SourceText& source) {
    MUSTER_TRY(documents, read_documents({&source, 1}));
    Policy policy;
    if (documents.all().empty()) { return policy; }
    if (documents.all().size() > 1) {
        return fail(Code::invalid, fmt::format("{}: found {} documents, expected one policy",
                                               source.name, documents.all().size()));
    }
    Faults faults;
    const Field root(documents.all().front(), faults);
    if (!root.is_object()) { root.expected("a mapping with mix"); }
    if (faults.is_empty()) {
        root.refuse_others({"mix"});
        const std::vector<Field> entries = root["mix"].items();
        if (entries.size() > mix_entries_max) {
            root["mix"].refuse(fmt::format("found {} entries, expected at most {}", entries.size(),
                                           mix_entries_max));
        } else {
            for (const Field& entry : entries) { policy.mix.push_back(read_entry(entry)); }
        }
    }
    if (!faults.is_empty()) { return tl::unexpected(faults.error()); }
    return policy;
}

std::string write_policy(const Policy& policy) {
    if (policy.mix.empty()) { return "mix: []\n"; }
    std::string out = "mix:\n";
    for (const MixEntry& entry : policy.mix) {
        out += fmt::format("- {{gpu: {}", entry.gpu_count);
        if (entry.gpu_milli != gpu_milli_whole) {
            out += fmt::format(", share: {}", scenario::write_milli(entry.gpu_milli));
        }
        if (entry.milli_cpu != 0) {
            out += fmt::format(", cpu: {}", scenario::write_milli(entry.milli_cpu));
        }
        if (!entry.models.empty()) {
            out += ", models: [";
            for (std::size_t i = 0; i < entry.models.size(); ++i) {
                out += (i == 0 ? "" : ", ") + json_text(entry.models[i]);
            }
            out += ']';
        }
        out += fmt::format(", weight: {}}}\n", entry.weight);
    }
    return out;
}

}  // namespace muster
