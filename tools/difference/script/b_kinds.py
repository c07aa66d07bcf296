"""Each kind: made with as little as it takes, so that defaults show; read, changed, listed, shown, and taken away."""
from ..steps import METADATA, METADATA_LIST, TABLE, Script, thing

POD = {"containers": [{"name": "main", "image": "busybox"}]}
TEMPLATE = {"metadata": {"labels": {"app": "x"}}, "spec": POD}
JOB_TEMPLATE = {"spec": {**POD, "restartPolicy": "Never"}}
SELECTOR = {"matchLabels": {"app": "x"}}
RICH_POD = {
    "restartPolicy": "OnFailure", "serviceAccountName": "train",
    "initContainers": [{"name": "first", "image": "busybox:1.36", "command": ["true"]},
                       {"name": "side", "image": "busybox:latest", "restartPolicy": "Always"}],
    "containers": [
        {"name": "main", "image": "registry.example/team/train@sha256:" + "0" * 64, "args": ["--fast"],
         "env": [{"name": "A", "value": "1"}, {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
                 {"name": "S", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}],
         "ports": [{"containerPort": 80, "name": "web"}, {"containerPort": 53, "protocol": "UDP"}],
         "resources": {"limits": {"nvidia.com/gpu": 1, "cpu": "0.5", "memory": "1.5Gi"}, "requests": {"cpu": "250m"}},
         "livenessProbe": {"httpGet": {"port": 80}}, "readinessProbe": {"tcpSocket": {"port": "web"}},
         "startupProbe": {"exec": {"command": ["true"]}, "periodSeconds": 3},
         "volumeMounts": [{"name": "data", "mountPath": "/data"}, {"name": "conf", "mountPath": "/conf"}]},
    ],
    "volumes": [{"name": "data", "emptyDir": {}}, {"name": "conf", "configMap": {"name": "c"}},
                {"name": "sec", "secret": {"secretName": "s"}}, {"name": "host", "hostPath": {"path": "/dev"}},
                {"name": "all", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}},
                                                          {"downwardAPI": {"items": [
                                                              {"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}}]}}]}}],
    "nodeSelector": {"gpu": "h100"}, "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
    "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}]}]}}},
    "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
                                   "labelSelector": SELECTOR}],
}
CRD = {
    "group": "example.com", "scope": "Namespaced",
    "names": {"plural": "gadgets", "kind": "Gadget", "shortNames": ["gd"], "categories": ["all"]},
    "versions": [{
        "name": "v1", "served": True, "storage": True, "subresources": {
            "status": {}, "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas",
                                    "labelSelectorPath": ".status.selector"}},
        "additionalPrinterColumns": [
            {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
            {"name": "Colour", "type": "string", "jsonPath": ".spec.colour", "priority": 1},
            {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}],
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {
            "spec": {"type": "object", "required": ["size"], "properties": {
                "size": {"type": "integer", "minimum": 1, "maximum": 9}, "colour": {"type": "string", "enum": ["red", "blue"], "default": "red"},
                "replicas": {"type": "integer", "default": 1}, "name": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 5},
                "parts": {"type": "array", "maxItems": 3, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                          "items": {"type": "object", "required": ["name"], "properties": {
                              "name": {"type": "string"}, "count": {"type": "integer", "default": 7}}}},
                "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
                "port": {"x-kubernetes-int-or-string": True},
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}},
            "status": {"type": "object", "properties": {"replicas": {"type": "integer"}, "selector": {"type": "string"}, "phase": {"type": "string"}}},
        }}}}],
}

