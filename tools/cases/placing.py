"""Cases that schedulers get wrong: who runs, who waits, and whether the reason can be read."""
import collections

from . import ledger
from .cluster import GPU, pod_of

QUEUE = "scheduling.volcano.sh/queue-name"
SPINE, LEAF = "network.topology.nvidia.com/spine", "network.topology.nvidia.com/leaf"


def racks(cluster, count, nodes, gpus):
    """a-0, a-1 …, b-0 …: each letter a leaf, all under one spine."""
    for rack in "abcdefgh"[:count]:
        for i in range(nodes):
            cluster.node(f"{rack}-{i}", gpus, labels={SPINE: "s", LEAF: rack})


def two_gangs_half_each(run):
    """T01 two gangs, half each"""
    cluster, claims, space = run.cluster, run.claims, run.space
    cluster.node("n1", 1), cluster.node("n2", 1)
    cluster.group(space, "a", 2), cluster.group(space, "b", 2)
    for pod in ("a-0", "b-0", "a-1", "b-1"):
        cluster.pod(space, pod, pod[0])
    claims.eventually("a runs whole", 2, lambda: cluster.bound(space, "a"))
    claims.eventually("b says why", "2 tasks of 1 gpu; no gpu free", lambda: cluster.group_says(space, "b"))
    claims.same("b holds nothing", 0, cluster.bound(space, "b"))
    for pod in ("a-0", "a-1"):
        cluster.phase(space, pod, "Succeeded")
    claims.eventually("b runs when a has ended", 2, lambda: cluster.bound(space, "b"))
    placed = ledger.placements(run.scheduler.records())
    claims.same("each was decided as one", [2, 2], [len(tasks) for _, _, tasks in placed])


def gang_of_gangs(run):
    """T02 gang of gangs"""
    cluster, claims, space = run.cluster, run.claims, run.space
    for i in range(4):
        cluster.node(f"n{i}", 1)
    run.watcher.waits_for_room = False  # two for c alone is no room for c and d
    cluster.composite(space, "ab", 2), cluster.composite(space, "cd", 2)
    for name, parent in (("a", "ab"), ("b", "ab"), ("c", "cd"), ("d", "cd")):
        cluster.group(space, name, 2, composite=parent)
    for name in "acbd":
        for i in range(2):
            cluster.pod(space, f"{name}-{i}", name)
    claims.eventually("a and b run", [2, 2], lambda: [cluster.bound(space, one) for one in "ab"])
    claims.eventually("c says why", ".+", lambda: cluster.why(space, "c"))
    claims.eventually("d says why", ".+", lambda: cluster.why(space, "d"))
    claims.same("c and d hold nothing", [0, 0], [cluster.bound(space, one) for one in "cd"])


def can_never_fit(run):
    """T04 can never fit"""
    cluster, claims, space = run.cluster, run.claims, run.space
    cluster.node("n1", 4), cluster.node("n2", 4)
    cluster.queue("q", {GPU: "8"})
    run.scheduler.stop()
    cluster.pod(space, "x", gpus=8, notes={QUEUE: "q"})
    cluster.pod(space, "y", gpus=4, notes={QUEUE: "q"})
    run.scheduler.start()
    claims.eventually("y runs", 1, lambda: cluster.bound(space, "y"))
    claims.eventually("x says that no node has as many", "no node has 8 gpu; largest 4", lambda: cluster.why(space, "x"))
    records = run.scheduler.records()
    at = {name: [record["sequence"] for record in records if record["kind"] == "cycle" for one in record["record"]["plan"][part]
                 if one["workload"] == f"{space}/{name}"] for name, part in (("x", "refusals"), ("y", "placements"))}
    claims.check("both in the first cycle", at["x"][:1] == at["y"][:1] != [], at)
    cluster.node("n3", 8)
    claims.eventually("4b: with a node of 8 the queue's cap is what holds it", "queue", lambda: cluster.why(space, "x"))
    claims.same("it holds nothing", 0, cluster.bound(space, "x"))
    cluster.api.delete(f"/api/v1/namespaces/{space}/pods/y")
    claims.eventually("it runs when y has gone", 1, lambda: cluster.bound(space, "x"))


