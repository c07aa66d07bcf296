"""A cluster, real or of the lab, what is made in it, and a `muster scheduler` beside it."""
import http.client
import json
import os
import pathlib
import re
import signal
import subprocess

from .api import SECONDS, Api, wait_for

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = pathlib.Path(os.environ.get("MUSTER_KUBE_DIR") or ROOT / ".cache/kube/bin").resolve()
MUSTER = os.environ.get("MUSTER") or str(ROOT / "build/release/muster")
GROUPS = "/apis/scheduling.k8s.io/v1beta1/namespaces/{}/podgroups"
COMPOSITES = "/apis/scheduling.k8s.io/v1alpha3/namespaces/{}/compositepodgroups"
QUEUES = "/apis/scheduling.volcano.sh/v1beta1/queues"
GPU = "nvidia.com/gpu"


class Cluster:
    """`kind`: real or lab. One server for all cases; what is in it is removed after each."""

    def __init__(self, kind, folder):
        self.kind = kind
        self.folder = pathlib.Path(folder)
        if kind == "real":
            self.home = self.folder / "real"
            subprocess.run([ROOT / "tools/kube/start", self.home], check=True)
        else:
            self.home = self.folder / "lab"
            subprocess.run([MUSTER, "lab", "up", "--folder", self.home, "--nodes", "1x1", "--scheduler", "none"],
                           check=True, stdout=subprocess.DEVNULL)
        self.api = Api(self.home / "kubeconfig")
        if kind == "real":
            self.define("queues", "Queue", "Cluster")
        self.clear()

    def stop(self):
        if self.kind == "real":
            self.resume()
            subprocess.run([ROOT / "tools/kube/stop", self.home], check=False)
        else:
            subprocess.run([MUSTER, "lab", "reset", "--folder", self.home], check=False, stdout=subprocess.DEVNULL)

    def define(self, plural, kind, scope):
        """As much of Volcano's kind as a scheduler needs; the lab has them."""
        schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
        version = {"name": "v1beta1", "served": True, "storage": True, "subresources": {"status": {}}, "schema": schema}
        group = "scheduling.volcano.sh"
        names = {"kind": kind, "listKind": f"{kind}List", "plural": plural}
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        self.api.create(path, {
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{group}"},
            "spec": {"group": group, "scope": scope, "names": names, "versions": [version]}})
        wait_for(lambda: self.api.ask("GET", QUEUES)[0] == 200)

    # --- the server's processes

    def pid(self, name):
        return int((self.home / f"{name}.pid").read_text())

    def words(self, name):
        return (pathlib.Path("/proc") / str(self.pid(name)) / "cmdline").read_text().split("\0")[:-1]

    def send(self, name, number):
        os.kill(self.pid(name), number)

    def resume(self):
        for name in ("etcd", "kube-apiserver"):
            try:
                self.send(name, signal.SIGCONT)
            except (OSError, ValueError):
                pass

    def kill_and_restart(self, name, number=signal.SIGKILL):
        """The same program on the same ports and data."""
        words, pid = self.words(name), self.pid(name)
        os.kill(pid, number)
        wait_for(lambda: not is_alive(pid))
        # Somebody may have its port just now: then it ends at once.
        for _ in range(20):
            with open(self.home / f"{name}.log", "ab") as log:
                process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
            (self.home / f"{name}.pid").write_text(f"{process.pid}\n")
            try:
                process.wait(1)
            except subprocess.TimeoutExpired:
                return

    def is_ready(self):
        path = "/readyz"
        return self.api.ask("GET", path)[0] == 200 or self.api.ask("GET", "/api/v1/namespaces/default")[0] == 200

    # --- objects

    def clear(self):
        """Nothing is left that a scheduler looks at."""
        api = self.api
        pods = [pod for pod in api.items("/api/v1/pods")]
        for pod in pods:
            api.delete(path_of(pod))
        for path in (GROUPS.format("").replace("/namespaces/", ""), COMPOSITES.format("").replace("/namespaces/", "")):
            for group in api.items(path) if api.ask("GET", path)[0] == 200 else []:
                remove(api, path_of(group))
        for queue in api.items(QUEUES):
            api.ask("DELETE", f"{QUEUES}/{queue['metadata']['name']}")
        for node in api.items("/api/v1/nodes"):
            api.delete(path_of(node))
        wait_for(lambda: not api.items("/api/v1/pods") and not api.items("/api/v1/nodes"))

    def namespace(self, name):
        self.api.create("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        return name

    def node(self, name, gpus, cpu="64", labels=None):
        """As a kubelet would write it."""
        named = {"kubernetes.io/hostname": name, "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"} | (labels or {})
        self.api.create("/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": named}})
        self.ready(name, True, gpus, cpu)

    def ready(self, name, is_ready, gpus=None, cpu="64"):
        since = "2026-01-01T00:00:00Z"
        condition = {"type": "Ready", "status": "True" if is_ready else "Unknown", "reason": "Script", "message": "",
                     "lastHeartbeatTime": since, "lastTransitionTime": since}
        status = {"conditions": [condition]}
        if gpus is not None:
            amounts = {"cpu": cpu, "memory": "512Gi", "pods": "110"} | ({GPU: str(gpus)} if gpus else {})
            status |= {"capacity": amounts, "allocatable": amounts}
        answer, _ = self.api.ask("PATCH", f"/api/v1/nodes/{name}/status", {"status": status}, "application/merge-patch+json")
        return answer == 200

    def queue(self, name, capability):
        self.api.create(QUEUES, {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue",
                                 "metadata": {"name": name}, "spec": {"weight": 1, "capability": capability}})

    def group(self, space, name, minimum, notes=None, composite=""):
        spec = {"schedulingPolicy": {"gang": {"minCount": minimum}}}
        if composite:
            spec |= {"parentCompositePodGroupName": composite, "workloadRef": {"workloadName": "w", "templateName": name}}
        self.api.create(GROUPS.format(space), {
            "apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup",
            "metadata": {"name": name, "namespace": space, "annotations": notes or {}}, "spec": spec})

    def composite(self, space, name, minimum):
        self.api.create(COMPOSITES.format(space), {
            "apiVersion": "scheduling.k8s.io/v1alpha3", "kind": "CompositePodGroup",
            "metadata": {"name": name, "namespace": space},
            "spec": {"schedulingPolicy": {"gang": {"minGroupCount": minimum}},
                     "workloadRef": {"workloadName": "w", "templateName": name}}})

    def pod(self, space, name, gang="", gpus=1, **more):
        self.api.create(f"/api/v1/namespaces/{space}/pods", pod_of(space, name, gang, gpus, **more))

    def gang(self, space, name, count, minimum=None, gpus=1, notes=None):
        self.group(space, name, count if minimum is None else minimum, notes)
        for i in range(count):
            self.pod(space, f"{name}-{i}", name, gpus)

    def pods(self, space, gang=""):
        pods = self.api.items(f"/api/v1/namespaces/{space}/pods")
        return [pod for pod in pods if not gang or pod["metadata"].get("labels", {}).get("gang") == gang]

    def bound(self, space, gang):
        """How many of the gang, or of pods of that name, have a node."""
        return sum(1 for pod in self.pods(space, gang) if pod["spec"].get("nodeName"))

    def nodes_of(self, space, gang):
        return sorted(pod["spec"].get("nodeName", "") for pod in self.pods(space, gang))

    def phase(self, space, name, phase):
        path = f"/api/v1/namespaces/{space}/pods/{name}/status"
        return self.api.ask("PATCH", path, {"status": {"phase": phase}}, "application/merge-patch+json")[0]

    def why(self, space, gang):
        """What the gang's first waiting pod says."""
        for pod in self.pods(space, gang):
            for condition in pod.get("status", {}).get("conditions", []):
                if condition["type"] == "PodScheduled" and condition["status"] == "False":
                    return condition.get("message", "")
        return ""

    def group_says(self, space, gang):
        status, group = self.api.ask("GET", f"{GROUPS.format(space)}/{gang}")
        conditions = group.get("status", {}).get("conditions", []) if status == 200 else []
        return " ".join(f"{one['type']}={one['status']}: {one.get('message', '')}" for one in conditions)


