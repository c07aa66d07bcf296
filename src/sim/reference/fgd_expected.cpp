#include "sim/reference/fgd_expected.h"

#include "base/text.h"
#include "dialect/csv.h"
#include "sim/file.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

namespace muster::sim {

namespace {

constexpr std::size_t list_column = 0;
constexpr std::size_t policy_column = 1;
constexpr std::size_t seed_column = 3;
constexpr std::size_t first_percent_column = 5;
constexpr std::string_view list_prefix = "openb_pod_list_";

/// "95.14" percent as 951,400.
Result<std::int64_t> ppm(const dialect::CsvReader& csv, std::size_t column) {
    const auto milli = parse_quantity_milli(csv.field(column));
    if (!milli) {
        return fail(milli.error().code, csv.place(column) + ": " + milli.error().message);
    }
    return *milli * 10;
}

}  // namespace

Result<FgdExpected> load_fgd_allocation(const std::filesystem::path& folder,
                                        std::size_t arrived_percent) {
    const auto path = folder / "fgd-expected" / "analysis_allo_discrete.csv";
    MUSTER_TRY(text, read_file(path));
    dialect::CsvReader csv(path.string(), text);
    MUSTER_CHECK(csv.read_header());
    const auto found =
        std::find(csv.header().begin(), csv.header().end(), fmt::format("{}", arrived_percent));
    const auto column = static_cast<std::size_t>(found - csv.header().begin());
    if (found == csv.header().end() || column < first_percent_column) {
        return fail(Code::not_found, fmt::format("{}: no column {}", csv.place(), arrived_percent));
    }
    FgdExpected expected;
    for (;;) {
        MUSTER_TRY(is_there, csv.next());
        if (!is_there) { return expected; }
        std::string_view list = csv.field(list_column);
        if (list.starts_with(list_prefix)) { list.remove_prefix(list_prefix.size()); }
        MUSTER_TRY(seed, csv.number(seed_column, 0, 1'000'000));
        MUSTER_TRY(value, ppm(csv, column));
        expected[{std::string(list), std::string(csv.field(policy_column)),
                  static_cast<int>(seed)}] = value;
    }
}

}  // namespace muster::sim
