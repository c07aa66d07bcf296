#include "ledger/store_memory.h"

#include <fmt/core.h>

#include <algorithm>

namespace muster {

namespace {

class MemoryStore : public Store {
public:
    explicit MemoryStore(MemoryLog& log) : Store("ledger in memory"), log_(log) {}

    Result<Extent> extent() override { return ends(); }

    Result<> append(const Entry& entry, std::uint64_t expected_epoch) override {
        const Header last = ends().last;
        if (last.epoch != expected_epoch || last.sequence + 1 != entry.header.sequence) {
            return tl::unexpected(fenced(*this, last, entry.header.sequence, expected_epoch));
        }
        log_.entries.push_back(entry);
        return {};
    }

    Result<std::vector<Entry>> read(std::uint64_t from, std::size_t bytes_max) override {
        std::vector<Entry> out;
        std::size_t bytes = 0;
        for (std::size_t i = index_of(from); i < log_.entries.size(); ++i) {
            const Entry& entry = log_.entries[i];
            bytes += entry.payload.size();
            if (!out.empty() && bytes > bytes_max) { break; }
            out.push_back(entry);
        }
        return out;
    }

    Result<std::optional<Header>> header(std::uint64_t sequence) override {
        const std::size_t index = index_of(sequence);
        if (sequence <= log_.anchor.sequence || index >= log_.entries.size()) {
            return std::optional<Header>{};
        }
        return std::optional(log_.entries[index].header);
    }

    Result<std::optional<Header>> last_snapshot(std::uint64_t before) override {
        for (std::size_t i = std::min(index_of(before), log_.entries.size()); i-- > 0;) {
            const Header& header = log_.entries[i].header;
            if (header.kind == RecordKind::snapshot) { return std::optional(header); }
        }
        return std::optional<Header>{};
    }

    Result<std::uint64_t> drop_before(std::uint64_t first, std::uint64_t expected_epoch) override {
        const Header last = ends().last;
        if (last.epoch != expected_epoch) {
            return tl::unexpected(fenced(*this, last, last.sequence + 1, expected_epoch));
        }
        const std::size_t count = std::min(index_of(first), log_.entries.size());
        if (count == 0) { return 0; }
        const Header& dropped = log_.entries[count - 1].header;
        log_.anchor = {.sequence = dropped.sequence, .hash = dropped.hash};
        log_.entries.erase(log_.entries.begin(),
                           log_.entries.begin() + static_cast<std::ptrdiff_t>(count));
        return count;
    }

    Result<> check() override { return {}; }

private:
    [[nodiscard]] Extent ends() const {
        return {.anchor = log_.anchor,
                .last = log_.entries.empty() ? log_.anchor : log_.entries.back().header};
    }

    [[nodiscard]] std::size_t index_of(std::uint64_t sequence) const {
        return sequence <= log_.anchor.sequence
                   ? 0
                   : static_cast<std::size_t>(sequence - log_.anchor.sequence - 1);
    }

    MemoryLog& log_;
};

}  // namespace

Error fenced(const Store& store, const Header& last, std::uint64_t sequence, std::uint64_t epoch) {
    if (last.epoch != epoch) {
        return {Code::conflict,
                fmt::format("{}: led with epoch {}, not {}: another leader has opened it",
                            store.name(), last.epoch, epoch)};
    }
    return {Code::conflict, fmt::format("{}: ends at entry {}; expected {}", store.name(),
                                        last.sequence, sequence - 1)};
}

std::unique_ptr<Store> open_memory_store(MemoryLog& log) {
    return std::make_unique<MemoryStore>(log);
}

}  // namespace muster
