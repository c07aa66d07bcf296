#include "codec/scenario_dealer.h"

#include <fmt/core.h>

#include <utility>

namespace muster::scenario {

Result<Dealer> Dealer::read(std::span<const Word> words, std::size_t names,
                            std::initializer_list<std::string_view> repeatable) {
    Dealer dealer;
    dealer.names_ = names;
    MUSTER_TRY(attributes, read_attributes(words, repeatable));
    dealer.attributes_ = std::move(attributes);
    for (const Attribute& attribute : dealer.attributes_) {
        MUSTER_TRY(values, expand_names(attribute.value, names));
        if (names % values.size() != 0) {
            return fail(
                Code::invalid,
                fmt::format("{}='{}': {} values for {} names; expected a divisor",
                            attribute.key.text, attribute.value.text, values.size(), names));
        }
        dealer.values_.push_back(std::move(values));
    }
    return dealer;
}

std::vector<Attribute> Dealer::of(std::size_t index) const {
    std::vector<Attribute> out = attributes_;
    for (std::size_t i = 0; i < out.size(); ++i) {
        if (out[i].value.find('[') == std::string::npos) { continue; }
        const std::string& value = values_[i][index * values_[i].size() / names_];
        out[i].value = {.text = value, .quoted = std::vector<bool>(value.size())};
    }
    return out;
}

}  // namespace muster::scenario
