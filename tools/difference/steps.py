"""What is asked: a Script is a list of steps, each one HTTP request or one call of kubectl.

Text in a path, a body or arguments may name what an earlier answer held: `save={"rv": "metadata.resourceVersion"}`
keeps a value, and `{{rv}}` stands for it. The two servers keep their own.
"""
import dataclasses
import json
import shlex

PATCHES = {
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
METADATA = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json"
METADATA_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json"


@dataclasses.dataclass
class Step:
    name: str
    method: str = ""  # empty: a call of kubectl
    path: str = ""
    body: str = ""  # of a request, or what kubectl reads
    headers: dict = dataclasses.field(default_factory=dict)
    events: int = 0  # a watch: so many lines, then we hang up; 0 is no watch, -1 until it ends
    arguments: list = dataclasses.field(default_factory=list)
    environment: dict = dataclasses.field(default_factory=dict)
    save: dict = dataclasses.field(default_factory=dict)
    only: tuple = ()  # the parts of the body that count, "spec.template"; all of them when empty
    view: object = None  # a function of the normalised body, for what both have but one has more of
    until: int = 0  # asks again, for some seconds, until the status is this one
    is_setup: bool = False  # the answer is not compared, and not counted


def text_of(body):
    return body if isinstance(body, str) else json.dumps(body)


class Script:
    """The steps of one area, in order. `space` is a namespace of its own."""

    def __init__(self, area):
        self.area = area
        self.steps = []
        self.names = {}

    def add(self, label, **fields):
        count = self.names[label] = self.names.get(label, 0) + 1
        name = f"{self.area}: {label}" + (f" ({count})" if count > 1 else "")
        step = Step(name=name, **fields)
        self.steps.append(step)
        return step

    def call(self, method, path, body="", label="", headers=None, **fields):
        headers = dict(headers or {})
        if body != "" and "Content-Type" not in headers:
            headers["Content-Type"] = "application/json"
        return self.add(label or f"{method} {path}", method=method, path=path, body=text_of(body), headers=headers, **fields)

    def get(self, path, label="", accept="", **fields):
        return self.call("GET", path, label=label, headers={"Accept": accept} if accept else {}, **fields)

    def table(self, path, label="", **fields):
        return self.get(path, label or f"table of {path}", TABLE, **fields)

    def post(self, path, body, label="", **fields):
        return self.call("POST", path, body, label, **fields)

    def put(self, path, body, label="", **fields):
        return self.call("PUT", path, body, label, **fields)

    def patch(self, kind, path, body, label="", **fields):
        return self.call("PATCH", path, body, label or f"{kind} patch of {path}",
                         headers={"Content-Type": PATCHES[kind]}, **fields)

    def apply(self, path, body, manager="one", force=False, label="", **fields):
        query = f"fieldManager={manager}" + ("&force=true" if force else "")
        return self.patch("apply", f"{path}{'&' if '?' in path else '?'}{query}", body,
                          label or f"apply by {manager} to {path}", **fields)

    def delete(self, path, body="", label="", **fields):
        return self.call("DELETE", path, body, label, **fields)

    def watch(self, path, events, label="", accept="", **fields):
        return self.call("GET", path, label=label or f"watch {path}", events=events,
                         headers={"Accept": accept} if accept else {}, **fields)

    def kubectl(self, line, body="", label="", **fields):
        arguments = line if isinstance(line, list) else shlex.split(line)
        shown = line if isinstance(line, str) else shlex.join(line)
        return self.add(label or f"kubectl {shown}", arguments=arguments, body=text_of(body) if body != "" else "", **fields)

    def namespace(self, name):
        self.post("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}},
                  f"namespace {name}", is_setup=True)


def thing(api_version, kind, name, /, namespace="", labels=None, annotations=None, metadata=None, **fields):
    """An object of the API."""
    own = {"name": name} if name else {}
    if namespace:
        own["namespace"] = namespace
    if labels:
        own["labels"] = labels
    if annotations:
        own["annotations"] = annotations
    own.update(metadata or {})
    return {"apiVersion": api_version, "kind": kind, "metadata": own, **fields}
