// Interned strings: equal text, equal Symbol. Grows only; owned by the World.
#pragma once

#include "base/ids.h"

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace muster {

using Symbol = Id<struct SymbolTag>;

class Symbols {
public:
    Symbols() { intern(std::string_view("\0other", 6)); }

    /// Stands for text that was never interned; no label or name can have its text.
    [[nodiscard]] Symbol other() const { return Symbol(std::size_t{0}); }
    Symbol intern(std::string_view text) {
        if (const auto found = ids_.find(text); found != ids_.end()) { return found->second; }
        const Symbol id(texts_.size());
        texts_.emplace_back(text);
        ids_.emplace(texts_.back(), id);
        return id;
    }
    /// An invalid Symbol when the text was never seen.
    [[nodiscard]] Symbol find(std::string_view text) const {
        const auto found = ids_.find(text);
        return found == ids_.end() ? Symbol{} : found->second;
    }
    [[nodiscard]] const std::string& text(Symbol id) const { return texts_[id.value]; }

private:
    std::deque<std::string> texts_;  // stable addresses: the keys of ids_ look into it
    std::unordered_map<std::string_view, Symbol> ids_;
};

}  // namespace muster
