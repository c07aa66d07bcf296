// The values behind `key=` in scenario text: counts, quantities, lists, labels, and back to text.
#pragma once

#include "base/result.h"
#include "codec/words.h"
#include "model/node.h"
#include "model/resources.h"
#include "model/task.h"

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::scenario {

/// `key=value`; a key may have a bare `.` that the caller cuts at: `label.x=y`.
struct Attribute {
    Word key;
    Word value;

    [[nodiscard]] bool is(std::string_view name) const { return key.is(name); }
    /// `label.x` has the prefix `label`, and `x` behind it.
    [[nodiscard]] bool has_prefix(std::string_view prefix) const;
    [[nodiscard]] std::string behind(std::string_view prefix) const;
};

/// All words as attributes; a key twice is an error unless it is `repeatable`.
Result<std::vector<Attribute>> read_attributes(std::span<const Word> words,
                                               std::initializer_list<std::string_view> repeatable);

/// "unknown key 'x'; expected one of: …"
tl::unexpected<Error> unknown_key(const Attribute& attribute, std::string_view expected);

/// A new name that is known, or a name to replace that is not.
tl::unexpected<Error> name_is_wrong(std::string_view what, std::string_view name,
                                    bool is_replacing);

Result<std::int64_t> read_count(const Attribute& attribute, std::int64_t low, std::int64_t high);
Result<std::int64_t> read_cpu(const Attribute& attribute);     // milli-CPU
Result<std::int64_t> read_memory(const Attribute& attribute);  // bytes
/// Bytes of a whole fleet.
Result<std::int64_t> read_fleet_memory(const Attribute& attribute);
Result<std::int64_t> read_mib(const Attribute& attribute);  // "80Gi" → MiB, whole
Result<std::int64_t> read_milli(const Attribute& attribute, std::int64_t milli_max);
Result<std::int64_t> read_duration(std::string_view text);  // "30s" → milliseconds
Result<bool> read_flag(const Attribute& attribute);         // yes, no
Result<std::string> read_name(std::string_view what, const Word& word);
Result<std::vector<std::string>> read_names(std::string_view what, const Word& word);
Result<Taint> read_taint(const Word& word);                      // key[=value]:Effect
Result<Toleration> read_toleration(const Word& word);            // *, key, key=value, …:Effect
Result<std::vector<LabelMatch>> read_matches(const Word& word);  // a=b&c:in:d,e&f:exists

/// Sets the named one, or adds it.
void set_amount(std::vector<Amount>& amounts, std::string name, std::int64_t count);
void set_label(std::vector<Label>& labels, std::string key, std::string value);

std::string write_milli(std::int64_t milli);  // 1500 → 1500m, 2000 → 2
std::string write_bytes(std::int64_t bytes);  // 1073741824 → 1Gi
std::string write_names(std::span<const std::string> names);
std::string write_taint(const Taint& taint);
std::string write_toleration(const Toleration& toleration);
std::string write_matches(std::span<const LabelMatch> matches);

}  // namespace muster::scenario
