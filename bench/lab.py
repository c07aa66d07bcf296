#!/usr/bin/env python3
"""lab.py [--rounds N] [--sizes 2,12500] [--pods N]: the lab beside a real API server with etcd and kwok, in one run.

Time from nothing to the first answered `kubectl get nodes`, then what such a listing and the creation of pods cost,
with the CPU seconds and the memory of all their processes. The lab makes its nodes itself; on the real one a client
of eight connections makes them. The real side has no controllers and no scheduler, and is without kwok when that
was not built (tools/kube/build kwok): what it costs is then a lower bound. Needs MUSTER and MUSTER_KUBE_DIR.
"""
import argparse
import base64
import concurrent.futures
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

ROOT = pathlib.Path(__file__).resolve().parent.parent
MUSTER = os.environ.get("MUSTER") or str(ROOT / "build/release/muster")
KUBE = pathlib.Path(os.environ.get("MUSTER_KUBE_DIR") or ROOT / ".cache/kube/bin")
TICKS = os.sysconf("SC_CLK_TCK")
CONNECTIONS = 8


def process_cost(ids):
    """CPU seconds and resident MB of the processes, now."""
    seconds = memory = 0.0
    for one in ids:
        fields = pathlib.Path(f"/proc/{one}/stat").read_text().rsplit(")", 1)[1].split()
        seconds += (int(fields[11]) + int(fields[12])) / TICKS
        status = pathlib.Path(f"/proc/{one}/status").read_text()
        memory += int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) / 1024
    return seconds, memory


class Client:
    """Bulk creation over connections that stay open."""

    def __init__(self, kubeconfig, folder):
        text = kubeconfig.read_text()
        if text.lstrip().startswith("{"):
            config = json.loads(text)
            cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
            server, token = cluster["server"], user["token"]
            authority = folder / "authority.crt"
            authority.write_bytes(base64.b64decode(cluster["certificate-authority-data"]))
        else:
            server = re.search(r"server: (\S+)", text).group(1)
            token = re.search(r"token: (\S+)", text).group(1)
            authority = re.search(r"certificate-authority: (\S+)", text).group(1)
        self.host = urllib.parse.urlparse(server).netloc
        self.context = ssl.create_default_context(cafile=str(authority))
        self.headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def create(self, path, objects):
        def some(part):
            connection = http.client.HTTPSConnection(self.host, context=self.context)
            for one in part:
                connection.request("POST", path, json.dumps(one), self.headers)
                answer = connection.getresponse()
                body = answer.read()
                if answer.status != 201:
                    raise SystemExit(f"lab.py: {answer.status} {body[:300]}")
            connection.close()

        with concurrent.futures.ThreadPoolExecutor(CONNECTIONS) as pool:
            list(pool.map(some, [objects[i::CONNECTIONS] for i in range(CONNECTIONS)]))


def node(i):
    amounts = {"cpu": "192", "memory": "2048Gi", "pods": "250", "nvidia.com/gpu": "8"}
    return {
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": f"node-{i}", "labels": {
            "kubernetes.io/hostname": f"node-{i}", "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
            "fabric.topograph.run/tier-0": f"leaf-{i // 32}", "fabric.topograph.run/tier-1": f"spine-{i // 256}"}},
        "status": {"capacity": amounts, "allocatable": amounts,
                   "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "ready"}]},
    }


def pod(i):
    return {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"p-{i}"},
        "spec": {"schedulerName": "nobody", "containers": [{
            "name": "c", "image": "busybox", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]},
    }


class Lab:
    name = "lab"

    def __init__(self, folder):
        self.folder = folder

    def start(self, nodes):
        subprocess.run([MUSTER, "lab", "up", "--folder", str(self.folder), "--nodes", f"{nodes}x8"],
                       check=True, capture_output=True)
        self.kubeconfig = self.folder / "kubeconfig"
        self.client = Client(self.kubeconfig, self.folder)

    def ids(self):
        return [int((self.folder / "process").read_text())]

    def stop(self):
        subprocess.run([MUSTER, "lab", "reset", "--folder", str(self.folder)], check=True, capture_output=True)