def finished_group(run):
    """T05 finished group"""
    cluster, claims, space = run.cluster, run.claims, run.space
    cluster.node("n1", 0, cpu="4")
    cluster.queue("q", {"cpu": "2"})
    notes = {QUEUE: "q"}
    for name in ("j1", "j2", "j3"):
        cluster.group(space, name, 1, notes=notes)
        cluster.pod(space, f"{name}-0", name, gpus=0, cpu="2", notes=notes)
        if name == "j1":
            claims.eventually("j1 runs", 1, lambda: cluster.bound(space, "j1"))
    claims.eventually("j2 waits for the queue", "queue", lambda: cluster.why(space, "j2"))
    cluster.phase(space, "j1-0", "Succeeded")
    claims.eventually("j2 runs when j1 has ended, whose objects stay", 1, lambda: cluster.bound(space, "j2"))
    claims.same("j3 still waits", 0, cluster.bound(space, "j3"))
    cluster.api.delete(f"/api/v1/namespaces/{space}/pods/j2-0")
    claims.eventually("5b: j3 runs when the pods are gone and the group stays", 1, lambda: cluster.bound(space, "j3"))


def quota_without_a_place(run):
    """T14 quota without a place"""
    cluster, claims, space = run.cluster, run.claims, run.space
    for i in range(4):
        cluster.node(f"n{i}", 8)
        cluster.pod(space, f"filler-{i}", gpus=6)
    claims.eventually("6 of 8 are used on each node", ["n0", "n1", "n2", "n3"], lambda: sorted(
        one["spec"].get("nodeName", "") for one in cluster.pods(space) if one["metadata"]["name"].startswith("filler")))
    run.scheduler.stop()
    cluster.pod(space, "l", gpus=8)
    cluster.pod(space, "s", gpus=2)
    run.scheduler.start()
    claims.eventually("s runs", 1, lambda: cluster.bound(space, "s"))
    claims.eventually("l says why", "8 gpu free but at most 2 on a node", lambda: cluster.why(space, "l"))
    claims.same("l holds nothing", 0, cluster.bound(space, "l"))


def gang_without_a_place(run):
    """T14b a gang for which there is room in sum only"""
    cluster, claims, space = run.cluster, run.claims, run.space
    for i, gpus in enumerate((6, 2, 2, 2)):
        cluster.node(f"n{i}", gpus)
    cluster.gang(space, "g", 3, gpus=4)
    claims.eventually("the gang says why", "room for 1", lambda: cluster.group_says(space, "g"))
    cluster.pod(space, "small", gpus=2)
    claims.eventually("the job behind it runs", 1, lambda: cluster.bound(space, "small"))
    claims.same("the gang holds nothing", 0, cluster.bound(space, "g"))
    claims.same("it was decided once", 1, len(ledger.refusals(run.scheduler.records(), f"{space}/g")))
    cluster.node("n4", 8)
    cluster.node("n5", 4)
    claims.eventually("and runs when there is room", 3, lambda: cluster.bound(space, "g"))


def soft_topology(run):
    """T17 soft topology"""
    cluster, claims, space = run.cluster, run.claims, run.space
    racks(cluster, 2, 4, 8)
    for i in range(2):
        cluster.api.create(f"/api/v1/namespaces/{space}/pods", fixed(space, f"filler-{i}", f"b-{i}"))
    cluster.gang(space, "g", 4, gpus=8, notes={"muster.dev/preferred-topology": "leaf"})
    claims.eventually("all four are in one rack", ["a-0", "a-1", "a-2", "a-3"], lambda: cluster.nodes_of(space, "g"))


