#!/usr/bin/env python3
"""kube.py [--sizes 1000x2000,...] [--modes drain,live] [--gang N] [--rounds N] [--subjects ...]: schedulers on one real API server.

Kubernetes' API server, etcd and kwok (tools/kube/build; kwok, kube-scheduler and kueue are not among what it builds
unasked) serve nodes of 8 GPUs and pods of one GPU in gangs of 8, or of N; every subject binds the same number of pods there, in an order
that differs from round to round. drain: all pods are there before the subject starts. live: it runs, then they come.

  bare     Binding calls alone, 32 in flight, of a client that has listed what there is: the ceiling
  watched  the same client, which follows the pods by a watch instead
  events   that one, with an event for each pod
  muster   `muster scheduler`, PodGroups of scheduling.k8s.io/v1beta1, a ledger on disk
  plain    kube-scheduler, no gangs; its client's limits (50 requests a second) are raised to 5,000
  gang     kube-scheduler with the gates of its gang feature and the same PodGroups as Muster; limits raised
  kueue    Kueue, which admits groups of plain pods, and the scheduler of plain, which binds them; limits raised in both.
           A queue with a quota of all there is. None of its webhooks is registered: pods are made as they would leave
           them, hence what they cost a pod is not in its numbers

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
import socket
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
    "kueue": ("default-scheduler", "kueue"),
}
NEEDS = {"plain": ["kube-scheduler"], "gang": ["kube-scheduler"], "kueue": ["kube-scheduler", "kueue"]}
PODS = "/api/v1/namespaces/load/pods"
GROUPS = {  # what there is besides pods, by the kind of groups
    "upstream": "/apis/scheduling.k8s.io/v1beta1/namespaces/load/podgroups",
    "kueue": "/apis/kueue.x-k8s.io/v1beta2/namespaces/load/workloads",
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
        self.kueue = None  # installed when it is asked for
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
        while json.loads(self.ask("GET", f"{PODS}?limit=1{query}"))["items"]:
            if time.monotonic() > end:
                raise SystemExit(f"kube.py: {what}")
            self.looks += 1
            time.sleep(0.2)

    def clear(self, kind):
        """Objects have finalizers, which a controller that does not run any more, or never did, would take off."""
        if kind == "kueue":
            self.take_off_finalizers(PODS)
        self.delete_all(PODS)
        self.wait_until_none("", "pods stay")
        if kind in GROUPS:
            self.take_off_finalizers(GROUPS[kind])
            self.delete_all(GROUPS[kind])

    def delete_all(self, path):
        """In pieces: a server gives up on a request after a minute."""
        while json.loads(self.ask("GET", f"{path}?limit=1"))["items"]:
            self.ask("DELETE", f"{path}?gracePeriodSeconds=0&limit=500")

    def take_off_finalizers(self, path):
        host = urllib.parse.urlparse(self.server).netloc
        connection = http.client.HTTPSConnection(host, context=ssl._create_unverified_context())
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/merge-patch+json"}
        for one in json.loads(self.ask("GET", path))["items"]:
            connection.request("PATCH", f"{path}/{one['metadata']['name']}", b'{"metadata": {"finalizers": null}}',
                               headers)
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


class Kueue:
    """What its manifest installs in a cluster, but for webhooks, and a queue for all that the nodes have."""

    def __init__(self, cluster, nodes):
        self.cluster = cluster
        self.ports = free_ports(2)
        self.config = cluster.folder / "kueue.json"
        self.config.write_text(json.dumps({
            "apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", "namespace": "kueue-system",
            "clientConnection": {"qps": 5000, "burst": 10000},
            "controller": {"groupKindConcurrency": {  # of its manifest
                "Pod": 5, "Workload.kueue.x-k8s.io": 10, "LocalQueue.kueue.x-k8s.io": 5,
                "ClusterQueue.kueue.x-k8s.io": 5, "ResourceFlavor.kueue.x-k8s.io": 1}},
            "leaderElection": {"leaderElect": False},
            "metrics": {"bindAddress": "0"},
            "health": {"healthProbeBindAddress": f"127.0.0.1:{self.ports[0]}"},
            "webhook": {"host": "127.0.0.1", "port": self.ports[1], "certDir": str(cluster.folder)},
            "featureGates": {"VisibilityOnDemand": False},  # a server of its own, for humans
            "integrations": {"frameworks": ["pod"]}}))
        # Its server for webhooks starts only with a certificate, though nobody calls it.
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=kueue", "-days", "1",
                        "-keyout", cluster.folder / "tls.key", "-out", cluster.folder / "tls.crt"],
                       check=True, capture_output=True)
        cluster.kubectl("create", "-f", "-", text=cluster.kubectl("kustomize", str(KUBE / "kueue-crd")))
        cluster.kubectl("wait", "--for", "condition=Established", "--timeout=60s", "crd", "--all")
        amounts = {"cpu": 192 * nodes, "memory": f"{2048 * nodes}Gi", "nvidia.com/gpu": 8 * nodes}
        quotas = [{"name": what, "nominalQuota": amount} for what, amount in amounts.items()]
        made = [
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kueue-system"}},
            {"apiVersion": "v1", "kind": "Secret",  # which it fills itself
             "metadata": {"name": "kueue-webhook-server-cert", "namespace": "kueue-system"}},
            queue_object("ResourceFlavor", {}, {"name": "load"}),
            queue_object("ClusterQueue", {
                "namespaceSelector": {},
                "resourceGroups": [{"coveredResources": list(amounts),
                                    "flavors": [{"name": "load", "resources": quotas}]}]}, {"name": "load"}),
            queue_object("LocalQueue", {"clusterQueue": "load"}, {"name": "load", "namespace": "load"})]
        cluster.kubectl("create", "-f", "-", text="\n---\n".join(map(json.dumps, made)))

    def start(self):
        return self.cluster.spawn("kueue", [KUBE / "kueue", "--kubeconfig", self.cluster.config,
                                            "--config", self.config])

    def wait_until_ready(self, process):
        end = time.monotonic() + LIMIT_SECONDS
        while time.monotonic() < end and process.poll() is None:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.ports[0]}/readyz", timeout=5):
                    return
            except OSError:  # not there yet, or not ready
                time.sleep(0.1)
        raise SystemExit(f"kube.py: kueue does not start; see {self.cluster.folder / 'kueue.log'} (kept with KEEP=1)")


def queue_object(kind, spec, metadata):
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": metadata, "spec": spec}


def free_ports(count):
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


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
    scheduler = cluster.spawn(name if name != "kueue" else "kueue-scheduler", command)
    return [cluster.kueue.start(), scheduler] if name == "kueue" else [scheduler]


def wait_for(process, what):
    try:
        done, _ = process.communicate(timeout=LIMIT_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        raise SystemExit(f"kube.py: {what} had not bound all after {LIMIT_SECONDS} s") from None
    return json.loads(done)


def measure(cluster, name, mode, pods, per_gang):
    scheduler, kind = SUBJECTS[name]
    follow = subprocess.Popen([LOAD, cluster.config, "follow", str(pods)], stdout=subprocess.PIPE, text=True)
    assert follow.stdout.readline() == "ready\n"
    create = [pods, per_gang, scheduler, kind]
    made, running = None, []
    if mode == "drain":
        cluster.load("pods", *create)
        time.sleep(1)  # what is still written about them
    else:
        running += start_subject(name, cluster, pods)
        if name == "kueue":
            cluster.kueue.wait_until_ready(running[0])
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
    cluster.clear(kind)
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
    parser.add_argument("--gang", type=int, default=8, help="pods of a gang")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--subjects", default=",".join(SUBJECTS))
    parser.add_argument("--name", default="kube", help="of the result file")
    options = parser.parse_args()
    for name in ("kubectl", "etcd", "kube-apiserver", "kwok"):
        if not (KUBE / name).exists():
            raise SystemExit(f"kube.py: no {name} in {KUBE}; run tools/kube/build {name}")
    subjects = options.subjects.split(",")
    for one in list(subjects):
        missing = [program for program in NEEDS.get(one, []) if not (KUBE / program).exists()]
        if missing:
            print(f"kube.py: without {one}, for there is no {' or '.join(missing)} in {KUBE}")
            subjects.remove(one)
    results, runs = [], []
    for size in options.sizes.split(","):
        nodes, pods = map(int, size.split("x"))
        cluster = Cluster(nodes)
        try:
            if "kueue" in subjects:
                cluster.kueue = Kueue(cluster, nodes)
            for mode in options.modes.split(","):
                rounds = []
                for turn in range(options.rounds):
                    shift = turn * 3 % len(subjects)
                    order = [one for one in subjects[shift:] + subjects[:shift] if (one, mode) != ("bare", "live")]
                    if turn % 2:
                        order.reverse()
                    rounds.append({})
                    for name in order:
                        row = {"nodes": nodes, **measure(cluster, name, mode, pods, options.gang)}
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
