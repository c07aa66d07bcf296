#!/usr/bin/env python3
"""traces.py: what whole runs on public traces cost, against the budgets of the design (§6).

CPU seconds of the run alone, as the program says them, median of fifteen, and the least; the ledger is in memory. Needs
MUSTER_DATA and MUSTER (the program), both set by ./dev bench.
"""
import json
import os
import pathlib
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
PHILLY = ["--format", "philly", "--from", "2017-10-01 00:00:00", "--to", "2017-11-30 23:59:00", "--nodes", "64x8"]


def rows(data):
    philly = ["sim", "jobs", "--trace", f"{data}/sia-sosp23/philly.csv", *PHILLY]
    kth = ["sim", "queue", "--trace", f"{data}/swf/KTH-SP2-1996-2.1-cln.swf.gz", "--processors", "100"]
    openb = f"{data}/alibaba-gpu-v2023"
    order = f"{data}/fgd-arrivals/openb_pod_list_default"
    placement = [
        "sim", "placement", "--nodes", f"{openb}/openb_node_list_gpu_node.csv",
        "--pods", f"{openb}/openb_pod_list_default.csv", "--arrivals", f"{order}.arrivals.csv.gz",
        "--node-ranks", f"{order}.nodeperm.csv.gz", "--seed", "42",
    ]
    # What, arguments, budget in seconds.
    yield "Philly, 68,510 jobs on 512 GPUs: the engine", [*philly, "--policy", "muster"], 1.0
    yield "Philly: EASY", [*philly, "--policy", "easy"], 1.0
    yield "Philly: SJF-skip", [*philly, "--policy", "sjf-skip"], 1.0
    yield "KTH, 28,475 jobs on 100 processors: the engine", [*kth, "--policy", "muster"], 0.5
    yield "KTH: EASY", [*kth, "--policy", "easy"], 0.5
    yield "openb, some 11,000 pods: the engine", [*placement, "--policy", "muster"], None
    yield "openb: FGD", [*placement, "--policy", "fgd"], 0.1


def seconds(said):
    if "cpu_s" in said:
        return said["cpu_s"]
    return said["arrived"] / said["decisions_per_cpu_second"]


def main():
    data = os.environ.get("MUSTER_DATA")
    program = os.environ.get("MUSTER", str(ROOT / "build/release/muster"))
    if not data:
        print("traces: absent (MUSTER_DATA); nothing measured")
        return
    measured = []
    for what, arguments, budget in rows(data):
        runs = [
            seconds(json.loads(subprocess.run([program, *arguments, "-o", "json"], check=True, capture_output=True).stdout))
            for _ in range(15)
        ]
        median = statistics.median(runs)
        measured.append({"what": what, "cpu_s": round(median, 4), "least": min(runs), "runs": runs, "budget_s": budget})
        print(f"{what:50} {median:8.3f} s CPU, least {min(runs):.3f}   {'' if budget is None else f'(budget {budget} s)'}")
    date = os.environ.get("MUSTER_BENCH_DATE")
    if date:
        context = {key: os.environ.get(f"MUSTER_BENCH_{key.upper()}", "") for key in ("date", "commit", "cpu")}
        path = ROOT / f"bench/results/{date}-traces.json"
        path.write_text(json.dumps({"context": context, "rows": measured}, indent=1) + "\n")


if __name__ == "__main__":
    main()
