#include "base/metrics_text.h"

#include <fmt/format.h>

namespace muster {

namespace {

std::string_view name_of(MetricType type) {
    switch (type) {
        case MetricType::counter: return "counter";
        case MetricType::gauge: return "gauge";
        case MetricType::histogram: return "histogram";
    }
    return "untyped";
}

std::string escaped(std::string_view text, bool with_quotes) {
    std::string out;
    for (const char c : text) {
        if (c == '\n') {
            out += "\\n";
            continue;
        }
        if (c == '\\' || (with_quotes && c == '"')) { out += '\\'; }
        out += c;
    }
    return out;
}

}  // namespace

void MetricsText::family(std::string_view name, MetricType type, std::string_view help) {
    name_ = name;
    text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, escaped(help, false), name,
                         name_of(type));
}

void MetricsText::sample(double value, Labels labels) { line("", value, labels); }

void MetricsText::histogram(const std::vector<double>& bounds,
                            const std::vector<std::uint64_t>& counts, double sum) {
    std::uint64_t so_far = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        so_far += counts[i];
        const std::string bound = i < bounds.size() ? fmt::format("{}", bounds[i]) : "+Inf";
        line("_bucket", static_cast<double>(so_far), {{"le", bound}});
    }
    line("_sum", sum, {});
    line("_count", static_cast<double>(so_far), {});
}

void MetricsText::line(std::string_view suffix, double value, Labels labels) {
    text_ += name_;
    text_ += suffix;
    char before = '{';
    for (const auto& [key, label] : labels) {
        text_ += fmt::format("{}{}=\"{}\"", before, key, escaped(label, true));
        before = ',';
    }
    if (before == ',') { text_ += '}'; }
    text_ += fmt::format(" {}\n", value);
}

}  // namespace muster