class Real:
    name = "real"

    def __init__(self, folder):
        self.folder = folder
        self.kwok = None

    def start(self, nodes):
        subprocess.run([ROOT / "tools/kube/start", self.folder], check=True, capture_output=True)
        self.kubeconfig = self.folder / "kubeconfig"
        self.client = Client(self.kubeconfig, self.folder)
        if (KUBE / "kwok").exists():
            with open(self.folder / "kwok.log", "wb") as log:
                self.kwok = subprocess.Popen(
                    [KUBE / "kwok", "--kubeconfig", self.kubeconfig, "--config", ROOT / "tools/kube/stages.yaml",
                     "--manage-all-nodes=true", "--cidr", "10.0.0.0/8", "--node-lease-duration-seconds", "0"],
                    stdout=log, stderr=log)
        self.client.create("/api/v1/nodes", [node(i) for i in range(nodes)])

    def ids(self):
        own = [int((self.folder / f"{name}.pid").read_text()) for name in ("etcd", "kube-apiserver")]
        return own + ([self.kwok.pid] if self.kwok else [])

    def stop(self):
        if self.kwok:
            self.kwok.terminate()
            self.kwok.wait()
        subprocess.run([ROOT / "tools/kube/stop", self.folder], check=True)


def measure(side, nodes, pods):
    folder = pathlib.Path(tempfile.mkdtemp())
    at = side(folder)
    kubectl = [str(KUBE / "kubectl"), "--kubeconfig", str(folder / "kubeconfig")]
    row = {}
    try:
        began = time.monotonic()
        at.start(nodes)
        listed = subprocess.run([*kubectl, "get", "nodes", "--no-headers"], check=True, capture_output=True, text=True)
        row["first answer, s"] = time.monotonic() - began
        if listed.stdout.count("\n") != nodes:
            raise SystemExit(f"lab.py: {listed.stdout.count(chr(10))} nodes were listed, expected {nodes}")
        time.sleep(3)  # what goes on behind the first answer
        row["start, CPU s"], row["memory, MB"] = process_cost(at.ids())
        times, before = [], process_cost(at.ids())[0]
        for _ in range(5):
            began = time.monotonic()
            subprocess.run([*kubectl, "get", "nodes"], check=True, stdout=subprocess.DEVNULL)
            times.append(time.monotonic() - began)
        row["kubectl get nodes, s"] = statistics.median(times)
        row["kubectl get nodes, server's CPU s"] = (process_cost(at.ids())[0] - before) / len(times)
        subprocess.run([*kubectl, "create", "serviceaccount", "default"], capture_output=True)
        began, before = time.monotonic(), process_cost(at.ids())[0]
        at.client.create("/api/v1/namespaces/default/pods", [pod(i) for i in range(pods)])
        row[f"{pods} pods created, s"] = time.monotonic() - began
        row[f"{pods} pods created, CPU s"] = process_cost(at.ids())[0] - before
        row["memory at the end, MB"] = process_cost(at.ids())[1]
    finally:
        at.stop()
        shutil.rmtree(folder, ignore_errors=True)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sizes", default="2,12500")
    parser.add_argument("--pods", type=int, default=1000)
    options = parser.parse_args()
    if not all((KUBE / name).exists() for name in ("kubectl", "etcd", "kube-apiserver")):
        raise SystemExit(f"lab.py: no kubectl, etcd or kube-apiserver in {KUBE}; run tools/kube/build")
    has_kwok = (KUBE / "kwok").exists()
    results = []
    for nodes in map(int, options.sizes.split(",")):
        rounds = {"lab": [], "real": []}
        for _ in range(options.rounds):
            for side in (Lab, Real):
                rounds[side.name].append(measure(side, nodes, options.pods))
                print(nodes, side.name, json.dumps(rounds[side.name][-1]), flush=True)
        for what in rounds["lab"][0]:
            lab, real = (statistics.median(row[what] for row in rounds[name]) for name in ("lab", "real"))
            results.append({"nodes": nodes, "what": what, "lab": lab, "real": real, "ratio": real / lab if lab else None,
                            "rounds": {name: [row[what] for row in rows] for name, rows in rounds.items()}})
    path = ROOT / "bench/results" / f"{os.environ.get('MUSTER_BENCH_DATE') or time.strftime('%Y-%m-%d')}-lab.json"
    path.write_text(json.dumps({
        "commit": os.environ.get("MUSTER_BENCH_COMMIT"), "cpu": os.environ.get("MUSTER_BENCH_CPU"),
        "rounds": options.rounds, "with_kwok": has_kwok, "results": results}, indent=1) + "\n")
    print("| nodes | what | lab | API server, etcd" + (", kwok" if has_kwok else "") + " | ratio |\n|-|-|-|-|-|")
    for row in results:
        ratio = f"{row['ratio']:.2g} ×" if row["ratio"] else "–"
        print(f"| {row['nodes']:,} | {row['what']} | {row['lab']:.3g} | {row['real']:.3g} | {ratio} |")


main()
