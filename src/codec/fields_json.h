// Values of the model as canonical JSON, by their fields.
#pragma once

#include "codec/binary.h"
#include "codec/json_writer.h"
#include "codec/plan_names.h"

#include <string>
#include <variant>

namespace muster {

class JsonFields {
public:
    explicit JsonFields(JsonWriter& out) : out_(&out) {}

    template <class T>
    void operator()(const char* key, const T& value) {
        out_->key(key);
        put(value);
    }
    template <class T>
    void operator()(const char* key, GpuBits<T> gpus) {
        out_->key(key).begin_list();
        for (std::int64_t i = 0; i < 64; ++i) {
            if ((gpus.mask >> i & 1) != 0) { out_->value(i); }
        }
        out_->end_list();
    }

    template <class T>
    void put(const T& value) {
        if constexpr (std::is_same_v<T, bool>) {
            out_->value(value);
        } else if constexpr (std::is_enum_v<T>) {
            out_->value(name_of(value));
        } else if constexpr (std::is_integral_v<T>) {
            out_->raw(std::to_string(value));
        } else if constexpr (std::is_same_v<T, std::string>) {
            out_->value(std::string_view(value));
        } else if constexpr (is_list<T>) {
            out_->begin_list();
            for (const auto& item : value) { put(item); }
            out_->end_list();
        } else if constexpr (is_variant<T>) {
            out_->begin_object().member("kind", alternatives<T>[value.index()]);
            std::visit([this](const auto& one) { fields(*this, one); }, value);
            out_->end_object();
        } else {
            out_->begin_object();
            fields(*this, value);
            out_->end_object();
        }
    }

private:
    JsonWriter* out_;
};

template <class T>
void write_json(JsonWriter& out, const T& value) {
    JsonFields(out).put(value);
}

}  // namespace muster
