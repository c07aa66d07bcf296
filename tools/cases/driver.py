"""Seeded random load, as users, kubelets and controllers make it, and faults that happen to a cluster.

The driver is the controller of its gangs: pods of a gang that runs or waits and lose some are made again, or the gang is
taken away whole. `calm` brings everything back to where the laws can be asked for.
"""
import random
import threading
import time

from .api import wait_for
from .cluster import GROUPS, path_of, pod_of, remove
from .laws import is_over


class Kubelets:
    """On a real server nobody runs pods: bound ones turn Running, deleted ones go."""

    def __init__(self, cluster, watcher):
        self.cluster, self.watcher, self.is_over = cluster, watcher, False
        self.thread = threading.Thread(target=self.run, daemon=True)
        if cluster.kind == "real":
            self.thread.start()

    def stop(self):
        self.is_over = True
        if self.thread.is_alive():
            self.thread.join()

    def run(self):
        while not self.is_over:
            with self.watcher.lock:
                pods = list(self.watcher.pods.values())
            for pod in pods:
                if not pod["spec"].get("nodeName"):
                    continue
                if pod["metadata"].get("deletionTimestamp"):
                    self.cluster.api.ask("DELETE", path_of(pod), {
                        "kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0,
                        "preconditions": {"uid": pod["metadata"]["uid"]}})
                elif pod.get("status", {}).get("phase") == "Pending":
                    self.cluster.api.ask("PATCH", f"{path_of(pod)}/status", {
                        "metadata": {"uid": pod["metadata"]["uid"]}, "status": {"phase": "Running"}},
                        "application/merge-patch+json")
            time.sleep(0.05)


