"""What must hold whatever happens, read from the API server's own event stream and from the ledger.

A watcher follows pods and nodes and sees each state that the cluster was in. Faults are texts in `broken`.
"""
import collections
import threading
import time

from .api import wait_for
from .cluster import GPU, GROUPS
from .ledger import Holdings


def gpus_of(pod):
    amounts = [one.get("resources", {}).get("limits", {}) for one in pod["spec"]["containers"]]
    return sum(int(one.get(GPU, 0)) for one in amounts)


def is_over(pod):
    return pod.get("status", {}).get("phase") in ("Succeeded", "Failed")


def name_of(thing):
    return thing["metadata"].get("namespace", ""), thing["metadata"]["name"]


class Watcher:
    def __init__(self, api):
        self.api = api
        self.lock = threading.RLock()
        self.pods, self.nodes, self.groups = {}, {}, {}
        self.bound_to = {}  # uid → node
        self.begin()
        self.changed_at = time.monotonic()
        self.is_over = False
        self.threads = [threading.Thread(target=self.follow, args=one, daemon=True) for one in (
            ("/api/v1/pods", self.hear_pod, self.pods), ("/api/v1/nodes", self.hear_node, self.nodes),
            (GROUPS.format("").replace("/namespaces/", ""), self.hear_group, self.groups))]
        self.synced = set()
        for one in self.threads:
            one.start()
        wait_for(lambda: len(self.synced) == 3)

    def begin(self):
        """A case begins."""
        self.may_exceed = False  # True: others race for the same GPUs, so a node may be over for a while
        self.waits_for_room = True  # False: for something else, such as a level that nobody knows
        self.broken = []
        self.binds = 0

    def stop(self):
        self.is_over = True
        for one in self.threads:
            one.join()

    def follow(self, path, hear, known):
        version = None
        while not self.is_over:
            if version is None:
                status, listed = self.api.ask("GET", path)
                if status != 200:
                    time.sleep(0.05)
                    continue
                version = listed["metadata"]["resourceVersion"]
                now = {name_of(one): one for one in listed["items"]}
                for name in [name for name in known if name not in now]:
                    hear("DELETED", known[name])
                for one in now.values():
                    hear("MODIFIED", one)
                self.synced.add(path)
            try:
                for event in self.api.follow(path, version):
                    if self.is_over or event is None:
                        break
                    if event["type"] == "ERROR":
                        version = None if event["object"].get("code") == 410 else version
                        break
                    version = event["object"]["metadata"]["resourceVersion"]
                    if event["type"] != "BOOKMARK":
                        hear(event["type"], event["object"])
            except (OSError, ValueError, AttributeError):  # the server has gone
                time.sleep(0.05)

    def hear_group(self, kind, group):
        with self.lock:
            if kind == "DELETED":
                self.groups.pop(name_of(group), None)
            else:
                self.groups[name_of(group)] = group

    def hear_node(self, kind, node):
        with self.lock:
            self.changed_at = time.monotonic()
            if kind == "DELETED":
                self.nodes.pop(name_of(node), None)
            else:
                self.nodes[name_of(node)] = node

    def hear_pod(self, kind, pod):
        with self.lock:
            self.changed_at = time.monotonic()
            uid, node = pod["metadata"]["uid"], pod["spec"].get("nodeName", "")
            before = self.pods.get(name_of(pod))
            if kind == "DELETED":
                if before is not None and before["metadata"]["uid"] == uid:
                    del self.pods[name_of(pod)]
                return
            self.pods[name_of(pod)] = pod
            if not node:
                return
            first = self.bound_to.setdefault(uid, node)
            if first != node:
                self.broken.append(f"{name_of(pod)} was bound to {first}, then to {node}")
            if before is None or before["metadata"]["uid"] != uid or not before["spec"].get("nodeName"):
                self.binds += 1
                self.check_node(node)

    def check_node(self, name):
        node = self.nodes.get(("", name))
        if node is None or self.may_exceed:
            return
        held = sum(gpus_of(pod) for pod in self.pods.values() if pod["spec"].get("nodeName") == name and not is_over(pod))
        has = int(node.get("status", {}).get("capacity", {}).get(GPU, 0))
        if held > has:
            on = sorted("/".join(name_of(pod)) for pod in self.pods.values()
                        if pod["spec"].get("nodeName") == name and not is_over(pod))
            self.broken.append(f"node {name} has {has} GPUs, and {held} are bound: {on}")

    # --- at rest

    def gangs(self, of=("muster",)):
        """(namespace, gang) → its pods; a pod alone is a gang of itself."""
        out = collections.defaultdict(list)
        for pod in self.pods.values():
            if pod["spec"].get("schedulerName") in of:
                gang = pod["spec"].get("schedulingGroup", {}).get("podGroupName") or pod["metadata"]["name"]
                out[(pod["metadata"]["namespace"], gang)].append(pod)
        return out

    def minimum(self, gang):
        group = self.groups.get(gang)
        return group["spec"]["schedulingPolicy"]["gang"]["minCount"] if group else 1

    def free(self):
        out = {}
        for (_, name), node in self.nodes.items():
            is_ready = any(one["type"] == "Ready" and one["status"] == "True"
                           for one in node.get("status", {}).get("conditions", []))
            if is_ready:
                out[name] = int(node["status"].get("allocatable", {}).get(GPU, 0))
        for pod in self.pods.values():
            if pod["spec"].get("nodeName") in out and not is_over(pod):
                out[pod["spec"]["nodeName"]] -= gpus_of(pod)
        return out

    def at_rest(self):
        """What does not hold now, and must once nothing changes any more."""
        wrong = []
        with self.lock:
            free = self.free()
            for gang, pods in sorted(self.gangs().items()):
                live = [pod for pod in pods if not is_over(pod)]
                bound = [pod for pod in live if pod["spec"].get("nodeName")]
                waiting = [pod for pod in live if not pod["spec"].get("nodeName")]
                done = len(pods) - len(live)
                minimum = self.minimum(gang)
                if bound and len(bound) + done < minimum:
                    wrong.append(f"gang {'/'.join(gang)} runs with {len(bound)} of at least {minimum}")
                if not bound and waiting and len(waiting) + done >= minimum:
                    need = gpus_of(waiting[0])
                    if need and self.waits_for_room and sum(max(0, one) // need for one in free.values()) >= minimum - done:
                        wrong.append(f"gang {'/'.join(gang)} waits, and there is room for {minimum} × {need}: {free}")
                    says = [one.get("message") for pod in waiting for one in pod.get("status", {}).get("conditions", [])
                            if one["type"] == "PodScheduled" and one["status"] == "False"]
                    if len(says) < len(waiting) or not all(says):
                        wrong.append(f"gang {'/'.join(gang)} waits, and {len(waiting) - len(says)} of its pods do not say why")
        return wrong

    def workload(self, gang):
        """As the ledger names it: parts of a composite are one."""
        group = self.groups.get(gang)
        return gang[0], (group and group["spec"].get("parentCompositePodGroupName")) or gang[1]

    def held(self):
        """(workload, node) → how many pods, by the API server."""
        out = collections.Counter()
        with self.lock:
            for gang, pods in self.gangs(("muster", "other", "default-scheduler")).items():
                for pod in pods:
                    # What ran on a node that is gone is nobody's.
                    if pod["spec"].get("nodeName") and not is_over(pod) and ("", pod["spec"]["nodeName"]) in self.nodes:
                        out[("/".join(self.workload(gang)), pod["spec"]["nodeName"])] += 1
        return out

    def unlike(self, scheduler):
        """How the ledger and the API server differ."""
        ledger = Holdings(scheduler.records())
        said, real = ledger.held(), self.held()
        out = [f"{name} on {node}: {said[(name, node)]} by the ledger, {real[(name, node)]} by the API server"
               for name, node in sorted(set(said) | set(real)) if said[(name, node)] != real[(name, node)]]
        return out + [f"{name}/{task} on {node} is bound and not confirmed" for name, task, node in ledger.unconfirmed()]

    def settle(self, scheduler, seconds=180):
        """What is still wrong after waiting until nothing is."""
        def wrong():
            with self.lock:
                is_quiet = time.monotonic() - self.changed_at > 0.3
            if not is_quiet:
                return ["the cluster still changes"]
            return self.at_rest() + self.unlike(scheduler)
        left = []

        def is_well():  # what is asked once more may just be about to change
            left[:] = wrong()
            return not left
        wait_for(is_well, seconds)
        return left


def claim_laws(claims, watcher, scheduler, seconds=180, with_replay=True):
    """After a case: the laws, the ledger, and that it can be decided again."""
    left = watcher.settle(scheduler, seconds)
    claims.check("at rest each gang is whole or waits with a reason, and ledger and API server say the same", not left,
                 left[:8])
    claims.check("no pod was bound twice, no node given more than it has", not watcher.broken, watcher.broken[:5])
    code, text = scheduler.verb("ledger", "verify", str(scheduler.ledger))
    claims.check("the ledger is whole", code == 0, text)
    if with_replay:
        code, text = scheduler.verb("replay", str(scheduler.ledger))
        claims.check("it is decided the same again", code == 0, text[-600:])