# plural, group/version ("v1" is the core group), kind, is namespaced, fields of variants; the first is the least there can be.
KINDS = [
    ("configmaps", "v1", "ConfigMap", True, [{}, {"data": {"a": "1", "b": "2\n"}, "binaryData": {"c": "AAE="}}, {"immutable": True}]),
    ("secrets", "v1", "Secret", True, [{}, {"stringData": {"a": "x"}, "data": {"b": "eA=="}},
                                       {"type": "kubernetes.io/basic-auth", "stringData": {"username": "u", "password": "p"}}]),
    ("serviceaccounts", "v1", "ServiceAccount", True, [{}, {"automountServiceAccountToken": False, "imagePullSecrets": [{"name": "a"}]}]),
    ("services", "v1", "Service", True, [
        {"spec": {"ports": [{"port": 80}]}},
        {"spec": {"clusterIP": "None", "selector": {"app": "x"}}},
        {"spec": {"type": "ExternalName", "externalName": "example.org"}},
        {"spec": {"type": "NodePort", "selector": {"app": "x"}, "ports": [
            {"name": "a", "port": 80, "targetPort": "web", "nodePort": 30080}, {"name": "b", "port": 81, "protocol": "UDP", "nodePort": 30081}]}},
    ]),
    ("events", "v1", "Event", True, [
        {"involvedObject": {"kind": "Pod", "name": "p", "namespace": "kinds"}},
        {"involvedObject": {"kind": "Pod", "name": "p", "namespace": "kinds", "apiVersion": "v1"}, "reason": "Started", "message": "it runs",
         "type": "Normal", "count": 3, "source": {"component": "kubelet", "host": "node-0"},
         "firstTimestamp": "2026-01-01T00:00:00Z", "lastTimestamp": "2026-01-01T00:10:00Z"},
    ]),
    ("limitranges", "v1", "LimitRange", True, [{"spec": {"limits": [{"type": "Container", "max": {"cpu": "64"}, "default": {"cpu": "0.5"}}]}}]),
    ("resourcequotas", "v1", "ResourceQuota", True, [{"spec": {"hard": {"count/leases.coordination.k8s.io": 1000, "requests.nvidia.com/gpu": "8"}}},
                                                     {"spec": {"hard": {"pods": "90"}, "scopes": ["BestEffort"]}}]),
    ("pods", "v1", "Pod", True, [{"spec": POD}, {"spec": RICH_POD}, {"spec": {**POD, "hostNetwork": True, "dnsPolicy": "Default", "nodeName": "gone"}},
                                 {"spec": {"containers": [{"name": "a", "image": "b", "resources": {
                                     "limits": {"cpu": "1", "memory": "1Gi"}}}], "schedulingGates": [{"name": "example.com/wait"}]}}]),
    ("nodes", "v1", "Node", False, [{}, {"spec": {"unschedulable": True, "taints": [{"key": "a", "effect": "NoSchedule"}]},
                                         "status": {"capacity": {"cpu": "8", "nvidia.com/gpu": 4}, "conditions": [
                                             {"type": "Ready", "status": "True"}], "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
                                             "nodeInfo": {"kubeletVersion": "v1.37.2"}}}]),
    ("namespaces", "v1", "Namespace", False, [{}]),
    ("deployments", "apps/v1", "Deployment", True, [{"spec": {"selector": SELECTOR, "template": TEMPLATE}},
                                                    {"spec": {"selector": SELECTOR, "template": TEMPLATE, "strategy": {"type": "Recreate"}, "replicas": 0, "paused": True}}]),
    ("replicasets", "apps/v1", "ReplicaSet", True, [{"spec": {"selector": SELECTOR, "template": TEMPLATE}}]),
    ("statefulsets", "apps/v1", "StatefulSet", True, [
        {"spec": {"selector": SELECTOR, "template": TEMPLATE}},
        {"spec": {"selector": SELECTOR, "template": TEMPLATE, "serviceName": "s", "podManagementPolicy": "Parallel", "updateStrategy": {"type": "OnDelete"},
                  "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}]}}]),
    ("jobs", "batch/v1", "Job", True, [{"spec": {"template": JOB_TEMPLATE}},
                                       {"spec": {"template": JOB_TEMPLATE, "completions": 4, "parallelism": 2, "completionMode": "Indexed", "suspend": True}},
                                       {"spec": {"template": JOB_TEMPLATE, "parallelism": 3, "backoffLimit": 0, "ttlSecondsAfterFinished": 5, "podFailurePolicy": {
                                           "rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]}}},
                                       {"spec": {"template": {**JOB_TEMPLATE, "metadata": {"labels": {"mine": "yes"}}}, "manualSelector": True,
                                                 "selector": {"matchLabels": {"mine": "yes"}}}}]),
    ("cronjobs", "batch/v1", "CronJob", True, [{"spec": {"schedule": "*/5 * * * *", "jobTemplate": {"spec": {"template": JOB_TEMPLATE}}}},
                                               {"spec": {"schedule": "@daily", "timeZone": "Etc/UTC", "suspend": True, "concurrencyPolicy": "Forbid",
                                                         "jobTemplate": {"spec": {"template": JOB_TEMPLATE}}}}]),
    ("poddisruptionbudgets", "policy/v1", "PodDisruptionBudget", True, [{}, {"spec": {"minAvailable": 1, "selector": SELECTOR}},
                                                                        {"spec": {"maxUnavailable": "50%", "selector": {}}}]),
    ("leases", "coordination.k8s.io/v1", "Lease", True, [{}, {"spec": {"holderIdentity": "me", "leaseDurationSeconds": 15, "leaseTransitions": 2,
                                                                        "renewTime": "2026-01-01T00:00:00.123456Z"}}]),
    ("priorityclasses", "scheduling.k8s.io/v1", "PriorityClass", False, [{"value": 7}, {"value": -5, "preemptionPolicy": "Never", "description": "last"}]),
    ("podgroups", "scheduling.k8s.io/v1beta1", "PodGroup", True, [{"spec": {"schedulingPolicy": {"gang": {"minCount": 3}}}},
                                                                  {"spec": {"schedulingPolicy": {"basic": {}}}}]),
    ("workloads", "scheduling.k8s.io/v1beta1", "Workload", True, [{"spec": {"podGroupTemplates": [{"name": "w", "schedulingPolicy": {"gang": {"minCount": 2}}}]}}]),
    ("deviceclasses", "resource.k8s.io/v1", "DeviceClass", False, [{}, {"spec": {"selectors": [{"cel": {"expression": "device.driver == 'gpu.nvidia.com'"}}]}}]),
    ("resourceclaims", "resource.k8s.io/v1", "ResourceClaim", True, [{}, {"spec": {"devices": {"requests": [
        {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}]}}}]),
    ("resourceclaimtemplates", "resource.k8s.io/v1", "ResourceClaimTemplate", True, [{"spec": {"spec": {"devices": {"requests": [
        {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 2}}]}}}}]),
    ("resourceslices", "resource.k8s.io/v1", "ResourceSlice", False, [{"spec": {
        "driver": "gpu.nvidia.com", "nodeName": "node-0", "pool": {"name": "node-0", "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": "gpu-0", "attributes": {"model": {"string": "H100"}}, "capacity": {"memory": {"value": "80Gi"}}}]}}]),
    ("customresourcedefinitions", "apiextensions.k8s.io/v1", "CustomResourceDefinition", False, [{"spec": CRD}]),
    ("gadgets", "example.com/v1", "Gadget", True, [{"spec": {"size": 3}}, {"spec": {"size": 5, "colour": "blue", "parts": [{"name": "a"}], "free": {"any": [1, "x"]}}}]),
]


def base_of(plural, api_version, is_namespaced, space):
    root = f"/api/{api_version}" if api_version == "v1" else f"/apis/{api_version}"
    return f"{root}/namespaces/{space}/{plural}" if is_namespaced else f"{root}/{plural}"


def scripts():
    out = []
    first = Script("kinds")
    first.namespace("kinds")
    first.namespace("limited")
    out.append(first)
    for plural, api_version, kind, is_namespaced, variants in KINDS:
        s = Script(f"kind {plural}")
        group = api_version.partition("/")[0] if "/" in api_version else ""
        space = "limited" if plural in ("limitranges", "resourcequotas") else "kinds"
        base = base_of(plural, api_version, is_namespaced, space)
        names = [f"{plural}-{index}" for index in range(len(variants))]
        if plural == "customresourcedefinitions":
            names = ["gadgets.example.com"]
        for name, fields in zip(names, variants):
            s.post(base, thing(api_version, kind, name, labels={"team": name}, **fields), f"create {name}")
        s.post(base, thing(api_version, kind, names[0], **variants[0]), "create it again")
        if plural == "customresourcedefinitions":
            s.get("/apis/example.com/v1/gadgets", "it is served", is_setup=True, until=200)
        s.get(f"{base}/{names[0]}", save={"rv": "metadata.resourceVersion", "uid": "metadata.uid"})
        s.get(f"{base}/{names[0]}", "its metadata", METADATA)
        s.get(f"{base}/{names[-1]}", "table of one", TABLE)
        s.get(f"{base}/none")
        query = "?labelSelector=team"
        s.get(base + query, "list")
        s.get(base + query, "list of metadata", METADATA_LIST)
        s.table(base + query, "table")
        s.patch("merge", f"{base}/{names[0]}", {"metadata": {"annotations": {"note": "x"}}}, "merge patch of annotations")
        s.patch("merge", f"{base}/{names[0]}", {"metadata": {"resourceVersion": "{{rv}}", "labels": {"late": "yes"}}},
                "merge patch with an old version")
        s.patch("merge", f"{base}/none", {}, "merge patch of none")
        s.put(f"{base}/{names[0]}", thing(api_version, kind, names[0], **variants[0]), "replace it without a version")
        s.put(f"{base}/none", thing(api_version, kind, "none", **variants[0]), "replace none")
        s.post(base, thing(api_version, kind, "", **variants[0]), "create without a name")
        s.post(base, thing(api_version, kind, "Bad_Name!", **variants[0]), "create with a bad name")
        s.post(base, thing(api_version, "Nothing", "odd", **variants[0]), "create another kind")
        s.post(base, thing(api_version, kind, "odd", nothing=1, **variants[0]), "create with an unknown field")
        s.post(base + "?fieldValidation=Strict", thing(api_version, kind, "odd-2", nothing=1, **variants[0]), "strict, an unknown field")
        if plural not in ("customresourcedefinitions", "nodes"):
            s.kubectl(f"get {plural}{'.' + group if group else ''} -n {space} -l team")
            s.kubectl(f"get {plural}{'.' + group if group else ''} -n {space} -l team -o wide --show-labels")
        elif plural == "nodes":
            s.kubectl("get nodes -l team")
            s.kubectl("get nodes -l team -o wide")
        if plural not in ("events", "customresourcedefinitions"):
            s.kubectl(f"describe {plural}{'.' + group if group else ''} {names[-1]} -n {space} --show-events=false")
        if plural not in ("namespaces", "customresourcedefinitions"):
            s.delete(f"{base}/{names[0]}?dryRun=All", label="delete, dry run")
            s.delete(f"{base}/{names[0]}", label="delete")
            s.delete(f"{base}/{names[0]}", label="delete it again")
        out.append(s)
    return out
