#include "sim/job_generate.h"

#include "base/assert.h"
#include "base/text.h"
#include "sim/dice.h"

#include <fmt/core.h>

#include <algorithm>

namespace muster::sim {

namespace {

struct Key {
    std::string_view name;
    std::int64_t JobGenerator::* field;
    std::int64_t low;
    std::int64_t high;
};
constexpr Key keys[] = {
    {"seed", &JobGenerator::seed, 0, INT64_MAX},
    {"jobs", &JobGenerator::jobs, 1, 1'000'000},
    {"load", &JobGenerator::load_percent, 1, 10'000},
    {"shortest", &JobGenerator::shortest_s, 1, 1'000'000},
    {"longest", &JobGenerator::longest_s, 1, 1'000'000'000},
    {"tail", &JobGenerator::tail_percent, 0, 99},
    {"request", &JobGenerator::request_percent_max, 100, 100'000},
    {"users", &JobGenerator::users, 1, 100'000},
    {"queues", &JobGenerator::queues, 1, 10'000},
    {"high", &JobGenerator::high_percent, 0, 100},
};
constexpr std::int64_t weight_max = 1'000'000;
constexpr std::size_t sizes_max = 1'000;

/// "1:70/8:30"
Result<std::vector<SizeShare>> parse_mix(std::string_view text) {
    std::vector<SizeShare> mix;
    for (const std::string_view part : split(text, '/')) {
        const auto halves = split(part, ':');
        if (halves.size() != 2 || mix.size() == sizes_max) {
            return fail(
                Code::invalid,
                fmt::format("found '{:.60}'; expected sizes and weights such as 1:70/8:30", text));
        }
        MUSTER_TRY(size, parse_int("size", halves[0], 1, dialect::job_size_max));
        MUSTER_TRY(weight, parse_int("weight", halves[1], 1, weight_max));
        mix.push_back({.size = size, .weight = weight});
    }
    return mix;
}

std::int64_t draw_size(Dice& dice, const JobGenerator& generator, std::int64_t weights) {
    std::int64_t at = dice.between(0, weights - 1);
    for (const SizeShare& share : generator.mix) {
        if (at < share.weight) { return share.size; }
        at -= share.weight;
    }
    return generator.mix.back().size;
}

std::int64_t draw_run_s(Dice& dice, const JobGenerator& generator) {
    std::int64_t octave = generator.shortest_s;
    while (octave < generator.longest_s && dice.chance(static_cast<int>(generator.tail_percent))) {
        octave *= 2;
    }
    return std::min(generator.longest_s, dice.between(octave, 2 * octave - 1));
}

}  // namespace

Result<JobGenerator> parse_generator(std::string_view text) {
    JobGenerator out;
    if (text.empty()) { return out; }
    for (const std::string_view part : split(text, ',')) {
        const std::size_t equals = part.find('=');
        const std::string_view name = part.substr(0, equals);
        const std::string_view value =
            equals == std::string_view::npos ? std::string_view{} : part.substr(equals + 1);
        if (name == "mix") {
            auto mix = parse_mix(value);
            if (!mix) { return tl::unexpected(std::move(mix).error().wrap("generate: mix")); }
            out.mix = std::move(*mix);
            continue;
        }
        const Key* key = std::ranges::find(keys, name, &Key::name);
        if (key == std::end(keys)) {
            return fail(Code::invalid,
                        fmt::format("generate: found '{:.40}'; expected one of jobs load mix seed "
                                    "shortest longest tail request users queues high",
                                    name));
        }
        auto number = parse_int(name, value, key->low, key->high);
        if (!number) { return tl::unexpected(std::move(number).error().wrap("generate")); }
        out.*(key->field) = *number;
    }
    return out;
}

JobTrace generate_jobs(const JobGenerator& generator, std::int64_t capacity) {
    MUSTER_ASSERT(capacity > 0);
    MUSTER_ASSERT(!generator.mix.empty());
    Dice dice(static_cast<std::uint64_t>(generator.seed));
    std::int64_t weights = 0;
    for (const SizeShare& share : generator.mix) { weights += share.weight; }

    JobTrace trace{.name = fmt::format("seed {}", generator.seed)};
    __extension__ unsigned __int128 work = 0;
    for (std::int64_t i = 0; i < generator.jobs; ++i) {
        Job job{.user = fmt::format("user{}", dice.between(1, generator.users)),
                .queue = fmt::format("queue{}", dice.between(1, generator.queues)),
                .priority_class =
                    dice.chance(static_cast<int>(generator.high_percent)) ? "high" : "normal",
                .run_s = draw_run_s(dice, generator),
                .size = draw_size(dice, generator, weights)};
        job.requested_s = job.run_s * dice.between(100, generator.request_percent_max) / 100;
        work += static_cast<std::uint64_t>(job.run_s) * static_cast<std::uint64_t>(job.size);
        trace.jobs.push_back(std::move(job));
    }
    const auto rate = static_cast<std::uint64_t>(capacity * generator.load_percent);
    const auto span = static_cast<std::int64_t>(
        std::clamp<unsigned __int128>(work * 100 / rate, 1, dialect::trace_seconds_max));
    std::vector<std::int64_t> arrivals;
    for (std::int64_t i = 0; i < generator.jobs; ++i) {
        arrivals.push_back(dice.between(0, span - 1));
    }
    std::ranges::sort(arrivals);
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
        trace.jobs[i].name = fmt::format("job{}", i + 1);
        trace.jobs[i].submit_s = arrivals[i];
    }
    return trace;
}

}  // namespace muster::sim
