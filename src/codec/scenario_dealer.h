// `node n[1-4] rack=r[1-2]`: one line that stands for many.
#pragma once

#include "codec/scenario_values.h"

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::scenario {

/// What every name of a range gets: a value with a range is dealt in equal runs.
class Dealer {
public:
    static Result<Dealer> read(std::span<const Word> words, std::size_t names,
                               std::initializer_list<std::string_view> repeatable);

    /// The attributes of the name at `index`.
    [[nodiscard]] std::vector<Attribute> of(std::size_t index) const;

private:
    std::size_t names_ = 1;
    std::vector<Attribute> attributes_;
    std::vector<std::vector<std::string>> values_;
};

}  // namespace muster::scenario
