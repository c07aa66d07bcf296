// `lease l holder=slurm block=a:0-3:8:64Gi`, and each later step of it.
#include "codec/plan_names.h"
#include "codec/scenario_reader.h"
#include "codec/scenario_specs.h"
#include "model/limits.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace muster::scenario {

namespace {

constexpr std::int64_t epoch_max = INT64_MAX;
constexpr std::string_view lease_keys = "holder, state, epoch, notice, deadline, block";

/// `0-3,6` → bits.
Result<std::uint64_t> read_gpus(const Word& key, const Word& word) {
    std::uint64_t bits = 0;
    if (word.text.empty()) { return bits; }
    for (const Word& item : word.split(',')) {
        const std::size_t dash = item.find('-');
        const auto read = [&](const Word& number, std::int64_t low) {
            return read_count({key, number}, low, static_cast<std::int64_t>(gpus_per_node_max) - 1);
        };
        MUSTER_TRY(first, read(item.part(0, dash), 0));
        MUSTER_TRY(last, read(dash == std::string::npos ? item : item.part(dash + 1), first));
        for (std::int64_t i = first; i <= last; ++i) { bits |= std::uint64_t{1} << i; }
    }
    return bits;
}

std::string write_gpus(std::uint64_t bits) {
    std::string out;
    for (std::size_t first = 0; first < 64; ++first) {
        if ((bits >> first & 1) == 0) { continue; }
        std::size_t last = first;
        while (last + 1 < 64 && (bits >> (last + 1) & 1) != 0) { ++last; }
        if (!out.empty()) { out += ','; }
        out += first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
        first = last;
    }
    return out;
}

/// `a`, `a:0-3`, `a:0-3:8:64Gi`, `a::8`.
Result<LeaseBlock> read_block(const Attribute& attribute) {
    const std::vector<Word> parts = attribute.value.split(':');
    if (parts.size() > 4) {
        return fail(Code::invalid, fmt::format("block='{}'; expected NODE[:GPUS[:CPU[:MEM]]]",
                                               attribute.value.text));
    }
    LeaseBlock block;
    MUSTER_TRY(node, read_name("node of a block", parts[0]));
    block.node = node;
    if (parts.size() > 1) {
        MUSTER_TRY(gpus, read_gpus(attribute.key, parts[1]));
        block.gpus = gpus;
    }
    if (parts.size() > 2) {
        MUSTER_TRY(cpu, read_cpu({attribute.key, parts[2]}));
        block.milli_cpu = cpu;
    }
    if (parts.size() > 3) {
        MUSTER_TRY(memory, read_memory({attribute.key, parts[3]}));
        block.memory = memory;
    }
    return block;
}

Result<LeaseState> read_state(const Attribute& attribute) {
    const auto state = value_of<LeaseState>(attribute.value.text);
    if (!state) {
        return fail(Code::invalid,
                    fmt::format("state='{}'; expected one of: {}", attribute.value.text,
                                fmt::join(names_of<LeaseState>(), ", ")));
    }
    return *state;
}

Result<std::int64_t> read_notice(const Attribute& attribute) {
    MUSTER_TRY(milliseconds, read_duration(attribute.value.text));
    if (milliseconds % 1000 != 0 || milliseconds / 1000 > lease_notice_s_max) {
        return fail(Code::invalid, fmt::format("notice='{}'; expected whole seconds, at most {}s",
                                               attribute.value.text, lease_notice_s_max));
    }
    return milliseconds / 1000;
}

}  // namespace

Result<> change_lease(LeaseSpec& lease, std::span<const Attribute> attributes) {
    bool has_blocks = false;  // the first one replaces what was there
    for (const Attribute& attribute : attributes) {
        if (attribute.is("holder")) {
            lease.holder = attribute.value.text;
        } else if (attribute.is("state")) {
            MUSTER_TRY(state, read_state(attribute));
            lease.state = state;
        } else if (attribute.is("epoch")) {
            MUSTER_TRY(epoch, read_count(attribute, 0, epoch_max));
            lease.epoch = static_cast<std::uint64_t>(epoch);
        } else if (attribute.is("notice")) {
            MUSTER_TRY(notice, read_notice(attribute));
            lease.notice_s = notice;
        } else if (attribute.is("deadline")) {
            MUSTER_TRY(deadline, read_duration(attribute.value.text));
            lease.deadline = deadline;
        } else if (attribute.is("block")) {
            if (!std::exchange(has_blocks, true)) { lease.blocks.clear(); }
            if (attribute.value.is("none")) { continue; }
            MUSTER_TRY(block, read_block(attribute));
            lease.blocks.push_back(std::move(block));
        } else {
            return unknown_key(attribute, lease_keys);
        }
    }
    return {};
}

std::string write_lease(const LeaseSpec& lease) {
    std::string text;
    const auto out = std::back_inserter(text);
    fmt::format_to(out, " holder={} state={} epoch={} notice={}s deadline={}ms",
                   quote(lease.holder), name_of(lease.state), lease.epoch, lease.notice_s,
                   lease.deadline);
    for (const LeaseBlock& block : lease.blocks) {
        fmt::format_to(out, " block={}:{}:{}:{}", quote(block.node), write_gpus(block.gpus),
                       write_milli(block.milli_cpu), write_bytes(block.memory));
    }
    if (lease.blocks.empty()) { text += " block=none"; }
    return text;
}

/// A new lease is offered with epoch 1; a known one goes on with the next epoch, and what is not
/// named stays. One that was returned is new again.
Result<> Reader::read_lease(Words words) {
    if (words.empty()) { return fail(Code::invalid, "'lease' without a name"); }
    MUSTER_TRY(name, read_name("lease", words[0]));
    LeaseSpec& known = leases_[name];
    LeaseSpec lease = known;
    lease.name = name;
    lease.epoch = known.epoch < static_cast<std::uint64_t>(epoch_max) ? known.epoch + 1 : 0;
    MUSTER_TRY(attributes, read_attributes(words.subspan(1), {"block"}));
    MUSTER_CHECK(change_lease(lease, attributes));
    known = lease.state == LeaseState::returned ? LeaseSpec{} : lease;
    add(Fact(LeaseSet{std::move(lease)}));
    return {};
}

}  // namespace muster::scenario
