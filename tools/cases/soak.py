"""Random load and all faults for a time, with the laws asked for again and again."""
import random
import signal
import threading
import time

from .api import wait_for
from .cluster import Scheduler
from .driver import Driver, Kubelets
from .laws import claim_laws
from .proxy import Faults, Proxy

ROUND_SECONDS = 15  # then all comes to rest, and the laws are asked for
FAULT_SECONDS = 2  # on average between two of them, beside those of the proxy

WEATHER = [
    Faults(), Faults(conflict=0.2), Faults(busy=0.2), Faults(broken=0.15, wrong=0.1), Faults(reset=0.1, lost=0.1),
    Faults(slow=0.5, cut=0.05, watch_cut=0.05, watch_gone=0.2),
    Faults(conflict=0.05, busy=0.05, broken=0.05, reset=0.03, lost=0.05, wrong=0.05, slow=0.1, watch_cut=0.02, watch_gone=0.1),
]


def case_of(seconds):
    def soak(run):
        proxy = Proxy(run.folder, run.cluster.api, run.seed)
        run.scheduler = Scheduler(run.folder, proxy.kubeconfig).start()
        driver = Driver(run.cluster, run.watcher, run.space, run.seed)
        kubelets = Kubelets(run.cluster, run.watcher)
        dice = random.Random(run.seed + 1)
        end, done = time.monotonic() + seconds, 0
        try:
            while time.monotonic() < end and not run.claims.bad:
                proxy.faults = dice.choice(WEATHER)
                done += play(run, driver, proxy, dice, min(end, time.monotonic() + ROUND_SECONDS))
                proxy.faults, proxy.is_silent = Faults(), False
                run.cluster.resume()
                driver.calm()
                print(f"   {done} steps, {run.watcher.binds} binds, {run.scheduler.starts} starts, {proxy.counts}", flush=True)
                claim_laws(run.claims, run.watcher, run.scheduler, with_replay=False)
        finally:
            kubelets.stop()
            proxy.stop()
            run.scheduler.kill(signal.SIGTERM)
            run.scheduler = Scheduler(run.folder, run.cluster.api.kubeconfig).start()
    soak.__doc__ = f"Random load and all faults for {seconds} s"
    soak.starts_itself = True
    return soak


def play(run, driver, proxy, dice, end):
    steps, next_fault = 0, 0
    while time.monotonic() < end:
        driver.step()
        steps += 1
        if time.monotonic() > next_fault:
            next_fault = time.monotonic() + dice.expovariate(1 / FAULT_SECONDS)
            break_something(run, proxy, dice)
    return steps


def break_something(run, proxy, dice):
    luck = dice.random()
    if luck < 0.4:
        run.scheduler.kill()
        run.scheduler.start()
    elif luck < 0.6:
        proxy.cut_all()
    elif luck < 0.75:
        proxy.is_silent = True
        pause(dice, 2)
        proxy.is_silent = False
    elif luck < 0.9:
        run.scheduler.process.send_signal(signal.SIGSTOP)
        pause(dice, 1)
        run.scheduler.process.send_signal(signal.SIGCONT)
    elif run.cluster.kind == "real":
        break_server(run, dice)


def pause(dice, seconds):
    threading.Event().wait(dice.random() * seconds)


def break_server(run, dice):
    """One of the server's processes is killed, or stands still for a moment."""
    name = dice.choice(("etcd", "kube-apiserver"))
    if dice.random() < 0.5:
        run.cluster.kill_and_restart(name)
    else:
        run.cluster.send(name, signal.SIGSTOP)
        pause(dice, 2)
        run.cluster.send(name, signal.SIGCONT)
    wait_for(run.cluster.is_ready)