class Driver:
    def __init__(self, cluster, watcher, space, seed, nodes=6, gpus=8, gangs_max=8):
        self.cluster, self.api, self.watcher, self.space = cluster, cluster.api, watcher, space
        self.random = random.Random(seed)
        self.gpus, self.gangs_max = gpus, gangs_max
        self.nodes = {f"n{i}": True for i in range(nodes)}  # name → is it there
        self.gangs = {}  # name → (count, minimum, gpus)
        self.made = 0
        for name in self.nodes:
            cluster.node(name, gpus)
        self.steps = [(self.add_gang, 6), (self.add_gang_slowly, 2), (self.end_gang, 3), (self.delete_gang, 2),
                      (self.delete_pod, 3), (self.delete_with_grace, 1), (self.mend_gangs, 4), (self.flap_node, 2),
                      (self.delete_node, 1), (self.add_node, 3), (self.replace_group, 1), (self.delete_space, 0.2)]

    def step(self):
        chosen = self.random.choices([one for one, _ in self.steps], [weight for _, weight in self.steps])[0]
        chosen()
        return chosen.__name__

    def path(self, pod):
        return f"/api/v1/namespaces/{self.space}/pods/{pod}"

    # --- load

    def add_gang(self, is_slow=False):
        if len(self.gangs) >= self.gangs_max:
            return
        self.made += 1
        name = f"g{self.made}"
        count = self.random.randint(1, 8)
        minimum = count if self.random.random() < 0.7 else self.random.randint(1, count)
        gpus = self.random.choice((1, 1, 2, 4, 8))
        self.gangs[name] = (count, minimum, gpus)
        if self.random.random() < 0.5 or is_slow:
            self.make_group(name)
            if not is_slow:
                self.make_pods(name)
        else:  # pods first
            self.make_pods(name)
            self.make_group(name)

    def add_gang_slowly(self):
        """Its pods come with later steps."""
        self.add_gang(is_slow=True)

    def make_group(self, name):
        self.cluster.group(self.space, name, self.gangs[name][1])

    def make_pods(self, name):
        count, _, gpus = self.gangs[name]
        for i in range(count):
            self.api.ask("POST", f"/api/v1/namespaces/{self.space}/pods", pod_of(self.space, f"{name}-{i}", name, gpus))

    def some_gang(self):
        return self.random.choice(sorted(self.gangs)) if self.gangs else None

    def pods_of(self, name):
        status, listed = self.api.ask("GET", f"/api/v1/namespaces/{self.space}/pods?labelSelector=gang%3D{name}")
        return listed["items"] if status == 200 else []

    def end_gang(self):
        """All that ran is done; the objects stay for a while."""
        name = self.some_gang()
        if not name:
            return
        pods = self.pods_of(name)
        if not pods or not all(pod["spec"].get("nodeName") for pod in pods):
            return
        for pod in pods:
            self.cluster.phase(self.space, pod["metadata"]["name"], self.random.choice(("Succeeded",) * 4 + ("Failed",)))
        self.delete_gang(name)

    def delete_gang(self, name=None):
        name = name or self.some_gang()
        if not name:
            return
        self.gangs.pop(name, None)
        things = [f"{GROUPS.format(self.space)}/{name}"] + [path_of(pod) for pod in self.pods_of(name)]
        self.random.shuffle(things)
        for path in things:
            remove(self.api, path) if "podgroups" in path else self.api.delete(path)

    def delete_pod(self, grace=0):
        name = self.some_gang()
        pods = self.pods_of(name) if name else []
        if pods:
            self.api.delete(path_of(self.random.choice(pods)), grace)

    def delete_with_grace(self):
        self.delete_pod(grace=30)

    def mend_gangs(self):
        """What a controller does: pods that are missing or failed are made again."""
        for name in list(self.gangs):
            pods = self.pods_of(name)
            if pods and all(is_over(pod) for pod in pods):
                self.delete_gang(name)
                continue
            for pod in pods:
                if pod.get("status", {}).get("phase") == "Failed":
                    self.api.delete(path_of(pod))
            if self.api.ask("GET", f"{GROUPS.format(self.space)}/{name}")[0] == 404:
                self.make_group(name)
            self.make_pods(name)

    def replace_group(self):
        """Another group of the same name, while the pods stay."""
        name = self.some_gang()
        if name:
            remove(self.api, f"{GROUPS.format(self.space)}/{name}")
            wait_for(lambda: self.api.ask("GET", f"{GROUPS.format(self.space)}/{name}")[0] == 404, 10)
            self.make_group(name)

    def delete_space(self):
        """Nobody runs who would empty a namespace that is deleted: all that is in it goes."""
        for pod in self.api.ask("GET", f"/api/v1/namespaces/{self.space}/pods")[1]["items"]:
            self.api.delete(path_of(pod))
        for name in list(self.gangs):
            self.delete_gang(name)

    # --- nodes

    def flap_node(self):
        name = self.random.choice(sorted(self.nodes))
        if self.nodes[name]:
            for is_ready in (False, True) * self.random.randint(1, 3):
                self.cluster.ready(name, is_ready)

    def delete_node(self):
        there = [name for name, is_there in self.nodes.items() if is_there]
        if len(there) < 3:
            return
        name = self.random.choice(sorted(there))
        self.nodes[name] = False
        self.api.delete(f"/api/v1/nodes/{name}")
        self.collect(name)

    def collect(self, node):
        """As the pod collector: what was on a node that is no more."""
        for pod in self.api.items(f"/api/v1/namespaces/{self.space}/pods"):
            if pod["spec"].get("nodeName") == node:
                self.api.delete(path_of(pod))

    def add_node(self):
        for name, is_there in self.nodes.items():
            if not is_there:
                self.collect(name)
                self.nodes[name] = True
                self.cluster.node(name, self.gpus)
                return

    def calm(self):
        """No more changes: gangs are whole, nodes are there and ready."""
        while not all(self.nodes.values()):
            self.add_node()
        for name in self.nodes:
            wait_for(lambda name=name: self.cluster.ready(name, True))

        def is_whole():
            self.mend_gangs()
            return all(
                sum(1 for pod in self.pods_of(name) if not is_over(pod) and not pod["metadata"].get("deletionTimestamp"))
                == self.gangs[name][0] for name in list(self.gangs))
        wait_for(is_whole)
