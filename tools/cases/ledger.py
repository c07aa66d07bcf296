"""What a ledger says who holds what: an independent fold of `muster ledger export`."""
import collections


class Holdings:
    """Of each workload its tasks: number → [node, is_confirmed]."""

    def __init__(self, records):
        self.tasks, self.uids, self.counts = {}, {}, {}
        for record in records:
            if record["kind"] == "snapshot":
                self.restore(record["record"])
            elif record["kind"] == "cycle":
                self.fold(record["record"])

    def restore(self, snapshot):
        self.tasks, self.uids, self.counts = {}, {}, {}
        for status in snapshot["workloads"]:
            spec = status["spec"]
            name = spec["name"]
            self.uids[name] = spec.get("uid", "")
            self.counts[name] = sum(group["count"] for group in spec["groups"])
            self.tasks[name] = {
                i: [task["node"], task["confirmed"]]
                for i, task in enumerate(status["tasks"]) if task["state"] in ("placed", "leaving")}

    def fold(self, cycle):
        for fact in cycle["facts"]:
            self.hear(fact)
        for placement in cycle["plan"]["placements"]:
            of = self.tasks.setdefault(placement["workload"], {})
            for task in placement["tasks"]:
                of[task["task"]] = [task["node"], False]

    def hear(self, fact):
        kind = fact["kind"]
        if kind == "workload_set":
            spec = fact["workload"]
            name, uid = spec["name"], spec.get("uid", "")
            before = self.uids.get(name, "")
            if before and uid and before != uid:
                self.tasks[name] = {}
            self.uids[name] = uid
            count = sum(group["count"] for group in spec["groups"])
            of = self.tasks.setdefault(name, {})
            self.tasks[name] = {i: task for i, task in of.items() if i < count}
        elif kind == "workload_gone":
            self.tasks.pop(fact["workload"], None)
            self.uids.pop(fact["workload"], None)
        elif kind == "task_gone":
            self.tasks.get(fact["workload"], {}).pop(fact["task"], None)
        elif kind == "task_bound":
            self.tasks.setdefault(fact["workload"], {})[fact["task"]] = [fact["node"], True]
        elif kind == "node_gone":
            for name, of in self.tasks.items():
                self.tasks[name] = {i: task for i, task in of.items() if task[0] != fact["node"]}

    def held(self):
        """(workload, node) → how many tasks."""
        out = collections.Counter()
        for name, of in self.tasks.items():
            for node, _ in of.values():
                out[(name, node)] += 1
        return out

    def unconfirmed(self):
        return sorted((name, i, task[0]) for name, of in self.tasks.items() for i, task in of.items() if not task[1])


def placements(records):
    """All that was ever placed, in order: (sequence, workload, tasks)."""
    return [(record["sequence"], placement["workload"], placement["tasks"]) for record in records
            if record["kind"] == "cycle" for placement in record["record"]["plan"]["placements"]]


def refusals(records, workload):
    return [refusal["reason"]["text"] for record in records if record["kind"] == "cycle"
            for refusal in record["record"]["plan"]["refusals"] if refusal["workload"] == workload]
