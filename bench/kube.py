#!/usr/bin/env python3
"""kube.py [--sizes 1000x2000,...] [--modes drain,live] [--rounds N] [--subjects ...]: schedulers on one real API server.

Kubernetes' API server, etcd and kwok (tools/kube/build; kwok and kube-scheduler are not among what it builds unasked)
serve nodes of 8 GPUs and pods of one GPU in gangs of 8; every subject binds the same number of pods there, in an order
that differs from round to round. drain: all pods are there before the subject starts. live: it runs, then they come.

  bare     Binding calls alone, 32 in flight, of a client that has listed what there is: the ceiling
  watched  the same client, which follows the pods by a watch instead
  events   that one, with an event for each pod
  muster   `muster scheduler`, PodGroups of scheduling.k8s.io/v1beta1, a ledger on disk
  plain    kube-scheduler, no gangs; its client's limits (50 requests a second) are raised to 5,000
  gang     kube-scheduler with the gates of its gang feature and the same PodGroups as Muster; limits raised

Rates are of the whole machine, on which API server, etcd, kwok and the subject share the cores, and often with others:
only ratios to the ceiling of the same round say something, and the CPU time of the subject. Needs MUSTER_KUBE_DIR.
"""
import argparse
import http.client
import json
import os
import pathlib
import re
import shutil
import ssl
import statistics
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
MUSTER = pathlib.Path(os.environ.get("MUSTER") or ROOT / "build/release/muster")
LOAD = MUSTER.parent / "bench/kube_load"
KUBE = pathlib.Path(os.environ.get("MUSTER_KUBE_DIR") or ROOT / ".cache/kube/bin")
TICKS = os.sysconf("SC_CLK_TCK")
PER_GANG = 8
IN_FLIGHT = 32
LIMIT_SECONDS = 300
GATES = "GenericWorkload=true,TopologyAwareWorkloadScheduling=true,CompositePodGroup=true"
SUBJECTS = {  # its pods' schedulerName, and the kind of their groups
    "bare": ("nobody", "none"),
    "watched": ("nobody", "none"),
    "events": ("nobody", "none"),
    "muster": ("muster", "upstream"),
    "plain": ("default-scheduler", "none"),
    "gang": ("default-scheduler", "upstream"),
}


def cpu_of(process):
    """CPU seconds so far."""
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def peak_mb(processes):
    """Of all of them; what has ended, or is just about to, has none."""
    total = 0.0
    for one in processes:
        try:
            status = pathlib.Path(f"/proc/{one.pid}/status").read_text()
        except FileNotFoundError:
            continue
        peak = re.search(r"VmHWM:\s+(\d+)", status)
        total += int(peak.group(1)) / 1024 if peak else 0
    return total


def end_of(process):
    """The CPU seconds of all its life; it is ended when it has not by itself."""
    if os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        process.terminate()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def machine():
    """Busy seconds of all cores since the start of the machine, and those that there were."""
    ticks = [int(one) for one in pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return (sum(ticks) - ticks[3] - ticks[4]) / TICKS, sum(ticks) / TICKS


class Cluster:
    def __init__(self, nodes):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.looks = 0  # lists of pods that this script has asked for
        self.config = self.folder / "kubeconfig"
        subprocess.run([ROOT / "tools/kube/start", self.folder, "--", "--max-requests-inflight", "3000",
                        "--max-mutating-requests-inflight", "1500"], check=True, capture_output=True)
        self.processes = {name: int((self.folder / f"{name}.pid").read_text()) for name in ("etcd", "kube-apiserver")}
        config = json.loads(self.config.read_text())
        self.server = config["clusters"][0]["cluster"]["server"]
        self.token = config["users"][0]["user"]["token"]
        self.kwok = self.spawn("kwok", [
            KUBE / "kwok", "--kubeconfig", self.config, "--config", ROOT / "tools/kube/stages.yaml",
            "--manage-all-nodes=true", "--cidr", "10.0.0.0/8", "--node-lease-duration-seconds", "0"])
        self.processes["kwok"] = self.kwok.pid
        self.load("nodes", nodes)
        self.kubectl("create", "namespace", "load")

    def spawn(self, name, command):
        with open(self.folder / f"{name}.log", "ab") as log:
            return subprocess.Popen([str(one) for one in command], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def load(self, *words):
        done = subprocess.run([LOAD, self.config, *map(str, words)], check=True, stdout=subprocess.PIPE, text=True)
        return json.loads(done.stdout) if done.stdout else None

    def kubectl(self, *words, text=None):
        return subprocess.run([KUBE / "kubectl", "--kubeconfig", self.config, *words], check=True, input=text,
                              capture_output=True, text=True).stdout

    def ask(self, method, path):
        request = urllib.request.Request(self.server + path, method=method,
                                         headers={"Authorization": f"Bearer {self.token}"})
        context = ssl._create_unverified_context()  # a server of our own on loopback
        with urllib.request.urlopen(request, context=context, timeout=120) as answer:
            return answer.read().decode()

    def requests(self):
        """Those that the server has answered, but for watches, leases and what a human asks."""
        out = {}
        for line in self.ask("GET", "/metrics").splitlines():
            if not line.startswith("apiserver_request_total{"):
                continue
            labels = dict(re.findall(r'(\w+)="([^"]*)"', line))
            if labels["verb"] == "WATCH" or labels["resource"] in ("leases", ""):
                continue
            what = " ".join(filter(None, (labels["verb"], labels["resource"], labels["subresource"])))
            out[what] = out.get(what, 0) + float(line.rsplit(" ", 1)[1])
        return out

    def wait_until_none(self, query, what):
        end = time.monotonic() + LIMIT_SECONDS
        self.looks += 1
        while json.loads(self.ask("GET", f"/api/v1/namespaces/load/pods?limit=1{query}"))["items"]:
            if time.monotonic() > end:
                raise SystemExit(f"kube.py: {what}")
            self.looks += 1
            time.sleep(0.2)

    def clear(self):
        self.ask("DELETE", "/api/v1/namespaces/load/pods?gracePeriodSeconds=0")
        self.wait_until_none("", "pods stay")
        # Groups have a finalizer, which a controller that does not run here would take off.
        groups = "/apis/scheduling.k8s.io/v1beta1/namespaces/load/podgroups"
        host = urllib.parse.urlparse(self.server).netloc
        connection = http.client.HTTPSConnection(host, context=ssl._create_unverified_context())
        token = {"Authorization": f"Bearer {self.token}"}
        for one in json.loads(self.ask("GET", groups))["items"]:
            name = one["metadata"]["name"]
            for method, body, kind in (("PATCH", b'{"metadata": {"finalizers": null}}', "application/merge-patch+json"),
                                       ("DELETE", b"", "application/json")):
                connection.request(method, f"{groups}/{name}", body, {**token, "Content-Type": kind})
                connection.getresponse().read()
        connection.close()

    def stop(self):
        self.kwok.terminate()
        self.kwok.wait()
        subprocess.run([ROOT / "tools/kube/stop", self.folder], check=True)
        if "KEEP" not in os.environ:
            shutil.rmtree(self.folder, ignore_errors=True)


def scheduler_config(cluster):
    path = cluster.folder / "kube-scheduler.json"
    path.write_text(json.dumps({
        "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": str(cluster.config), "qps": 5000, "burst": 10000,
                             "contentType": "application/vnd.kubernetes.protobuf"},
        "leaderElection": {"leaderElect": False}}))
    return path


def start_subject(name, cluster, pods):
    """The processes that are measured."""
    if name in ("bare", "watched", "events"):
        how = {"bare": "list", "watched": "watch", "events": "events"}[name]
        return [cluster.spawn(name, [LOAD, cluster.config, "bind", pods, IN_FLIGHT, how])]
    if name == "muster":
        ledger = cluster.folder / f"ledger-{time.monotonic_ns()}"
        return [cluster.spawn(name, [MUSTER, "scheduler", "--kubeconfig", cluster.config, "--ledger", ledger])]
    command = [KUBE / "kube-scheduler", "--config", scheduler_config(cluster), "--bind-address", "127.0.0.1",
               "--secure-port", "0", "--authentication-skip-lookup"]
    if name == "gang":
        command += ["--feature-gates", GATES]
    return [cluster.spawn(name, command)]


def wait_for(process, what):
    try:
        done, _ = process.communicate(timeout=LIMIT_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        raise SystemExit(f"kube.py: {what} had not bound all after {LIMIT_SECONDS} s") from None
    return json.loads(done)


def measure(cluster, name, mode, pods):
    scheduler, kind = SUBJECTS[name]
    follow = subprocess.Popen([LOAD, cluster.config, "follow", str(pods)], stdout=subprocess.PIPE, text=True)
    assert follow.stdout.readline() == "ready\n"
    create = [pods, PER_GANG, scheduler, kind]
    made, running = None, []
    if mode == "drain":
        cluster.load("pods", *create)
        time.sleep(1)  # what is still written about them
    else:
        running += start_subject(name, cluster, pods)
        time.sleep(3)  # it has listed what there is
    before, looks = cluster.requests(), cluster.looks
    processes = {**cluster.processes, "load": follow.pid, "bench": os.getpid()}
    known = {what: cpu_of(one) for what, one in processes.items()}
    known_own = [cpu_of(one.pid) for one in running]
    busy, there = machine()
    began = time.time()
    creator_cpu = 0
    if mode == "drain":
        running += start_subject(name, cluster, pods)
        known_own += [0.0] * (len(running) - len(known_own))
    else:
        children = os.times()
        made = cluster.load("pods", *create)
        began = made["first"]
        creator_cpu = sum(os.times()[2:4]) - sum(children[2:4])
    peak = 0.0
    while follow.poll() is None and time.time() < began + LIMIT_SECONDS:
        peak = max(peak, peak_mb(running))
        time.sleep(0.05)
    bound = wait_for(follow, name)
    now, total = machine()
    cluster_cpu = {what: cpu_of(one) - known[what] for what, one in processes.items() if what != "load"}
    cluster.wait_until_none("&fieldSelector=status.phase!%3DRunning", "bound pods do not run")
    time.sleep(1)  # what is still said of them counts as well
    peak = max(peak, peak_mb(running))
    after = cluster.requests()
    own = sum(end_of(one) for one in running) - sum(known_own)
    cluster.clear()
    asked = {what: (count - before.get(what, 0)) / pods for what, count in after.items() if count != before.get(what)}
    if "LIST pods" in asked:
        asked["LIST pods"] -= (cluster.looks - looks) / pods
    if "PATCH pods status" in asked:
        asked["PATCH pods status"] -= 1  # kwok's
    if mode == "live":
        asked.pop("POST pods", None)
        if kind == "upstream":
            asked.pop("POST podgroups", None)
    spent = own + sum(cluster_cpu.values()) + creator_cpu
    return {
        "subject": name, "mode": mode, "pods": pods,
        "pods per second": (pods - 1) / max(bound["last"] - bound["first"], 1e-3),
        "first bind, s": bound["first"] - began,
        "last bind, s": bound["last"] - began,
        "from the last pod made, s": bound["last"] - made["last"] if made else None,
        "CPU ms per pod": own / pods * 1_000,
        "server CPU ms per pod": cluster_cpu["kube-apiserver"] / pods * 1_000,
        "peak MB": peak,
        "requests per pod": sum(count for count in asked.values() if count > 0.0005),
        "others, share of the machine": max(0.0, (now - busy - spent) / (total - there)),
        "asked": {what: round(count, 4) for what, count in sorted(asked.items()) if abs(count) > 0.0005},
    }


def summary(rows):
    """Medians of a subject; ratios are to the ceiling of the same round."""
    out = {}
    for what in rows[0][1]:
        if what in ("nodes", "pods"):
            out[what] = rows[0][1][what]
            continue
        values = [row[what] for _, row in rows]
        if isinstance(values[0], (int, float)):
            out[what] = statistics.median(values)
    ratios = [row["pods per second"] / ceiling["pods per second"] for ceiling, row in rows if ceiling]
    out["of the ceiling"] = statistics.median(ratios) if ratios else None
    return out


def table(results):
    print("| nodes | pods | mode | subject | pods/s | of the ceiling | first bind, s | last bind, s | CPU ms a pod "
          "| peak MB | requests a pod | API server's CPU ms a pod | others |\n|-|-|-|-|-|-|-|-|-|-|-|-|-|")
    for row in results:
        ratio = f"{row['of the ceiling']:.2f}" if row["of the ceiling"] is not None else "–"
        print(f"| {row['nodes']:,} | {row['pods']:,} | {row['mode']} | {row['subject']} | {row['pods per second']:.0f} "
              f"| {ratio} | {row['first bind, s']:.2f} | {row['last bind, s']:.2f} | {row['CPU ms per pod']:.2f} "
              f"| {row['peak MB']:.0f} | {row['requests per pod']:.2f} | {row['server CPU ms per pod']:.1f} "
              f"| {row['others, share of the machine']:.0%} |")


def write(options, results, runs):
    date = os.environ.get("MUSTER_BENCH_DATE") or time.strftime("%Y-%m-%d")
    (ROOT / f"bench/results/{date}-{options.name}.json").write_text(json.dumps({
        "commit": os.environ.get("MUSTER_BENCH_COMMIT"), "cpu": os.environ.get("MUSTER_BENCH_CPU"),
        "rounds": options.rounds, "results": results, "runs": runs}, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000x2000", help="NODESxPODS, with commas between; also 5000x10000")
    parser.add_argument("--modes", default="drain,live")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--subjects", default=",".join(SUBJECTS))
    parser.add_argument("--name", default="kube", help="of the result file")
    options = parser.parse_args()
    for name in ("kubectl", "etcd", "kube-apiserver", "kwok"):
        if not (KUBE / name).exists():
            raise SystemExit(f"kube.py: no {name} in {KUBE}; run tools/kube/build {name}")
    subjects = options.subjects.split(",")
    if not (KUBE / "kube-scheduler").exists():
        print(f"kube.py: without plain and gang, for there is no kube-scheduler in {KUBE}")
        subjects = [one for one in subjects if one not in ("plain", "gang")]
    results, runs = [], []
    for size in options.sizes.split(","):
        nodes, pods = map(int, size.split("x"))
        cluster = Cluster(nodes)
        try:
            for mode in options.modes.split(","):
                rounds = []
                for turn in range(options.rounds):
                    shift = turn * 3 % len(subjects)
                    order = [one for one in subjects[shift:] + subjects[:shift] if (one, mode) != ("bare", "live")]
                    if turn % 2:
                        order.reverse()
                    rounds.append({})
                    for name in order:
                        row = {"nodes": nodes, **measure(cluster, name, mode, pods)}
                        rounds[-1][name] = row
                        runs.append(row)
                        print(json.dumps(row), flush=True)
                        write(options, results, runs)  # an interrupted run has measured something too
                ceiling = "bare" if mode == "drain" else "watched"
                for name in subjects:
                    rows = [(one.get(ceiling), one[name]) for one in rounds if name in one]
                    if rows:
                        results.append({"nodes": nodes, "subject": name, "mode": mode, **summary(rows)})
        finally:
            cluster.stop()
    write(options, results, runs)
    table(results)


if __name__ == "__main__":
    main()
