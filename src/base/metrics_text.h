// Prometheus' text format, version 0.0.4: families with their help and type, samples below them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster {

enum class MetricType : std::uint8_t { counter, gauge, histogram };

class MetricsText {
public:
    using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

    /// The samples that follow belong to it. Each name comes once.
    void family(std::string_view name, MetricType type, std::string_view help);
    void sample(double value, Labels labels = {});
    /// `counts` has one more than `bounds`: those over the last one. Not cumulative yet.
    void histogram(const std::vector<double>& bounds, const std::vector<std::uint64_t>& counts,
                   double sum);

    [[nodiscard]] const std::string& text() const { return text_; }

private:
    void line(std::string_view suffix, double value, Labels labels);

    std::string name_;
    std::string text_;
};

inline constexpr std::string_view metrics_content_type = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace muster
