// Typed reading of a document. A Field is one value, or the absence of one, and knows where it
// stands. A wrong type or range is recorded in the Faults and a harmless value is read instead, so
// that readers are plain lists of fields; whoever asked for the document checks the Faults once.
#pragma once

#include "codec/document.h"

#include <boost/json/fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster {

struct Fault {
    Place place;
    std::string text;  // `found "six", expected a whole number ≥ 0`
};

class Faults {
public:
    void add(Place place, std::string text);
    [[nodiscard]] bool is_empty() const { return all_.empty(); }
    [[nodiscard]] const std::vector<Fault>& all() const { return all_; }
    /// The first one as an error; only when there is one.
    [[nodiscard]] Error error() const;

private:
    std::vector<Fault> all_;
};

class Field {
public:
    /// The whole document. Both outlive the fields.
    Field(const Document& document, Faults& faults);

    /// A null counts as absent, as it does for Kubernetes.
    [[nodiscard]] bool is_present() const { return value_ != nullptr; }
    [[nodiscard]] bool is_object() const;
    [[nodiscard]] bool is_list() const;
    [[nodiscard]] bool is_text() const;

    /// Member of an object; absent when it or the object is.
    Field operator[](std::string_view key) const;
    [[nodiscard]] std::vector<Field> items() const;
    [[nodiscard]] std::vector<std::pair<std::string_view, Field>> members() const;

    [[nodiscard]] std::string_view text(std::string_view otherwise = {}) const;
    /// Present, not empty, printable, without blanks, at most name_bytes_max.
    [[nodiscard]] std::string_view name() const;
    [[nodiscard]] bool boolean(bool otherwise = false) const;
    [[nodiscard]] std::int64_t integer(std::int64_t low, std::int64_t high,
                                       std::int64_t otherwise = 0) const;
    /// Kubernetes quantities, as text or number: "500m", 2, 1.5, "16Gi"; 0 … high in the result's
    /// unit.
    [[nodiscard]] std::int64_t quantity(std::int64_t high) const;
    [[nodiscard]] std::int64_t quantity_milli(std::int64_t high) const;

    /// Refuses every member of the object with another key.
    void refuse_others(std::initializer_list<std::string_view> known) const;

    [[nodiscard]] Place place() const;
    /// Records `text` here.
    void refuse(std::string text) const;
    /// Records `found …, expected …`.
    void expected(std::string_view what) const;
    [[nodiscard]] const Document& document() const { return *document_; }
    [[nodiscard]] Faults& faults() const { return *faults_; }

private:
    Field(const Field& parent, const boost::json::value* value);
    std::int64_t any_quantity(std::int64_t high, bool is_milli) const;

    const Document* document_;
    Faults* faults_;
    const boost::json::value* value_ = nullptr;
    const boost::json::value* parent_ = nullptr;  // of an absent field, the nearest that is there
    std::string missing_;                         // and the way on from it
};

}  // namespace muster
