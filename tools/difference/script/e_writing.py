"""Patches, server-side apply, deletion, finalizers, subresources."""
from ..steps import METADATA, TABLE, Script, thing
from .b_kinds import POD, SELECTOR, TEMPLATE

HOME = "writing"
CORE = f"/api/v1/namespaces/{HOME}"
MAPS, PODS = f"{CORE}/configmaps", f"{CORE}/pods"
DEPLOYMENTS = f"/apis/apps/v1/namespaces/{HOME}/deployments"
GADGETS = f"/apis/example.com/v1/namespaces/{HOME}/gadgets"
JOBS = f"/apis/batch/v1/namespaces/{HOME}/jobs"


def deployment(name, **fields):
    return thing("apps/v1", "Deployment", name, namespace=HOME, spec={"selector": SELECTOR, "template": TEMPLATE, **fields})


def patches():
    s = Script("patches")
    s.namespace(HOME)
    s.post(MAPS, thing("v1", "ConfigMap", "m", labels={"a": "1", "b": "2"}, data={"x": "1"}, annotations={"y/z": "2", "t": "3"}), is_setup=True)
    m = f"{MAPS}/m"
    for what, operations in {
        "add": [{"op": "add", "path": "/data/new", "value": "n"}], "replace": [{"op": "replace", "path": "/data/x", "value": "9"}],
        "remove": [{"op": "remove", "path": "/data/new"}], "escapes": [{"op": "replace", "path": "/metadata/annotations/y~1z", "value": "s"}], "bad escape": [{"op": "replace", "path": "/metadata/annotations/y~2z", "value": "t"}],
        "test that holds": [{"op": "test", "path": "/data/x", "value": "9"}], "test that fails": [{"op": "test", "path": "/data/x", "value": "8"}],
        "test of nothing": [{"op": "test", "path": "/data/none", "value": "8"}], "test for null": [{"op": "test", "path": "/data/none", "value": None}],
        "replace of nothing": [{"op": "replace", "path": "/data/none", "value": "1"}], "remove of nothing": [{"op": "remove", "path": "/data/none"}],
        "add into nothing": [{"op": "add", "path": "/none/deep", "value": "1"}], "move": [{"op": "move", "from": "/data/x", "path": "/data/moved"}],
        "copy": [{"op": "copy", "from": "/data/moved", "path": "/data/x"}], "move of nothing": [{"op": "move", "from": "/data/none", "path": "/data/b"}],
        "copy of nothing": [{"op": "copy", "from": "/data/none", "path": "/data/b"}], "unknown op": [{"op": "cut", "path": "/data/x"}], "no op": [{"path": "/data/x", "value": 1}],
        "no path": [{"op": "add", "value": 1}], "no value": [{"op": "add", "path": "/data/x"}], "bad pointer": [{"op": "add", "path": "data/x", "value": "1"}],
        "wrong type": [{"op": "replace", "path": "/data/x", "value": 5}], "the whole": [{"op": "replace", "path": "", "value": {"kind": "Pod"}}], "nothing": [],
        "the name": [{"op": "replace", "path": "/metadata/name", "value": "q"}], "labels away": [{"op": "remove", "path": "/metadata/labels"}],
        "append to no list": [{"op": "add", "path": "/data/-", "value": "x"}], "unknown field": [{"op": "add", "path": "/nothing", "value": 1}],
        "null": [{"op": "add", "path": "/data/x", "value": None}], "finalizer": [{"op": "add", "path": "/metadata/finalizers", "value": ["bad one"]}],
        "a version that is old": [{"op": "replace", "path": "/metadata/resourceVersion", "value": "1"}],
    }.items():
        s.patch("json", m, operations, f"json: {what}")
    for what, patch in {
        "add and remove": {"data": {"a": "1", "x": None}}, "null for a map": {"data": None}, "map for nothing": {"data": {"k": "v"}}, "wrong type": {"data": {"k": 1}}, "unknown field": {"nothing": 1},
        "text for map": {"data": "x"}, "nothing": {}, "status of a config map": {"status": {}}, "an empty label": {"metadata": {"labels": {"e": ""}}}, "managed fields away": {"metadata": {"managedFields": []}},
        "owner": {"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u-1"}]}}, "deletion time": {"metadata": {"deletionTimestamp": "2020-01-01T00:00:00Z"}},
    }.items():
        s.patch("merge", m, patch, f"merge: {what}")
    s.patch("merge", m + "?fieldValidation=Strict", {"nothing": 1}, "merge: unknown field, strict")
    s.patch("json", m + "?fieldValidation=Strict", [{"op": "add", "path": "/nothing", "value": 1}], "json: unknown field, strict")
    s.patch("merge", m + "?dryRun=All", {"data": {"dry": "1"}}, "merge: dry run")
    s.patch("merge", m + "?fieldManager=me", {"data": {"mine": "1"}}, "merge: by a manager")
    s.get(m, "what has become of it")
    s.post(DEPLOYMENTS, deployment("d"), is_setup=True)
    d = f"{DEPLOYMENTS}/d"
    spec = lambda **fields: {"spec": {"template": {"spec": fields}}}  # noqa: E731
    for what, patch in {
        "image by name": spec(containers=[{"name": "main", "image": "busybox:2"}]), "a second container": spec(containers=[{"name": "side", "image": "side"}]),
        "env": spec(containers=[{"name": "main", "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]}]), "one env": spec(containers=[{"name": "main", "env": [{"name": "A", "value": "3"}]}]),
        "env away": spec(containers=[{"name": "main", "env": [{"name": "B", "$patch": "delete"}]}]), "args are replaced": spec(containers=[{"name": "main", "args": ["a", "b"]}]),
        "container away": spec(containers=[{"name": "side", "$patch": "delete"}]), "ports by number": spec(containers=[{"name": "main", "ports": [{"containerPort": 80}]}]),
        "another port": spec(containers=[{"name": "main", "ports": [{"containerPort": 81, "name": "b"}]}]), "volumes": spec(volumes=[{"name": "v", "emptyDir": {}}, {"name": "w", "emptyDir": {}}]),
        "volume of another kind": spec(volumes=[{"name": "v", "configMap": {"name": "c"}, "$retainKeys": ["name", "configMap"]}]), "replace a list": spec(containers=[{"$patch": "replace"}, {"name": "only", "image": "o"}]),
        "order": spec(**{"$setElementOrder/containers": [{"name": "z"}, {"name": "only"}], "containers": [{"name": "z", "image": "z"}]}), "tolerations": spec(tolerations=[{"key": "a", "operator": "Exists"}]),
        "strategy": {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}, "map replaced": {"spec": {"template": {"spec": {"nodeSelector": {"$patch": "replace", "a": "b"}}}}},
        "null": {"spec": {"template": {"spec": {"nodeSelector": None}}}}, "finalizers": {"metadata": {"finalizers": ["example.com/a"]}}, "more finalizers": {"metadata": {"finalizers": ["example.com/b"]}},
        "finalizer away": {"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.com/a", "example.com/b"]}}, "no merge key": spec(containers=[{"image": "x"}]), "list for map": {"spec": []},
        "bad directive": {"spec": {"$patch": "twist"}}, "unknown field": {"spec": {"nothing": 1}}, "wrong type": {"spec": {"replicas": "many"}}, "nothing": {},
    }.items():
        s.patch("strategic", d, patch, f"strategic: {what}")
    s.patch("strategic", m, {"data": {"s": "1"}}, "strategic: config map")
    s.post(GADGETS, thing("example.com/v1", "Gadget", "g", spec={"size": 2, "parts": [{"name": "a"}]}), is_setup=True)
    s.patch("strategic", f"{GADGETS}/g", {"spec": {"size": 3}}, "strategic: custom kind")
    s.patch("merge", f"{GADGETS}/g", {"spec": {"parts": [{"name": "b"}]}}, "merge: custom kind")
    s.patch("json", f"{GADGETS}/g", [{"op": "replace", "path": "/spec/size", "value": 12}], "json: custom kind, refused")
    s.patch("merge", f"{GADGETS}/g/status", {"status": {"phase": "Ready"}, "spec": {"size": 9}}, "merge: status of a custom kind")
    s.patch("json", f"{GADGETS}/g/status", [{"op": "add", "path": "/status/replicas", "value": 4}], "json: status of a custom kind")
    s.get(f"{GADGETS}/g", "generation of a custom kind")
    s.get(f"{GADGETS}/g/scale")
    s.patch("merge", f"{GADGETS}/g/scale", {"spec": {"replicas": 5}}, "scale of a custom kind")
    s.put(f"{GADGETS}/g", thing("example.com/v1", "Gadget", "g", spec={"size": 2}), "replace a custom kind without a version")
    return s


def applies():
    s = Script("apply")
    m = f"{MAPS}/applied"
    config = lambda **data: thing("v1", "ConfigMap", "applied", data=data)  # noqa: E731
    s.patch("apply", m, config(a="1"), "without a manager")
    s.apply(m, config(a="1", b="1"), "one", label="new")
    s.apply(m, config(a="1", b="1"), "one", label="the same again")
    s.apply(m, config(b="2"), "two", label="in conflict")
    s.apply(m, config(b="1"), "two", label="the same value")
    s.apply(m, config(b="2"), "two", force=True, label="by force")
    s.apply(m, config(a="1"), "one", label="gives up a field")
    s.apply(m, config(), "one", label="gives up all")
    s.get(m, "who owns it")
    s.patch("merge", m + "?fieldManager=three", {"data": {"c": "3"}}, "an update by another")
    s.apply(m, config(c="4"), "one", label="in conflict with an update")
    s.apply(m, config(b="9", c="4"), "one", label="in conflict with two")
    s.apply(m, thing("v1", "ConfigMap", "other"), "one", label="another name")
    s.apply(m, thing("v1", "Secret", "applied"), "one", label="another kind")
    s.apply(m, {"apiVersion": "v1", "kind": "ConfigMap"}, "one", label="no metadata")
    s.apply(m, {"metadata": {"name": "applied"}}, "one", label="no kind")
    s.apply(m, {**config(), "metadata": {"name": "applied", "managedFields": [{"manager": "x"}]}}, "one", label="with managed fields")
    s.apply(m, {**config(), "metadata": {"name": "applied", "resourceVersion": "1"}}, "one", label="with an old version")
    s.apply(m, {**config(), "metadata": {"name": "applied", "uid": "other"}}, "one", label="with another uid")
    s.apply(f"{MAPS}/none", {**thing("v1", "ConfigMap", "none"), "metadata": {"name": "none", "uid": "other"}}, "one", label="with a uid, none there")
    s.apply(m, {**config(), "nothing": 1}, "one", label="unknown field")
    s.apply(m, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: applied\ndata:\n  key: yaml\n", "yaml", label="YAML")
    s.apply(m, "{", "one", label="broken")
    s.apply(m, "[]", "one", label="a list")
    s.apply(m, config(dry="1"), "one&dryRun=All", label="dry run")
    s.apply(m, config(a=None), "one", label="null value")
    s.apply(m, {**config(), "data": {"a": 1}}, "one", label="wrong type")
    d = f"{DEPLOYMENTS}/applied"
    pod = lambda *containers: {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": list(containers)}}  # noqa: E731
    main, side = {"name": "main", "image": "m"}, {"name": "side", "image": "s"}
    s.apply(d, deployment("applied", template=pod(main, side), replicas=2), "one", label="deployment")
    s.apply(d, deployment("applied", template=pod({**main, "image": "n"})), "two", label="deployment, in conflict")
    s.apply(d, deployment("applied", template=pod({**main, "image": "n", "env": [{"name": "A", "value": "1"}]})), "two", force=True, label="deployment, by force")
    s.apply(d, deployment("applied", template=pod(side)), "one", label="deployment, a container less")
    s.apply(d, deployment("applied", template=pod(main, main)), "one", label="deployment, a container twice")
    s.apply(d, deployment("applied", template=pod({"image": "x"})), "one", label="deployment, no key")
    s.patch("merge", f"{d}/scale?fieldManager=scaler", {"spec": {"replicas": 7}}, "scale takes the field")
    s.get(d, "after the scale")
    s.apply(d, deployment("applied", template=pod(side), replicas=1), "one", label="deployment, replicas of the scaler")
    s.apply(f"{d}/status", thing("apps/v1", "Deployment", "applied", status={"replicas": 3}), "status", label="status of a deployment")
    s.apply(f"{d}/status", thing("apps/v1", "Deployment", "none", status={"replicas": 3}), "status", label="status under another name")
    s.apply(f"{CORE}/services/applied", thing("v1", "Service", "applied", spec={"ports": [{"port": 80, "name": "a"}, {"port": 80, "protocol": "UDP", "name": "b"}], "selector": {"a": "b"}}), "one", label="service")
    s.apply(f"{CORE}/services/applied", thing("v1", "Service", "applied", spec={"ports": [{"port": 81, "name": "c"}]}), "two", label="service, one more port")
    s.apply(f"{GADGETS}/applied", thing("example.com/v1", "Gadget", "applied", spec={"size": 1, "parts": [{"name": "a", "count": 1}], "tags": ["x"]}), "one", label="custom kind")
    s.apply(f"{GADGETS}/applied", thing("example.com/v1", "Gadget", "applied", spec={"parts": [{"name": "a", "count": 2}, {"name": "b"}], "tags": ["y"]}), "two", label="custom kind, in conflict")
    s.apply(f"{GADGETS}/applied", thing("example.com/v1", "Gadget", "applied", spec={"parts": [{"name": "b"}], "tags": ["y"]}), "two", label="custom kind, another")
    s.apply(f"{GADGETS}/applied", thing("example.com/v1", "Gadget", "applied", spec={"nothing": 1}), "two", label="custom kind, unknown field")
    s.apply(f"{GADGETS}/applied", thing("example.com/v1", "Gadget", "applied", spec={"tags": ["y", "y"]}), "two", label="custom kind, tag twice")
    s.apply(f"{GADGETS}/applied-2", thing("example.com/v1", "Gadget", "applied-2", spec={}), "two", label="custom kind, invalid")
    s.apply("/api/v1/nodes/applied", thing("v1", "Node", "applied", spec={"taints": [{"key": "a", "effect": "NoSchedule"}]}), "one", label="node")
    s.apply("/api/v1/nodes/applied", thing("v1", "Node", "applied", labels={"a": "b"}), "two", label="node, a label")
    s.apply(f"{PODS}/applied", thing("v1", "Pod", "applied", spec=POD), "one", label="pod")
    s.apply(f"{PODS}/applied", thing("v1", "Pod", "applied", spec={"containers": [{"name": "main", "image": "other"}]}), "one", label="pod, another image")
    s.apply(f"{PODS}/applied/status", thing("v1", "Pod", "applied", status={"conditions": [{"type": "Ready", "status": "True"}]}), "kubelet", label="pod, a condition")
    s.get(f"{PODS}/applied", "pod, who owns it")
    return s


def deletions():
    s = Script("deletion")
    new = lambda name, **metadata: s.post(MAPS, thing("v1", "ConfigMap", name, labels={"gone": "soon"}, metadata=metadata), is_setup=True,  # noqa: E731
                                          save={"rv": "metadata.resourceVersion", "uid": "metadata.uid"})
    options = lambda **fields: {"apiVersion": "v1", "kind": "DeleteOptions", **fields}  # noqa: E731
    new("d1")
    s.delete(f"{MAPS}/d1", options(preconditions={"uid": "other"}), "another uid")
    s.delete(f"{MAPS}/d1", options(preconditions={"resourceVersion": "1"}), "another version")
    s.delete(f"{MAPS}/d1", options(propagationPolicy="Sometimes"), "bad policy")
    s.delete(f"{MAPS}/d1", options(propagationPolicy="Foreground", orphanDependents=True), "two policies")
    s.delete(f"{MAPS}/d1?gracePeriodSeconds=x", label="bad grace")
    s.delete(f"{MAPS}/d1", options(gracePeriodSeconds=-1), "negative grace")
    s.delete(f"{MAPS}/d1", options(nothing=1), "unknown option")
    s.delete(f"{MAPS}/d1", options(dryRun=["All"]), "dry run in the body")
    s.delete(f"{MAPS}/d1", options(dryRun=["Some"]), "bad dry run in the body")
    s.delete(f"{MAPS}/d1", options(preconditions={"uid": "{{uid}}", "resourceVersion": "{{rv}}"}), "preconditions that hold")
    new("d2")
    s.delete(f"{MAPS}/d2", options(propagationPolicy="Foreground"), "foreground")
    s.get(f"{MAPS}/d2", "foreground, still there")
    s.patch("merge", f"{MAPS}/d2", {"metadata": {"finalizers": ["foregroundDeletion", "example.com/late"]}}, "a new finalizer while it leaves")
    s.patch("merge", f"{MAPS}/d2", {"data": {"a": "1"}}, "a change while it leaves")
    s.delete(f"{MAPS}/d2", label="again while it leaves")
    s.patch("json", f"{MAPS}/d2", [{"op": "remove", "path": "/metadata/finalizers"}], "the last finalizer away")
    s.get(f"{MAPS}/d2", "gone")
    new("d3", finalizers=["example.com/hold"])
    s.delete(f"{MAPS}/d3", options(propagationPolicy="Orphan"), "orphan")
    s.put(f"{MAPS}/d3", thing("v1", "ConfigMap", "d3"), "replaced without finalizers")
    s.get(f"{MAPS}/d3", "gone too")
    new("d4", finalizers=["example.com/hold"])
    s.delete(f"{MAPS}/d4?propagationPolicy=Background", label="background with a finalizer")
    s.post(MAPS, thing("v1", "ConfigMap", "d4"), "create what leaves")
    s.table(f"{MAPS}/d4", "table of what leaves")
    new("d5")
    s.call("DELETE", f"{MAPS}/d5", label="as a table", headers={"Accept": TABLE})
    new("d6")
    s.call("DELETE", f"{MAPS}/d6", label="as metadata", headers={"Accept": METADATA})
    new("d7"), new("d8")
    s.delete(f"{MAPS}?labelSelector=gone=soon&dryRun=All", label="many, dry run", only=("kind", "items"), view=lambda body: [len(body.get("items") or []), body.get("kind")])
    s.delete(f"{MAPS}?labelSelector=gone=soon", label="many")
    s.delete(f"{MAPS}?labelSelector=gone=soon", label="many again")
    s.delete(f"{MAPS}?labelSelector=a b", label="many, bad selector")
    s.delete(f"{MAPS}?fieldSelector=metadata.name=none", options(), "many, none of that name")
    s.post(PODS, thing("v1", "Pod", "p1", spec=POD), is_setup=True)
    s.delete(f"{PODS}/p1", label="a pod without a node")
    s.post(PODS, thing("v1", "Pod", "p2", spec={**POD, "nodeName": "n"}), is_setup=True)
    s.delete(f"{PODS}/p2", label="a pod on a node")
    s.get(f"{PODS}/p2", "a pod that leaves")
    s.delete(f"{PODS}/p2?gracePeriodSeconds=50", label="a longer grace")
    s.delete(f"{PODS}/p2?gracePeriodSeconds=5", label="a shorter grace")
    s.delete(f"{PODS}/p2?gracePeriodSeconds=0", label="no grace")
    s.get(f"{PODS}/p2", "a pod that is gone")
    s.post(PODS, thing("v1", "Pod", "p3", spec={**POD, "nodeName": "n", "terminationGracePeriodSeconds": 0}), is_setup=True)
    s.delete(f"{PODS}/p3", label="a pod of no grace")
    s.post(DEPLOYMENTS, deployment("gone"), is_setup=True)
    s.delete(f"{DEPLOYMENTS}/gone", label="a deployment")
    s.post(JOBS, thing("batch/v1", "Job", "gone", spec={"template": {"spec": {**POD, "restartPolicy": "Never"}}}), is_setup=True)
    s.delete(f"{JOBS}/gone", label="a job, whose pods stay by default")
    s.get(f"{JOBS}/gone", "the job")
    s.post("/api/v1/namespaces", thing("v1", "Namespace", "leaving"), is_setup=True)
    s.delete("/api/v1/namespaces/leaving", label="a namespace")
    s.get("/api/v1/namespaces/leaving", "a namespace that leaves")
    s.post("/api/v1/namespaces/leaving/configmaps", thing("v1", "ConfigMap", "late"), "create in what leaves")
    s.delete("/api/v1/namespaces/leaving", label="a namespace again")
    s.put("/api/v1/namespaces/leaving/finalize", thing("v1", "Namespace", "leaving", spec={"finalizers": []}), "finalize a namespace")
    s.get("/api/v1/namespaces/leaving", "a namespace that has gone")
    s.delete("/api/v1/namespaces/default", label="the default namespace")
    s.delete("/api/v1/namespaces/kube-system", label="the system's namespace")
    s.delete("/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical", label="a priority class of the system")
    s.post(MAPS, thing("v1", "ConfigMap", "owned", metadata={"ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "u", "blockOwnerDeletion": True}]}), "owned by what is not there")
    return s


def subresources():
    s = Script("subresources")
    s.post(PODS, thing("v1", "Pod", "s1", spec=POD), is_setup=True, save={"uid": "metadata.uid"})
    pod = f"{PODS}/s1"
    binding = lambda node, **fields: {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "s1", **fields}, "target": {"kind": "Node", "name": node}}  # noqa: E731
    s.post(f"{pod}/binding", binding("", ), "bind to nothing")
    s.post(f"{pod}/binding", {**binding("n"), "target": {"kind": "Pod", "name": "n"}}, "bind to a pod")
    s.post(f"{pod}/binding", {**binding("n"), "metadata": {"name": "other"}}, "bind another name")
    s.post(f"{pod}/binding", binding("n", uid="other"), "bind another uid")
    s.post(f"{pod}/binding?dryRun=All", binding("n"), "bind, dry run")
    s.post(f"{pod}/binding", binding("n", annotations={"a": "b"}), "bind")
    s.post(f"{pod}/binding", binding("m"), "bind again")
    s.post(f"{PODS}/none/binding", {**binding("m"), "metadata": {"name": "none"}}, "bind none")
    s.get(pod, "a bound pod")
    s.post(PODS, thing("v1", "Pod", "gated", spec={**POD, "schedulingGates": [{"name": "a"}]}), is_setup=True)
    s.post(f"{PODS}/gated/binding", {**binding("n"), "metadata": {"name": "gated"}}, "bind a gated pod")
    s.put(f"{pod}/status", thing("v1", "Pod", "s1", labels={"no": "way"}, spec={"containers": []}, status={"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}), "status by replacing")
    s.patch("strategic", f"{pod}/status", {"status": {"conditions": [{"type": "PodScheduled", "status": "True"}], "containerStatuses": [
        {"name": "main", "ready": True, "restartCount": 2, "image": "busybox", "imageID": "", "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}}]}}, "status by a strategic patch")
    s.patch("merge", f"{pod}/status", {"status": {"phase": "Nonsense"}}, "status with a bad phase")
    s.patch("merge", f"{pod}/status", {"metadata": {"labels": {"via": "status"}, "annotations": {"via": "status"}}}, "labels by the status")
    s.patch("merge", pod, {"status": {"phase": "Failed"}}, "status by the object")
    s.get(f"{pod}/status", "get of a status")
    s.table(pod, "table of a running pod")
    s.get(f"{pod}/status", "status as a table", TABLE)
    s.post(PODS + "/s1/eviction", {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "s1"}, "deleteOptions": {"dryRun": ["All"]}}, "evict, dry run")
    s.post(PODS + "/none/eviction", {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "none"}}, "evict none")
    s.post(PODS + "/s1/eviction", {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "other"}}, "evict another name")
    s.post(PODS, thing("v1", "Pod", "guarded", labels={"guard": "yes"}, spec=POD), is_setup=True)
    s.patch("merge", f"{PODS}/guarded/status", {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}, is_setup=True)
    s.post(f"/apis/policy/v1/namespaces/{HOME}/poddisruptionbudgets", thing("policy/v1", "PodDisruptionBudget", "guard", spec={"minAvailable": 1, "selector": {"matchLabels": {"guard": "yes"}}}), is_setup=True)
    s.post(PODS + "/guarded/eviction", {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "guarded"}}, "evict what no controller has counted")
    s.patch("merge", f"/apis/policy/v1/namespaces/{HOME}/poddisruptionbudgets/guard/status", {"status": {
        "observedGeneration": 1, "disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}}, "a budget's status")
    s.post(PODS + "/guarded/eviction", {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "guarded"}}, "evict against a budget")
    s.patch("merge", f"/apis/policy/v1/namespaces/{HOME}/poddisruptionbudgets/guard/status", {"status": {"disruptionsAllowed": 1}}, is_setup=True)
    s.post(PODS + "/guarded/eviction", {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "guarded"}}, "evict within a budget")
    s.get(f"/apis/policy/v1/namespaces/{HOME}/poddisruptionbudgets/guard", "a budget that was used")
    s.post(f"{DEPLOYMENTS}", deployment("s2", replicas=2), is_setup=True)
    d = f"{DEPLOYMENTS}/s2"
    s.get(f"{d}/scale")
    s.put(f"{d}/scale", {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "s2", "namespace": HOME}, "spec": {"replicas": 4}}, "scale")
    s.put(f"{d}/scale", {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "s2", "namespace": HOME}, "spec": {"replicas": -4}}, "scale below zero")
    s.put(f"{d}/scale", {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "s2", "namespace": HOME, "resourceVersion": "1"}, "spec": {"replicas": 4}}, "scale of an old version")
    s.patch("merge", f"{d}/scale", {"spec": {"replicas": 3}}, "scale by a patch")
    s.patch("json", f"{d}/scale", [{"op": "replace", "path": "/spec/replicas", "value": 1}], "scale by a JSON patch")
    s.get(f"{DEPLOYMENTS}/none/scale")
    s.get(f"{d}/scale", "scale as a table", TABLE)
    s.patch("merge", f"{d}/status", {"status": {"replicas": 1, "readyReplicas": 1, "availableReplicas": 1, "updatedReplicas": 1, "observedGeneration": 1}}, "a deployment's status")
    s.patch("merge", f"{d}/status", {"status": {"readyReplicas": 5}}, "a deployment's status that can't be")
    s.table(d, "table of a deployment")
    s.patch("merge", d, {"spec": {"minReadySeconds": 1}}, "generation grows with the spec")
    s.patch("merge", d, {"metadata": {"labels": {"x": "y"}}}, "generation stays with the labels")
    s.put("/api/v1/nodes/sub/status", thing("v1", "Node", "sub"), "status of no node")
    s.post("/api/v1/nodes", thing("v1", "Node", "sub"), is_setup=True)
    s.patch("json", "/api/v1/nodes/sub/status", [{"op": "add", "path": "/status/capacity", "value": {"nvidia.com/gpu": "4", "cpu": 8}}], "capacity of a node")
    s.patch("strategic", "/api/v1/nodes/sub/status", {"status": {"conditions": [{"type": "Ready", "status": "True", "reason": "Up", "message": "it is", "lastHeartbeatTime": "2026-01-01T00:00:00Z", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}, "condition of a node")
    s.table("/api/v1/nodes/sub", "table of a ready node")
    s.get(f"{pod}/log", "log of what has no kubelet", view=lambda body: None)
    j = f"{JOBS}/s3"
    s.post(JOBS, thing("batch/v1", "Job", "s3", spec={"completions": 2, "template": {"spec": {**POD, "restartPolicy": "Never"}}}), is_setup=True)
    s.patch("merge", f"{j}/status", {"status": {"startTime": "2026-01-01T00:00:00Z", "active": 1, "succeeded": 1}}, "a job's status")
    s.patch("merge", f"{j}/status", {"status": {"completionTime": "2026-01-01T00:00:00Z"}}, "a job's status that can't be")
    s.table(j, "table of a job")
    for what, body in {"may I": {"resourceAttributes": {"verb": "get", "resource": "pods"}}, "may I elsewhere": {"nonResourceAttributes": {"verb": "get", "path": "/healthz"}}, "nothing": {}, "both": {
            "resourceAttributes": {"verb": "get"}, "nonResourceAttributes": {"verb": "get", "path": "/"}}}.items():
        s.post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": body}, f"review: {what}", only=("kind", "apiVersion", "spec", "status.allowed", "code", "message", "reason", "details"))
    s.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}, "who am I", only=("kind", "apiVersion"))
    s.post("/apis/authentication.k8s.io/v1/tokenreviews", {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": "x"}}, "a strange token", only=("kind", "status.authenticated"))
    s.post("/apis/authentication.k8s.io/v1/tokenreviews", {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {}}, "no token")
    for index in range(3):
        s.post(MAPS, thing("v1", "ConfigMap", "", metadata={"generateName": "gen-"}), f"generated name {index}")
    s.post(MAPS, thing("v1", "ConfigMap", "named", metadata={"generateName": "gen-"}), "a name and a generated one")
    s.post(MAPS + "?dryRun=All", thing("v1", "ConfigMap", "", metadata={"generateName": "gen-"}), "generated name, dry run")
    return s


def scripts():
    return [patches(), applies(), deletions(), subresources()]