def pod_of(space, name, gang="", gpus=1, cpu="", notes=None, limits=None, scheduler="muster", grace=0,
           alone=False):
    amounts = ({GPU: str(gpus)} if gpus else {}) | ({"cpu": cpu} if cpu else {}) | (limits or {})
    spec = {"schedulerName": scheduler, "restartPolicy": "Never", "terminationGracePeriodSeconds": grace,
            "containers": [{"name": "worker", "image": "busybox", "command": ["sleep", "3600"],
                            "resources": {"limits": amounts}}]}
    if gang and not alone:
        spec["schedulingGroup"] = {"podGroupName": gang}
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": space, "labels": {"gang": gang or name}, "annotations": notes or {}},
            "spec": spec}


def path_of(thing):
    """Of a listed pod, group or node; lists leave the kind out."""
    meta = thing["metadata"]
    if "namespace" not in meta:
        return f"/api/v1/nodes/{meta['name']}"
    if "containers" in thing["spec"]:
        return f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
    gang = thing["spec"]["schedulingPolicy"].get("gang", {})
    base = COMPOSITES if "minGroupCount" in gang else GROUPS
    return f"{base.format(meta['namespace'])}/{meta['name']}"


def remove(api, path):
    """A group: nobody else runs who would take its finalizer off."""
    if api.delete(path):
        api.ask("PATCH", path, {"metadata": {"finalizers": None}}, "application/merge-patch+json")


