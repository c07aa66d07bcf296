// Gavel's table: {"v100": {"('ResNet-18 (batch size 16)', 2)": {"null": 32.3, …}, …}, …}; what
// stands beside "null" is the speed when two jobs share.
#include "base/text.h"
#include "codec/document.h"
#include "dialect/gavel.h"
#include "dialect/job_trace.h"

#include <boost/json.hpp>
#include <fmt/core.h>

namespace muster::dialect {

namespace {

/// "('A3C', 2)" → A3C, 2
Result<std::pair<std::string, std::int64_t>> read_key(std::string_view key) {
    constexpr std::string_view opening = "('";
    constexpr std::string_view middle = "', ";
    const std::size_t end = key.rfind(middle);
    const bool is_formed = key.starts_with(opening) && key.ends_with(')') &&
                           end != std::string_view::npos && end >= opening.size();
    const auto gpus =
        is_formed ? parse_int(key.substr(end + middle.size(), key.size() - end - middle.size() - 1))
                  : fail(Code::invalid, "");
    if (!gpus || *gpus < 1 || *gpus > job_size_max) {
        return fail(Code::invalid, fmt::format("found '{:.60}'; expected ('job type', GPUs)", key));
    }
    return std::pair(std::string(key.substr(opening.size(), end - opening.size())), *gpus);
}

}  // namespace

Result<GavelSpeeds> read_gavel_speeds(std::string_view file, std::string_view text,
                                      std::string_view gpu) {
    const SourceText source{.name = std::string(file), .text = std::string(text)};
    MUSTER_TRY(documents, read_documents({&source, 1}));
    if (documents.all().size() != 1) {
        return fail(Code::invalid, fmt::format("{}: found {} documents; expected one", file,
                                               documents.all().size()));
    }
    const auto* root = documents.all().front().root->if_object();
    const auto* table = root == nullptr ? nullptr : root->if_contains(gpu);
    if (table == nullptr || !table->is_object()) {
        return fail(Code::not_found,
                    fmt::format("{}: found no GPU type '{:.40}'; expected an object by that name",
                                file, gpu));
    }
    GavelSpeeds speeds;
    for (const auto& member : table->get_object()) {
        auto key = read_key(member.key());
        if (!key) { return tl::unexpected(std::move(key).error().wrap(file)); }
        const auto* entry = member.value().if_object();
        const auto* alone = entry == nullptr ? nullptr : entry->if_contains("null");
        if (alone == nullptr || !alone->is_number()) {
            return fail(Code::invalid, fmt::format("{}: {}.{}: expected a number under 'null'",
                                                   file, gpu, std::string_view(member.key())));
        }
        speeds.emplace(std::move(*key), alone->to_number<double>());
    }
    return speeds;
}

}  // namespace muster::dialect
