"""Faults: of the server, of the way to it, of the cluster and of the scheduler itself; the laws hold after each."""
import random
import signal
import subprocess
import threading

from . import ledger
from .api import SECONDS, wait_for
from .cluster import PROGRAMS, Scheduler, path_of
from .driver import Driver, Kubelets
from .laws import claim_laws
from .proxy import Faults, Proxy


def starts_itself(case):
    case.starts_itself = True
    return case


def only_real(case):
    case.only_real = True
    return case


def half_bound(run, count):
    """Waits for the middle of its binds, or their end: both are fair."""
    wait_for(lambda: run.watcher.binds >= count // 2, 20)


def big_gang(run, name="g", nodes=4, count=32):
    for i in range(nodes):
        run.cluster.node(f"n{i}", 8)
    run.watcher.binds = 0
    run.cluster.group(run.space, name, count)
    for i in range(count):
        run.cluster.pod(run.space, f"{name}-{i}", name)


@only_real
def server_restarts(run):
    """The API server is killed in the middle of a gang and comes back"""
    big_gang(run)
    half_bound(run, 32)
    run.cluster.kill_and_restart("kube-apiserver")
    run.claims.eventually("the server is back", True, run.cluster.is_ready)
    run.claims.eventually("the whole gang runs", 32, lambda: run.cluster.bound(run.space, "g"))
    run.cluster.gang(run.space, "later", 1, gpus=1)
    run.claims.eventually("it says that nothing is free", ".+", lambda: run.cluster.group_says(run.space, "later"))


@only_real
def store_stops(run):
    """etcd stands still in the middle of a gang, and goes on"""
    big_gang(run)
    half_bound(run, 32)
    run.cluster.send("etcd", signal.SIGSTOP)
    threading.Event().wait(3)  # as long as it stands still
    run.cluster.send("etcd", signal.SIGCONT)
    run.claims.eventually("the whole gang runs", 32, lambda: run.cluster.bound(run.space, "g"))


@only_real
def store_is_killed(run):
    """etcd is killed in the middle of a gang and starts again on its data"""
    big_gang(run)
    half_bound(run, 32)
    run.cluster.kill_and_restart("etcd")
    run.claims.eventually("the server is back", True, run.cluster.is_ready)
    run.claims.eventually("the whole gang runs", 32, lambda: run.cluster.bound(run.space, "g"))


def proxied(run):
    proxy = Proxy(run.folder, run.cluster.api, run.seed)
    run.scheduler = Scheduler(run.folder, proxy.kubeconfig)
    return proxy


def storm(run, faults, what, count=24):
    """Gangs come while each call may fail; some of them have to wait. After it all is as if nothing had been."""
    proxy, claims = proxied(run), run.claims
    try:
        proxy.faults = faults
        run.scheduler.start()
        for i in range(2):
            run.cluster.node(f"n{i}", 8)
        for i in range(6):
            run.cluster.gang(run.space, f"g{i}", 4)
        # Some call may fail again and again, and each time it is longer until the next.
        claims.eventually("four gangs of six run in the storm", 16, lambda: sum(
            run.cluster.bound(run.space, f"g{i}") for i in range(6)), seconds=5 * SECONDS)
        waiting = [f"g{i}" for i in range(6) if run.cluster.bound(run.space, f"g{i}") == 0]
        claims.same("two wait", 2, len(waiting))
        claims.check(what, any(proxy.counts.values()), proxy.counts)
        print(f"     {proxy.counts}")
        proxy.faults = Faults()
        left = run.watcher.settle(run.scheduler)
        claims.check("calm after it, and the reasons have arrived", not left, left)
        for gang in waiting:
            claims.eventually(f"{gang}'s group says why too", "no gpu free", lambda gang=gang: run.cluster.group_says(run.space, gang))
    finally:
        proxy.stop()
        run.scheduler.kill(signal.SIGTERM)
        run.scheduler = Scheduler(run.folder, run.cluster.api.kubeconfig).start()


@starts_itself
def storm_of_conflicts(run):
    """A storm of 409"""
    storm(run, Faults(conflict=0.4), "a good part was refused")


@starts_itself
def storm_of_busy(run):
    """A storm of 429 with Retry-After"""
    storm(run, Faults(busy=0.3), "a good part was refused")


@starts_itself
def storm_of_errors(run):
    """A storm of 500, 503 and 504, also for what was done"""
    storm(run, Faults(broken=0.2, wrong=0.2), "a good part was refused")


@starts_itself
def storm_of_cuts(run):
    """Connections that are reset, answers that are lost, slow or cut, watches that are cut or have gone"""
    storm(run, Faults(reset=0.1, lost=0.1, slow=0.3, cut=0.05, watch_cut=0.05, watch_gone=0.2), "a good part was cut")


@starts_itself
def silent_server(run):
    """A server that takes calls and answers none; SIGTERM meanwhile ends it"""
    proxy, claims = proxied(run), run.claims
    try:
        proxy.is_silent = True
        run.scheduler.start()
        claims.eventually("it is alive", "ok", lambda: run.scheduler.ask("/livez"))
        claims.eventually("and not ready", "not yet", lambda: run.scheduler.ask("/readyz"))
        code = run.scheduler.stop()
        claims.same("SIGTERM ends it before anything was listed", 0, code)
        proxy.is_silent = False
        run.scheduler.start()
        claims.eventually("it is ready when the server answers", True, run.scheduler.is_ready)
        run.cluster.node("n0", 8)
        run.cluster.gang(run.space, "g", 8)
        claims.eventually("and schedules", 8, lambda: run.cluster.bound(run.space, "g"))
    finally:
        proxy.stop()
        run.scheduler.kill(signal.SIGTERM)
        run.scheduler = Scheduler(run.folder, run.cluster.api.kubeconfig).start()


def kills(run):
    """The scheduler is killed at random moments in a burst of gangs"""
    dice = random.Random(run.seed)
    for i in range(4):
        run.cluster.node(f"n{i}", 8)
    for i in range(10):
        run.cluster.group(run.space, f"g{i}", 4)
    for k in range(4):
        for i in range(10):
            run.cluster.pod(run.space, f"g{i}-{k}", f"g{i}")
            if dice.random() < 0.2:
                threading.Event().wait(dice.random() * 0.05)
                run.scheduler.kill()
                run.scheduler.start()
    run.claims.check("it was killed several times", run.scheduler.starts > 3, run.scheduler.starts)
    run.claims.eventually("eight gangs run", 32, lambda: sum(run.cluster.bound(run.space, f"g{i}") for i in range(10)))


def others_bind(run):
    """Another scheduler binds pods of its own on the same nodes, and races for the same GPUs"""
    api, claims, space = run.cluster.api, run.claims, run.space
    run.watcher.may_exceed = True
    for i in range(4):
        run.cluster.node(f"n{i}", 8)
    dice = random.Random(run.seed)

    def bind_others():
        for i in range(16):
            name = f"other-{i}"
            run.cluster.pod(space, name, gpus=1, scheduler="other")
            with run.watcher.lock:
                free = [node for node, count in run.watcher.free().items() if count > 0]
            if free:
                target = {"apiVersion": "v1", "kind": "Node", "name": dice.choice(sorted(free))}
                api.ask("POST", f"/api/v1/namespaces/{space}/pods/{name}/binding", {
                    "apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": target})
    thread = threading.Thread(target=bind_others)
    thread.start()
    for i in range(8):
        run.cluster.gang(space, f"g{i}", 4)
    thread.join()
    others = sum(1 for pod in run.cluster.pods(space) if pod["spec"].get("nodeName") and pod["spec"]["schedulerName"] == "other")
    claims.check("the other one had some", others > 0, others)
    # What raced is over its node; everything else is as the cluster says.
    claims.eventually("the rest is used, by whole gangs", True, lambda: not run.watcher.at_rest())
    over = {node: free for node, free in run.watcher.free().items() if free < 0}
    said = [one for record in run.scheduler.records() if record["kind"] == "cycle" for one in record["record"]["conflicts"]]
    claims.check("what raced is on record as a conflict", bool(said) or not over, (over, said))
    for pod in run.cluster.pods(space):
        if pod["spec"]["schedulerName"] == "other":
            api.delete(path_of(pod))
    claims.eventually("when the other one has gone all gangs run", 32, lambda: sum(
        run.cluster.bound(space, f"g{i}") for i in range(8)))


def foreign_bind_of_ours(run):
    """Somebody else binds pods of a gang of ours, before it does"""
    api, claims, space = run.cluster.api, run.claims, run.space
    run.cluster.node("n0", 4), run.cluster.node("n1", 4)
    run.scheduler.process.send_signal(signal.SIGSTOP)
    run.cluster.gang(space, "g", 4)
    api.ask("POST", f"/api/v1/namespaces/{space}/pods/g-2/binding", {
        "apiVersion": "v1", "kind": "Binding", "metadata": {"name": "g-2"},
        "target": {"apiVersion": "v1", "kind": "Node", "name": "n1"}})
    run.scheduler.process.send_signal(signal.SIGCONT)
    claims.eventually("the rest of the gang is bound too", 4, lambda: run.cluster.bound(space, "g"))
    bound = ledger.Holdings(run.scheduler.records())
    claims.eventually("none is open", [], lambda: ledger.Holdings(run.scheduler.records()).unconfirmed())
    claims.check("it is on record", bound.held(), bound.held())


@only_real
def kube_scheduler_beside(run):
    """kube-scheduler itself works on the same nodes"""
    program = PROGRAMS / "kube-scheduler"
    if not program.exists():
        print("     there is none here: tools/kube/build kube-scheduler")
        return
    claims, space = run.claims, run.space
    run.watcher.may_exceed = True
    with open(run.folder / "kube-scheduler.log", "wb") as log:
        other = subprocess.Popen(
            [program, "--kubeconfig", run.cluster.api.kubeconfig, "--leader-elect=false", "--secure-port=0"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        for i in range(4):
            run.cluster.node(f"n{i}", 8)
        for i in range(6):
            run.cluster.gang(space, f"g{i}", 4)
            for k in range(2):
                run.cluster.pod(space, f"theirs-{i}-{k}", "theirs", scheduler="default-scheduler", alone=True)
        # 12 GPUs are asked of it and 24 of us: whoever comes first has all, and the other one the rest.
        claims.eventually("between them they use all 32 GPUs", 32, lambda: run.cluster.bound(space, "theirs") + sum(
            run.cluster.bound(space, f"g{i}") for i in range(6)))
        claims.eventually("and ours, in whole gangs, where there is room", [], run.watcher.at_rest)
        for pod in run.cluster.pods(space, "theirs"):
            run.cluster.api.delete(path_of(pod))
        claims.eventually("with its pods gone all of ours run", 24, lambda: sum(
            run.cluster.bound(space, f"g{i}") for i in range(6)))
    finally:
        other.terminate()
        other.wait()


def churn(run, steps=120, kill=0.04):
    """Anything is deleted at any time, nodes flap, come and go, and the scheduler is killed"""
    driver = Driver(run.cluster, run.watcher, run.space, run.seed)
    kubelets = Kubelets(run.cluster, run.watcher)
    dice = random.Random(run.seed + 1)
    try:
        for _ in range(steps):
            driver.step()
            if dice.random() < kill:
                run.scheduler.kill()
                run.scheduler.start()
        driver.calm()
        claim_laws(run.claims, run.watcher, run.scheduler)
    finally:
        kubelets.stop()


CASES = [silent_server, storm_of_conflicts, storm_of_busy, storm_of_errors, storm_of_cuts, kills, others_bind,
         foreign_bind_of_ours, churn, kube_scheduler_beside, server_restarts, store_stops, store_is_killed]