def is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class Scheduler:
    """`muster scheduler` as a process: started, killed, started again on the same ledger."""

    def __init__(self, folder, kubeconfig, *flags):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.kubeconfig, self.flags = kubeconfig, flags
        self.ledger, self.log = self.folder / "ledger", self.folder / "log"
        self.process = None
        self.starts = 0

    def start(self):
        self.starts += 1
        self.begin = self.log.stat().st_size if self.log.exists() else 0
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [MUSTER, "scheduler", "--kubeconfig", str(self.kubeconfig), "--ledger", str(self.ledger),
                 "--names", "muster", *self.flags],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        return self

    def said(self):
        return self.log.read_bytes()[self.begin:].decode(errors="replace")

    def ask(self, path):
        found = re.search(r"metrics=127\.0\.0\.1:(\d+)", self.said())
        if not found or self.process is None:
            return ""
        connection = http.client.HTTPConnection("127.0.0.1", int(found.group(1)), timeout=10)
        try:
            connection.request("GET", path)
            return connection.getresponse().read().decode()
        except (OSError, http.client.HTTPException):
            return ""
        finally:
            connection.close()

    def metric(self, name):
        found = re.search(rf"^{re.escape(name)} ([-\d.e+]+)$", self.ask("/metrics"), re.MULTILINE)
        return float(found.group(1)) if found else None

    def is_ready(self):
        return self.ask("/readyz") == "ok\n"

    def kill(self, number=signal.SIGKILL):
        """Its exit code."""
        if self.process is None:
            return None
        process, self.process = self.process, None
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.send_signal(number)
        try:
            return process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return "it had to be killed"

    def stop(self):
        return self.kill(signal.SIGTERM)

    def records(self):
        done = subprocess.run([MUSTER, "ledger", "export", self.ledger], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"ledger export: {done.stderr}")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def verb(self, *words):
        done = subprocess.run([MUSTER, *words], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr
