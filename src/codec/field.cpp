#include "codec/field.h"

#include "base/assert.h"
#include "base/text.h"
#include "codec/limits.h"
#include "model/limits.h"

#include <boost/json.hpp>
#include <fmt/core.h>

#include <algorithm>

namespace muster {

namespace json = boost::json;

namespace {

std::string describe(const json::value* value) {
    constexpr std::size_t shown_max = 40;
    if (value == nullptr || value->is_null()) { return "nothing"; }
    if (value->is_object()) { return "a mapping"; }
    if (value->is_array()) { return "a list"; }
    if (value->is_bool()) { return value->get_bool() ? "true" : "false"; }
    if (value->is_double()) { return fmt::format("{}", value->get_double()); }
    if (value->is_int64()) { return fmt::format("{}", value->get_int64()); }
    if (value->is_uint64()) { return fmt::format("{}", value->get_uint64()); }
    std::string out = "\"";
    const json::string& text = value->get_string();
    for (std::size_t i = 0; i < std::min(text.size(), shown_max); ++i) {
        const char c = text[i];
        out += static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? '?' : c;
    }
    return out + (text.size() > shown_max ? "…\"" : "\"");
}

std::string_view view(const json::string& text) { return {text.data(), text.size()}; }

}  // namespace

void Faults::add(Place place, std::string text) {
    if (all_.size() < faults_max) { all_.push_back({std::move(place), std::move(text)}); }
}

Error Faults::error() const {
    MUSTER_ASSERT(!all_.empty());
    return {Code::invalid, fmt::format("{}: {}", all_.front().place.text(), all_.front().text)};
}

Field::Field(const Document& document, Faults& faults)
    : document_(&document),
      faults_(&faults),
      value_(document.root) {}

Field::Field(const Field& parent, const json::value* value)
    : document_(parent.document_),
      faults_(parent.faults_),
      value_(value) {}

bool Field::is_object() const { return value_ != nullptr && value_->is_object(); }
bool Field::is_list() const { return value_ != nullptr && value_->is_array(); }
bool Field::is_text() const { return value_ != nullptr && value_->is_string(); }

Field Field::operator[](std::string_view key) const {
    const json::value* member = nullptr;
    if (value_ != nullptr) {
        if (const json::object* object = value_->if_object()) {
            member = object->if_contains(json::string_view(key.data(), key.size()));
        } else {
            expected("a mapping");
        }
    }
    Field field(*this, member != nullptr && !member->is_null() ? member : nullptr);
    if (field.value_ == nullptr) {
        field.parent_ = value_ != nullptr ? value_ : parent_;
        field.missing_ = missing_.empty() ? std::string(key) : fmt::format("{}.{}", missing_, key);
    }
    return field;
}

std::vector<Field> Field::items() const {
    std::vector<Field> out;
    if (value_ == nullptr) { return out; }
    const json::array* list = value_->if_array();
    if (list == nullptr) {
        expected("a list");
        return out;
    }
    out.reserve(list->size());
    for (const json::value& item : *list) { out.push_back(Field(*this, &item)); }
    return out;
}

std::vector<std::pair<std::string_view, Field>> Field::members() const {
    std::vector<std::pair<std::string_view, Field>> out;
    if (value_ == nullptr) { return out; }
    const json::object* object = value_->if_object();
    if (object == nullptr) {
        expected("a mapping");
        return out;
    }
    out.reserve(object->size());
    for (const auto& member : *object) {
        out.emplace_back(std::string_view(member.key().data(), member.key().size()),
                         Field(*this, &member.value()));
    }
    return out;
}

std::string_view Field::text(std::string_view otherwise) const {
    if (value_ == nullptr) { return otherwise; }
    if (const json::string* text = value_->if_string()) { return view(*text); }
    const bool looks_plain = value_->is_bool() || value_->is_number();
    expected(looks_plain ? "text (put it in quotes)" : "text");
    return otherwise;
}

std::string_view Field::name() const {
    const std::string_view name = value_ != nullptr ? text("?") : std::string_view();
    const bool is_printable =
        std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < '\x7f'; });
    if (name.empty() || !is_printable || name.size() > name_bytes_max) {
        expected(fmt::format("a name of at most {} printable characters", name_bytes_max));
        return "?";
    }
    return name;
}

bool Field::boolean(bool otherwise) const {
    if (value_ == nullptr) { return otherwise; }
    if (const bool* value = value_->if_bool()) { return *value; }
    expected("true or false");
    return otherwise;
}

std::int64_t Field::integer(std::int64_t low, std::int64_t high, std::int64_t otherwise) const {
    if (value_ == nullptr) { return otherwise; }
    const std::int64_t* value = value_->if_int64();
    std::int64_t small = 0;
    if (value == nullptr && value_->is_uint64() && value_->get_uint64() <= INT64_MAX) {
        small = static_cast<std::int64_t>(value_->get_uint64());
        value = &small;
    }
    if (value != nullptr && *value >= low && *value <= high) { return *value; }
    if (high == INT64_MAX || (value == nullptr && !value_->is_uint64())) {
        expected(fmt::format("a whole number ≥ {}", low));
    } else {
        expected(fmt::format("a whole number from {} to {}", low, high));
    }
    return otherwise;
}

std::int64_t Field::any_quantity(std::int64_t high, bool is_milli) const {
    if (value_ == nullptr) { return 0; }
    std::string text;
    if (const json::string* string = value_->if_string()) {
        text = view(*string);
    } else if (value_->is_number()) {
        text = describe(value_);
    }
    const Result<std::int64_t> amount =
        is_milli ? parse_quantity_milli(text) : parse_quantity(text);
    if (!amount) {
        expected(amount.error().code == Code::limit ? "a smaller quantity"
                                                    : "a quantity ≥ 0 such as 2, 500m or 16Gi");
        return 0;
    }
    if (*amount > high) {
        expected(fmt::format("at most {}{}", is_milli ? high / 1000 : high, ""));
        return 0;
    }
    return *amount;
}

std::int64_t Field::quantity(std::int64_t high) const { return any_quantity(high, false); }
std::int64_t Field::quantity_milli(std::int64_t high) const { return any_quantity(high, true); }

void Field::refuse_others(std::initializer_list<std::string_view> known) const {
    for (const auto& [key, member] : members()) {
        if (std::ranges::find(known, key) == known.end()) { member.refuse("is not known here"); }
    }
}

Place Field::place() const {
    const json::value* there = value_ != nullptr ? value_ : parent_;
    Place place = document_->place_of(there != nullptr ? *there : *document_->root);
    if (value_ == nullptr && !missing_.empty()) {
        if (!place.path.empty()) { place.path += '.'; }
        place.path += missing_;
    }
    return place;
}

void Field::refuse(std::string text) const { faults_->add(place(), std::move(text)); }

void Field::expected(std::string_view what) const {
    refuse(fmt::format("found {}, expected {}", describe(value_), what));
}

}  // namespace muster