def soft_topology_spills(run):
    """T17b soft topology that can't be kept"""
    cluster, claims, space = run.cluster, run.claims, run.space
    racks(cluster, 2, 4, 8)
    for rack in "ab":
        cluster.api.create(f"/api/v1/namespaces/{space}/pods", fixed(space, f"filler-{rack}", f"{rack}-0"))
    cluster.gang(space, "g", 4, gpus=8, notes={"muster.dev/preferred-topology": "leaf"})
    claims.eventually("it runs all the same", 4, lambda: cluster.bound(space, "g"))
    spread = collections.Counter(node[:1] for node in cluster.nodes_of(space, "g"))
    claims.same("with three in one rack", [1, 3], sorted(spread.values()))


def unknown_constraint(run):
    """T18 unknown constraint"""
    cluster, claims, space = run.cluster, run.claims, run.space
    run.watcher.waits_for_room = False
    racks(cluster, 2, 2, 8)
    cluster.gang(space, "g", 2, gpus=8, notes={"muster.dev/required-topology": "rack"})
    claims.eventually("its group names what is known", "rack.*spine, leaf", lambda: cluster.group_says(space, "g"))
    claims.eventually("and its pods", "rack", lambda: cluster.why(space, "g"))
    claims.same("no pod is bound", 0, cluster.bound(space, "g"))


def halves(run):
    """T19 fractions in bulk"""
    cluster, claims, space = run.cluster, run.claims, run.space
    cluster.node("n1", 8)
    run.scheduler.stop()
    for i in range(16):
        cluster.pod(space, f"half-{i}", "", gpus=0, notes={"gpu-fraction": "0.5"})
    run.scheduler.start()
    claims.eventually("all 16 run", 16, lambda: sum(1 for pod in cluster.pods(space) if pod["spec"].get("nodeName")))
    placed = ledger.placements(run.scheduler.records())
    on = collections.Counter(gpu for _, _, tasks in placed for task in tasks for gpu in task["devices"]["gpus"])
    claims.same("in one pass", 1, len({sequence for sequence, _, _ in placed}))
    claims.same("two on each GPU", {gpu: 2 for gpu in range(8)}, dict(on))
    cluster.pod(space, "more", "", gpus=0, notes={"gpu-fraction": "0.1"})
    claims.eventually("a tenth more waits", ".+", lambda: cluster.why(space, "more"))


def memory_shares(run, memory, count, mib, fits, limits=None, notes=None):
    cluster, claims, space = run.cluster, run.claims, run.space
    cluster.node("n1", 1, labels={"nvidia.com/gpu.product": "GPU", "nvidia.com/gpu.memory": str(memory)})
    run.scheduler.stop()
    for i in range(count):
        cluster.pod(space, f"part-{i:02}", "", gpus=0, limits=limits, notes=notes)
    run.scheduler.start()
    running = lambda: sum(1 for pod in cluster.pods(space) if pod["spec"].get("nodeName"))  # noqa: E731
    claims.eventually(f"{fits} of {count} with {mib} MiB run on {memory} MiB", fits, running)
    waiting = lambda: [pod["metadata"]["name"] for pod in cluster.pods(space) if not pod["spec"].get("nodeName")]  # noqa: E731
    claims.eventually("the rest says why", ".+", lambda: cluster.why(space, waiting()[0]) if waiting() else "")
    claims.same("no more of them run", fits, running())


def memory_by_kai(run):
    """T19b shares by memory, in KAI's words"""
    memory_shares(run, 46068, 24, 2000, 23, notes={"gpu-memory": "2000"})


def memory_by_hami(run):
    """T19b shares by memory, in HAMi's words"""
    memory_shares(run, 46068, 24, 2000, 23, limits={"nvidia.com/gpumem": "2000"})


def halves_of_memory(run):
    """T19c three halves of a card"""
    memory_shares(run, 24576, 3, 12288, 2, limits={"nvidia.com/gpumem": "12288"})


def fixed(space, name, node):
    """Somebody else's pod, which has its node already."""
    pod = pod_of(space, name, gpus=8, scheduler="other")
    pod["spec"]["nodeName"] = node
    return pod


CASES = [two_gangs_half_each, gang_of_gangs, can_never_fit, finished_group, quota_without_a_place, gang_without_a_place,
         soft_topology, soft_topology_spills, unknown_constraint, halves, memory_by_kai, memory_by_hami, halves_of_memory]
