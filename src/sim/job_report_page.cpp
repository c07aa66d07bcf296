// How a page begins, with its style.
#include "sim/job_report_parts.h"
#include "sim/svg_plot.h"

#include <fmt/format.h>

namespace muster::sim {

namespace {

constexpr const char* style = R"(
:root { --page: #fcfcfb; --ink: #1f2328; --soft: #667079; --rule: #dfe3e6; --main: #2f6f9f;
  --fill: #2f6f9f40; --other: #c2571a; --c0: #eef0f1; --c1: #d3e2ec; --c2: #a9c8dc; --c3: #79a9c8;
  --c4: #4887b0; --c5: #1f5a86; }
@media (prefers-color-scheme: dark) { :root { --page: #16191c; --ink: #e4e7ea; --soft: #97a1a9;
  --rule: #31373c; --main: #6bb0dd; --fill: #6bb0dd38; --other: #e8935a; --c0: #20252a;
  --c1: #21394a; --c2: #285672; --c3: #34759b; --c4: #4a97c4; --c5: #85c4ec; } }
body { background: var(--page); color: var(--ink); font: 15px/1.45 system-ui, sans-serif;
  margin: 0 auto; max-width: 60rem; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.5rem; margin: 0 0 .2rem; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 2rem 0 .2rem; }
p { color: var(--soft); margin: 0 0 .6rem; }
dl { display: grid; gap: .6rem; grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr));
  margin: 1.2rem 0; }
dl div { border: 1px solid var(--rule); border-radius: 6px; padding: .5rem .7rem; }
dt { color: var(--soft); font-size: .8rem; }
dd { font-size: 1.25rem; font-variant-numeric: tabular-nums; margin: 0; }
figure { margin: 0; overflow-x: auto; }
svg { display: block; height: auto; min-width: 34rem; width: 100%; }
svg text { fill: var(--soft); font: 11px system-ui, sans-serif; }
.grid { fill: none; stroke: var(--rule); }
.area { fill: var(--fill); }
.line { fill: none; stroke: var(--main); stroke-width: 1.6; }
.thin { fill: none; stroke: var(--other); stroke-width: 1.2; }
.cell0 { fill: var(--c0); } .cell1 { fill: var(--c1); } .cell2 { fill: var(--c2); }
.cell3 { fill: var(--c3); } .cell4 { fill: var(--c4); } .cell5 { fill: var(--c5); }
.key { font-weight: 600; } .main { color: var(--main); } .other { color: var(--other); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; width: 100%; }
th { color: var(--soft); font-size: .8rem; font-weight: 500; }
th, td { border-bottom: 1px solid var(--rule); padding: .25rem .5rem; text-align: right;
  white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
.wide { max-width: 110rem; }
.pair { display: grid; gap: 0 2rem;
  grid-template-columns: repeat(auto-fit, minmax(min(34rem, 100%), 1fr)); }
.pair > div { min-width: 0; }
)";

}  // namespace

std::string page_head(std::string_view title, PageWidth width) {
    return fmt::format(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
        "content=\"width=device-width\">\n<meta name=\"color-scheme\" content=\"light dark\">\n"
        "<title>{0}</title>\n<style>{1}</style>\n<body{2}>\n<h1>{0}</h1>\n",
        html_text(title), style, width == PageWidth::wide ? " class=\"wide\"" : "");
}

}  // namespace muster::sim
