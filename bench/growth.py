#!/usr/bin/env python3
"""growth.py [FILE]: what the engine's benchmarks measured, how it grows with the fleet, and the budgets.

Reads the newest bench/results/*-engine_bench.json. --markdown prints the table of
docs/reference/performance.md.
"""
import argparse
import json
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
SIZES = (1_000, 10_000, 100_000, 1_000_000)

# Row → what it is, the figure that counts, budget in µs at 100,000 and at 1,000,000 GPUs (design §6).
ROWS = {
    "pod_bare": ("one pod: node and GPU found and taken", "median_us", 1, 1),
    "pod_cycle": ("one pod through a cycle, with its plan", "median_us", 1, 1),
    "mixed_cycle": ("shares, whole GPUs and CPU pods by value, churned", "mean_us", 10, None),
    "gang_bare": ("gang of 512 × 8 in one spine: found and taken", "median_us", 100, 1_000),
    "gang_cycle": ("the same through a cycle, with its plan", "median_us", 100, 1_000),
    "refused_no_domain": ("cannot run: no rack is large enough", "median_us", 100, None),
    "refused_no_room": ("cannot run: more than is free", "median_us", 100, None),
    "refused_nowhere": ("cannot run: no node is large enough", "median_us", 100, None),
    "waiting_task_ends": ("10,000 wait, one pod ends: the next plan", "median_us", 1_000, None),
    "waiting_gpu_health": ("10,000 wait, one GPU fails or is well again", "median_us", 1_000, None),
    "waiting_spine_ends": ("10,000 wait, a gang over a whole spine ends", "median_us", 1_000, None),
    "what_if_pod": ("what if one pod more", "median_us", 1_000, 1_000),
    "what_if_gang": ("what if a gang of 512 × 8 more", "median_us", 1_000, 1_000),
    "copy_space": ("copy of all that placements change", "median_us", 1_000, 1_000),
    "why": ("why one of 10,000 waits, all reasons", "median_us", 50_000, None),
    "new_shape": ("first pod of a shape nobody asked for before", "median_us", None, None),
    "node_event": ("a node goes or comes, the next plan", "median_us", None, None),
}


def newest():
    found = sorted((ROOT / "bench/results").glob("*-engine_bench.json"))
    if not found:
        raise SystemExit("growth: no bench/results/*-engine_bench.json; run ./dev bench engine first")
    return found[-1]


def written(microseconds):
    if microseconds is None:
        return "–"
    for limit, scale, unit in ((1, 1e3, "ns"), (1e3, 1, "µs"), (1e6, 1e-3, "ms")):
        if microseconds < limit:
            return f"{microseconds * scale:.3g} {unit}"
    return f"{microseconds / 1e6:.3g} s"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=pathlib.Path)
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    path = options.file or newest()
    report = json.loads(path.read_text())
    measured, memory = {}, None
    for row in report["benchmarks"]:
        match = re.match(r"(\w+)/(\d+)", row["name"])
        if match and match.group(1) == "memory":
            memory = row
        elif match and match.group(1) in ROWS:
            measured[match.group(1), int(match.group(2))] = row[ROWS[match.group(1)][1]]

    lines = []
    for name, (what, _, budget, budget_million) in ROWS.items():
        figures = [measured.get((name, size)) for size in SIZES]
        if not any(figures):
            continue
        growth = figures[2] / figures[0] if figures[0] and figures[2] else None
        lines.append(
            [what]
            + [written(figure) for figure in figures]
            + [f"{growth:.3g} ×" if growth else "–"]
            + ["–" if budget is None else f"≤ {written(budget)}"]
            + ["–" if budget_million is None else f"≤ {written(budget_million)}"]
        )
    head = ["CPU time of", *(f"{size:,}" for size in SIZES), "growth 1,000 → 100,000", "budget at 100,000", "at 1,000,000"]
    if options.markdown:
        print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
        for line in lines:
            print("| " + " | ".join(line) + " |")
    else:
        widths = [max(len(line[i]) for line in [head, *lines]) for i in range(len(head))]
        for line in [head, *lines]:
            print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
    if memory:
        print(
            f"\nmemory at 100,000 GPUs with {memory['pods']:,.0f} running pods: "
            f"{memory['heap_mib']:.0f} MiB of heap (budget ≤ 286 MiB, 300 MB)"
        )


if __name__ == "__main__":
    main()
