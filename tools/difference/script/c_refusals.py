"""What is refused, and with which reasons, causes, fields and sentences: a table of objects with one fault each."""
from ..steps import PATCHES, Script, thing
from .b_kinds import CRD, JOB_TEMPLATE, POD, SELECTOR, TEMPLATE, base_of

HOME = "refusals"


BOUNDED = ["pods", "services", "configmaps", "persistentvolumeclaims", "cpu", "requests.memory", "limits.ephemeral-storage", "hugepages-2Mi", "requests.nvidia.com/gpu", "nvidia.com/gpu", "count/pods"]
SCOPES = ["BestEffort", "PriorityClass", "VolumeAttributesClass", "NotTerminating", "CrossNamespacePodAffinity"]


def pod(**fields):
    return {"spec": {**POD, **fields}}


def container(**fields):
    return {"spec": {"containers": [{"name": "main", "image": "busybox", **fields}]}}


def amounts(**fields):
    return container(resources=fields)


def deployment(**fields):
    return {"spec": {"selector": SELECTOR, "template": TEMPLATE, **fields}}


def job(**fields):
    return {"spec": {"template": JOB_TEMPLATE, **fields}}


def cron(**fields):
    return {"spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": JOB_TEMPLATE}}, **fields}}


def service(**fields):
    return {"spec": {"ports": [{"port": 80}], **fields}}


def definition(**fields):
    return {"spec": {**CRD, **fields}}


# What is wrong, and the object's fields.
CREATE = {
    ("configmaps", "v1", "ConfigMap", True): {
        "number for text": {"data": {"a": 1}}, "list for map": {"data": ["a"]}, "bad base64": {"binaryData": {"a": "%%%"}},
        "bad key": {"data": {"a b": "x"}}, "key twice": {"data": {"a": "x"}, "binaryData": {"a": "eA=="}},
        "bad label key": {"metadata": {"labels": {"a b": "x"}}}, "bad label value": {"metadata": {"labels": {"a": "x y"}}},
        "long label": {"metadata": {"labels": {"a": "x" * 64}}}, "empty label key": {"metadata": {"labels": {"": "x"}}},
        "bad annotation key": {"metadata": {"annotations": {"A B/c": "x"}}}, "number for label": {"metadata": {"labels": {"a": 1}}},
        "bad finalizer": {"metadata": {"finalizers": ["nodomain"]}}, "bad finalizer name": {"metadata": {"finalizers": ["a b"]}},
        "owner without uid": {"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p"}]}},
        "owner without kind": {"metadata": {"ownerReferences": [{"apiVersion": "v1", "name": "p", "uid": "1"}]}},
        "two controllers": {"metadata": {"ownerReferences": [
            {"apiVersion": "v1", "kind": "Pod", "name": n, "uid": n, "controller": True} for n in ("p", "q")]}},
        "another namespace": {"metadata": {"namespace": "elsewhere"}}, "long name": {"metadata": {"name": "x" * 254}},
        "name with capitals": {"metadata": {"name": "Capital"}}, "name that ends with a dash": {"metadata": {"name": "dash-"}},
        "a version": {"metadata": {"resourceVersion": "5"}}, "a uid": {"metadata": {"uid": "mine"}},
        "metadata is text": {"metadata_": 0}, "immutable is text": {"immutable": "yes"},
        "bad generateName": {"metadata": {"name": "", "generateName": "gen-Bad_"}},
        "too much": {"data": {"a": "x" * (1024 * 1024 + 1)}},
    },
    ("secrets", "v1", "Secret", True): {
        "no base64": {"data": {"a": "not base64!"}}, "docker config missing": {"type": "kubernetes.io/dockerconfigjson"},
        "docker config bad": {"type": "kubernetes.io/dockerconfigjson", "stringData": {".dockerconfigjson": "{"}},
        "tls without key": {"type": "kubernetes.io/tls", "stringData": {"tls.crt": "x"}}, "ssh without key": {"type": "kubernetes.io/ssh-auth"},
        "basic auth without anything": {"type": "kubernetes.io/basic-auth"}, "token of nobody": {"type": "kubernetes.io/service-account-token"},
        "bad key": {"stringData": {"a/b": "x"}},
    },
    ("pods", "v1", "Pod", True): {
        "nothing": {}, "no containers": {"spec": {}}, "empty containers": {"spec": {"containers": []}},
        "container without name": {"spec": {"containers": [{"image": "a"}]}}, "container without image": {"spec": {"containers": [{"name": "a"}]}},
        "bad container name": {"spec": {"containers": [{"name": "A_b", "image": "a"}]}},
        "same name twice": {"spec": {"containers": [{"name": "a", "image": "a"}, {"name": "a", "image": "b"}]}},
        "init with the same name": pod(initContainers=[{"name": "main", "image": "x"}]),
        "image with a space": container(image=" busybox"), "bad pull policy": container(imagePullPolicy="Sometimes"),
        "bad restart policy": pod(restartPolicy="Perhaps"), "bad dns policy": pod(dnsPolicy="Maybe"),
        "negative grace": pod(terminationGracePeriodSeconds=-1), "zero deadline": pod(activeDeadlineSeconds=0),
        "bad quantity": amounts(limits={"cpu": "much"}), "negative quantity": amounts(limits={"memory": "-1Gi"}),
        "request over limit": amounts(limits={"cpu": "1"}, requests={"cpu": "2"}), "half a gpu": amounts(limits={"nvidia.com/gpu": "0.5"}),
        "gpu request without limit": amounts(requests={"nvidia.com/gpu": 1}), "gpu request is not the limit": amounts(
            limits={"nvidia.com/gpu": 2}, requests={"nvidia.com/gpu": 1}),
        "unknown plain resource": amounts(limits={"gpu": 1}), "bad resource name": amounts(limits={"a b/c": 1}),
        "env without name": container(env=[{"value": "x"}]), "bad env name": container(env=[{"name": "a=b"}]),
        "env with two sources": container(env=[{"name": "A", "value": "x", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]),
        "env of nothing": container(env=[{"name": "A", "valueFrom": {}}]), "bad field": container(
            env=[{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.nothing"}}}]),
        "port 0": container(ports=[{"containerPort": 0}]), "port too high": container(ports=[{"containerPort": 70000}]),
        "bad protocol": container(ports=[{"containerPort": 1, "protocol": "TCPX"}]), "bad port name": container(
            ports=[{"containerPort": 1, "name": "This-Is-Far-Too-Long"}]),
        "port is text": container(ports=[{"containerPort": "80"}]), "two port names": container(
            ports=[{"containerPort": 1, "name": "a"}, {"containerPort": 2, "name": "a"}]),
        "mount of no volume": container(volumeMounts=[{"name": "none", "mountPath": "/x"}]),
        "mount without a path": pod(containers=[{"name": "a", "image": "b", "volumeMounts": [{"name": "v", "mountPath": ""}]}],
                                    volumes=[{"name": "v", "emptyDir": {}}]),
        "volume of two kinds": pod(volumes=[{"name": "v", "emptyDir": {}, "hostPath": {"path": "/x"}}]),
        "volume of no name": pod(volumes=[{"emptyDir": {}}]), "same volume twice": pod(volumes=[{"name": "v"}, {"name": "v"}]),
        "hostPath without path": pod(volumes=[{"name": "v", "hostPath": {}}]), "claim without name": pod(
            volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": ""}}]),
        "bad toleration": pod(tolerations=[{"key": "a", "operator": "Is"}]), "toleration with value and Exists": pod(
            tolerations=[{"key": "a", "operator": "Exists", "value": "b"}]), "toleration seconds without effect": pod(
            tolerations=[{"key": "a", "effect": "NoSchedule", "tolerationSeconds": 1}]),
        "bad node selector": pod(nodeSelector={"a b": "c"}), "bad affinity operator": pod(affinity={"nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Is"}]}]}}}),
        "In without values": pod(affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "In"}]}]}}}),
        "affinity without terms": pod(affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}}),
        "pod affinity without topology": pod(affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"labelSelector": SELECTOR}]}}),
        "bad weight": pod(affinity={"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 101, "podAffinityTerm": {"topologyKey": "zone"}}]}}),
        "spread without skew": pod(topologySpreadConstraints=[{"topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 0}]),
        "spread with a bad action": pod(topologySpreadConstraints=[{"topologyKey": "z", "whenUnsatisfiable": "Perhaps", "maxSkew": 1}]),
        "unknown priority class": pod(priorityClassName="none"), "its own priority": pod(priority=7),
        "bad host name": pod(hostname="A_B"), "bad gate": pod(schedulingGates=[{"name": "a b"}]), "same gate twice": pod(
            schedulingGates=[{"name": "a"}, {"name": "a"}]), "gate with a node": pod(nodeName="n", schedulingGates=[{"name": "a"}]),
        "probe of nothing": container(livenessProbe={}), "probe of two": container(
            livenessProbe={"exec": {"command": ["a"]}, "tcpSocket": {"port": 1}}), "bad probe threshold": container(
            livenessProbe={"exec": {"command": ["a"]}, "successThreshold": 2}), "negative probe delay": container(
            readinessProbe={"exec": {"command": ["a"]}, "initialDelaySeconds": -1}),
        "bad user": container(securityContext={"runAsUser": -1}), "privileged without escalation": container(
            securityContext={"privileged": True, "allowPrivilegeEscalation": False}),
        "two faults": {"spec": {"containers": [{"name": "", "image": ""}], "restartPolicy": "Perhaps"}},
        "containers is a map": {"spec": {"containers": {"a": 1}}}, "spec is a list": {"spec": []}, "command is text": container(command="sleep 1"),
        "env is a map": container(env={"A": "b"}), "bool is text": pod(hostNetwork="true"), "int is a fraction": pod(terminationGracePeriodSeconds=1.5),
        "long name": {"metadata": {"name": "x" * 254}, **pod()}, "claim without source": pod(resourceClaims=[{"name": "gpu"}]),
        "claim of no pod": container(resources={"claims": [{"name": "gpu"}]}), "unknown nested field": container(imag="x"),
        "bad ephemeral containers": pod(ephemeralContainers=[{"name": "e", "image": "x"}]), "bad os": pod(os={"name": "beos"}),
        "bad service account": pod(serviceAccountName="Bad_"), "bad scheduler name": pod(schedulerName="a b"),
    },
    ("services", "v1", "Service", True): {
        "no ports": {"spec": {}}, "name with a digit first": {"metadata": {"name": "9x"}, **service()}, "bad port": service(ports=[{"port": 0}]),
        "two ports without names": service(ports=[{"port": 1}, {"port": 2}]), "bad type": service(type="Cluster"),
        "bad address": service(clusterIP="nowhere"), "same port twice": service(ports=[{"port": 1, "name": "a"}, {"port": 1, "name": "b"}]),
        "external without name": {"spec": {"type": "ExternalName"}}, "node port out of range": service(type="NodePort", ports=[{"port": 1, "nodePort": 99}]),
        "node port of ClusterIP": service(ports=[{"port": 1, "nodePort": 30001}]), "bad affinity": service(sessionAffinity="Sticky"),
        "bad selector": service(selector={"a b": "c"}), "bad target": service(ports=[{"port": 1, "targetPort": "Too_Bad"}]),
    },
    ("namespaces", "v1", "Namespace", False): {"a dot": {"metadata": {"name": "a.b"}}, "too long": {"metadata": {"name": "x" * 64}}},
    ("nodes", "v1", "Node", False): {
        "bad taint": {"spec": {"taints": [{"key": "a", "effect": "Never"}]}}, "taint twice": {"spec": {"taints": [
            {"key": "a", "effect": "NoSchedule"}, {"key": "a", "effect": "NoSchedule", "value": "b"}]}},
        "taint without a key": {"spec": {"taints": [{"effect": "NoSchedule"}]}}, "bad capacity": {"status": {"capacity": {"cpu": "x"}}},
        "bad cidr": {"spec": {"podCIDRs": ["x"]}},
    },
    ("events", "v1", "Event", True): {"nobody": {}, "elsewhere": {"involvedObject": {"kind": "Pod", "name": "a", "namespace": "other"}},
                                      "bad time": {"involvedObject": {"namespace": HOME}, "firstTimestamp": "yesterday"}},
    ("deployments", "apps/v1", "Deployment", True): {
        "nothing": {}, "no selector": {"spec": {"template": TEMPLATE}}, "no template": {"spec": {"selector": SELECTOR}},
        "labels do not match": deployment(selector={"matchLabels": {"app": "y"}}), "empty selector": deployment(selector={}),
        "bad operator": deployment(selector={"matchExpressions": [{"key": "a", "operator": "Is"}]}), "In without values": deployment(
            selector={"matchExpressions": [{"key": "a", "operator": "In"}]}), "negative replicas": deployment(replicas=-1),
        "replicas is text": deployment(replicas="2"), "bad strategy": deployment(strategy={"type": "Slow"}),
        "no room to roll": deployment(strategy={"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}),
        "bad percent": deployment(strategy={"rollingUpdate": {"maxSurge": "many"}}), "recreate with rolling": deployment(
            strategy={"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}), "restart policy": deployment(
            template={**TEMPLATE, "spec": {**POD, "restartPolicy": "Never"}}), "progress before ready": deployment(
            progressDeadlineSeconds=5, minReadySeconds=6), "no image": deployment(template={**TEMPLATE, "spec": {"containers": [{"name": "a"}]}}),
        "negative history": deployment(revisionHistoryLimit=-1), "bad label in template": deployment(
            template={**TEMPLATE, "metadata": {"labels": {"app": "x", "b": "c d"}}}), "deadline in template": deployment(
            template={**TEMPLATE, "spec": {**POD, "activeDeadlineSeconds": 5}}),
    },
    ("replicasets", "apps/v1", "ReplicaSet", True): {"nothing": {}, "labels do not match": deployment(selector={"matchLabels": {"app": "y"}}),
                                                     "no template": {"spec": {"selector": SELECTOR}}, "negative replicas": deployment(replicas=-1)},
    ("statefulsets", "apps/v1", "StatefulSet", True): {
        "nothing": {}, "labels do not match": deployment(selector={"matchLabels": {"app": "y"}}), "bad management": deployment(podManagementPolicy="All"),
        "bad strategy": deployment(updateStrategy={"type": "Slow"}), "restart policy": deployment(template={**TEMPLATE, "spec": {**POD, "restartPolicy": "Never"}}),
        "partition below zero": deployment(updateStrategy={"rollingUpdate": {"partition": -1}}), "bad name": {"metadata": {"name": "a.b"}, **deployment()},
        "bad service name": deployment(serviceName="Bad_"),
    },
    ("jobs", "batch/v1", "Job", True): {
        "nothing": {}, "restart policy": {"spec": {"template": {"spec": POD}}}, "bad restart policy": {"spec": {"template": {"spec": {**POD, "restartPolicy": "Perhaps"}}}},
        "negative parallelism": job(parallelism=-1), "negative completions": job(completions=-1),
        "indexed without completions": job(completionMode="Indexed"), "bad mode": job(completionMode="Some"), "negative backoff": job(backoffLimit=-1),
        "selector by hand": job(selector={"matchLabels": {"a": "b"}}), "manual without selector": job(manualSelector=True),
        "negative deadline": job(activeDeadlineSeconds=-1), "negative ttl": job(ttlSecondsAfterFinished=-1),
        "bad replacement": job(podReplacementPolicy="Soon"), "no containers": {"spec": {"template": {"spec": {"restartPolicy": "Never"}}}},
        "backoff per index without indexes": job(backoffLimitPerIndex=1), "failure policy with restarts": {"spec": {
            "template": {"spec": {**POD, "restartPolicy": "OnFailure"}}, "podFailurePolicy": {"rules": []}}},
        "long name": {"metadata": {"name": "x" * 64}, **job(completions=1, completionMode="Indexed")}, "success policy without indexes": job(
            successPolicy={"rules": [{"succeededCount": 1}]}),
    },
    ("cronjobs", "batch/v1", "CronJob", True): {
        "nothing": {}, "bad schedule": cron(schedule="now"), "six fields": cron(schedule="* * * * * *"), "out of range": cron(schedule="61 * * * *"),
        "zone in the schedule": cron(schedule="TZ=UTC * * * * *"), "bad zone": cron(timeZone="Nowhere/Land"), "empty zone": cron(timeZone=""), "bad policy": cron(concurrencyPolicy="Maybe"),
        "negative history": cron(failedJobsHistoryLimit=-1), "long name": {"metadata": {"name": "x" * 53}, **cron()}, "no template": {"spec": {"schedule": "* * * * *"}},
        "negative deadline": cron(startingDeadlineSeconds=-1), "selector by hand": cron(jobTemplate={"spec": {
            "template": JOB_TEMPLATE, "manualSelector": True, "selector": SELECTOR}}),
    },
    ("poddisruptionbudgets", "policy/v1", "PodDisruptionBudget", True): {
        "both": {"spec": {"minAvailable": 1, "maxUnavailable": 1}}, "bad percent": {"spec": {"minAvailable": "some"}}, "over all": {"spec": {"minAvailable": "101%"}},
        "negative": {"spec": {"maxUnavailable": -1}}, "bad selector": {"spec": {"selector": {"matchLabels": {"a b": "c"}}}},
        "bad eviction policy": {"spec": {"unhealthyPodEvictionPolicy": "Never"}},
    },
    ("leases", "coordination.k8s.io/v1", "Lease", True): {"zero duration": {"spec": {"leaseDurationSeconds": 0}}, "negative transitions": {
        "spec": {"leaseTransitions": -1}}, "bad time": {"spec": {"renewTime": "soon"}}, "duration is text": {"spec": {"leaseDurationSeconds": "1"}}},
    ("priorityclasses", "scheduling.k8s.io/v1", "PriorityClass", False): {
        "too high": {"value": 1000000001}, "system name": {"metadata": {"name": "system-x"}, "value": 1}, "bad policy": {"value": 1, "preemptionPolicy": "Sometimes"},
        "value is text": {"value": "high"},
    },
    ("resourcequotas", "v1", "ResourceQuota", True): {"bad quantity": {"spec": {"hard": {"pods": "many"}}}, "negative": {"spec": {"hard": {"pods": "-1"}}},
                                                      "fraction": {"spec": {"hard": {"pods": "0.5"}}}, "bad resource": {"spec": {"hard": {"things": 1}}}, "bad scope": {
                                                          "spec": {"hard": {"pods": "1"}, "scopes": ["Some"]}},
                                                      "bad selectors": {"spec": {"hard": {"pods": "1", "services": "1"}, "scopeSelector": {"matchExpressions": [
                                                          {"scopeName": "BestEffort", "operator": "In", "values": ["a"]}, {"scopeName": "X", "operator": "Y"}]}}},
                                                      "no values": {"spec": {"hard": {"pods": "1"}, "scopeSelector": {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In"}]}}},
                                                      "opposite scopes": {"spec": {"hard": {"pods": "1"}, "scopes": ["Terminating", "NotTerminating"]}},
                                                      **{f"all of {scope}": {"spec": {"hard": dict.fromkeys(BOUNDED, "1"), "scopes": [scope]}} for scope in SCOPES},
                                                      **{f"{name} of {scope}": {"spec": {"hard": {name: "1"}, "scopes": [scope]}} for name in BOUNDED for scope in SCOPES[:3]}},
    ("limitranges", "v1", "LimitRange", True): {"min over max": {"spec": {"limits": [{"type": "Container", "min": {"cpu": "2"}, "max": {"cpu": "1"}}]}},
                                                "default over max": {"spec": {"limits": [{"type": "Container", "default": {"cpu": "2"}, "max": {"cpu": "1"}}]}},
                                                "bad type": {"spec": {"limits": [{"type": "Thing", "max": {"cpu": "1"}}]}}, "default of a pod": {
                                                    "spec": {"limits": [{"type": "Pod", "default": {"cpu": "1"}}]}}},
    ("podgroups", "scheduling.k8s.io/v1beta1", "PodGroup", True): {"nothing": {}, "empty policy": {"spec": {"schedulingPolicy": {}}}, "both": {"spec": {"schedulingPolicy": {
        "basic": {}, "gang": {"minCount": 1}}}}, "zero": {"spec": {"schedulingPolicy": {"gang": {"minCount": 0}}}}, "gang without count": {"spec": {"schedulingPolicy": {"gang": {}}}}},
    ("workloads", "scheduling.k8s.io/v1beta1", "Workload", True): {"nothing": {}, "no templates": {"spec": {"podGroupTemplates": []}}, "bad name": {"spec": {"podGroupTemplates": [
        {"name": "A_", "schedulingPolicy": {"basic": {}}}]}}, "name twice": {"spec": {"podGroupTemplates": [{"name": "a", "schedulingPolicy": {"basic": {}}}] * 2}}},
    ("resourceclaims", "resource.k8s.io/v1", "ResourceClaim", True): {
        "no class": {"spec": {"devices": {"requests": [{"name": "a", "exactly": {}}]}}}, "bad name": {"spec": {"devices": {"requests": [
            {"name": "A_", "exactly": {"deviceClassName": "c"}}]}}}, "name twice": {"spec": {"devices": {"requests": [
                {"name": "a", "exactly": {"deviceClassName": "c"}}] * 2}}}, "bad mode": {"spec": {"devices": {"requests": [
                    {"name": "a", "exactly": {"deviceClassName": "c", "allocationMode": "Some"}}]}}}, "zero": {"spec": {"devices": {"requests": [
                        {"name": "a", "exactly": {"deviceClassName": "c", "count": -1}}]}}}, "nothing asked": {"spec": {"devices": {"requests": [{"name": "a"}]}}},
    },
    ("resourceslices", "resource.k8s.io/v1", "ResourceSlice", False): {"nothing": {}, "no node": {"spec": {"driver": "a.b", "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}}},
                                                                       "bad driver": {"spec": {"driver": "A_", "nodeName": "n", "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}}}},
    ("deviceclasses", "resource.k8s.io/v1", "DeviceClass", False): {"empty expression": {"spec": {"selectors": [{"cel": {"expression": ""}}]}}, "selector of nothing": {"spec": {"selectors": [{}]}}},
    ("customresourcedefinitions", "apiextensions.k8s.io/v1", "CustomResourceDefinition", False): {
        "nothing": {}, "another name": definition(), "no versions": definition(versions=[]), "no schema": definition(versions=[{"name": "v1", "served": True, "storage": True}]),
        "no storage": definition(versions=[{**CRD["versions"][0], "storage": False}]), "bad scope": definition(scope="Galaxy"), "no kind": definition(names={"plural": "gadgets"}),
        "two versions of one name": definition(versions=[CRD["versions"][0], {**CRD["versions"][0], "storage": False}]), "no type": definition(
            versions=[{**CRD["versions"][0], "schema": {"openAPIV3Schema": {}}}]), "bad group": definition(group="Example_"),
    },
    ("gadgets", "example.com/v1", "Gadget", True): {
        "no size": {"spec": {}}, "size is text": {"spec": {"size": "3"}}, "size too big": {"spec": {"size": 10}}, "size too small": {"spec": {"size": 0}},
        "fraction": {"spec": {"size": 1.5}}, "bad colour": {"spec": {"size": 1, "colour": "green"}}, "bad pattern": {"spec": {"size": 1, "name": "A1"}},
        "too long": {"spec": {"size": 1, "name": "abcdef"}}, "too many": {"spec": {"size": 1, "parts": [{"name": x} for x in "abcd"]}},
        "part twice": {"spec": {"size": 1, "parts": [{"name": "a"}, {"name": "a"}]}}, "part without name": {"spec": {"size": 1, "parts": [{}]}},
        "tag twice": {"spec": {"size": 1, "tags": ["a", "a"]}}, "null": {"spec": {"size": None}}, "port is a list": {"spec": {"size": 1, "port": []}},
        "spec is text": {"spec": "x"}, "unknown field": {"spec": {"size": 1, "nothing": 1}}, "several": {"spec": {"size": 99, "colour": "green", "name": 5}},
        "bad label": {"metadata": {"labels": {"a b": "c"}}, "spec": {"size": 1}}, "bad name": {"metadata": {"name": "A_"}, "spec": {"size": 1}},
    },
}

# What may not change: path of the object, and patches (merge) with what they are.
CHANGE = [
    (("configmaps", "v1", "ConfigMap", True, {"immutable": True, "data": {"a": "1"}}), {
        "data": {"data": {"a": "2"}}, "immutable again": {"immutable": False}, "name": {"metadata": {"name": "other"}}, "namespace": {"metadata": {"namespace": "other"}},
        "uid": {"metadata": {"uid": "other"}}, "creation time": {"metadata": {"creationTimestamp": "2020-01-01T00:00:00Z"}}, "kind": {"kind": "Secret"},
        "api version": {"apiVersion": "v2"}, "generation": {"metadata": {"generation": 9}}, "a bad label": {"metadata": {"labels": {"a b": "c"}}}}),
    (("secrets", "v1", "Secret", True, {"type": "Opaque"}), {"type": {"type": "kubernetes.io/tls"}}),
    (("pods", "v1", "Pod", True, pod(tolerations=[{"key": "a", "operator": "Exists"}])), {
        "name of a container": {"spec": {"containers": [{"name": "other", "image": "busybox"}]}}, "image": {"spec": {"containers": [{"name": "main", "image": "other"}]}},
        "image away": {"spec": {"containers": [{"name": "main"}]}},
        "node": {"spec": {"nodeName": "node-0"}}, "restart policy": {"spec": {"restartPolicy": "Never"}}, "fewer tolerations": {"spec": {"tolerations": []}},
        "deadline": {"spec": {"activeDeadlineSeconds": 100}}, "longer deadline": {"spec": {"activeDeadlineSeconds": 200}}, "resources": {"spec": {"containers": [
            {"name": "main", "image": "other", "resources": {"limits": {"cpu": "1"}}}]}}, "a new gate": {"spec": {"schedulingGates": [{"name": "a"}]}},
        "priority": {"spec": {"priority": 5}}}),
    (("services", "v1", "Service", True, service()), {"address": {"spec": {"clusterIP": "10.96.7.7", "clusterIPs": ["10.96.7.7"]}}}),
    (("deployments", "apps/v1", "Deployment", True, deployment()), {"selector": {"spec": {"selector": {"matchLabels": {"app": "x", "b": "c"}}, "template": {
        "metadata": {"labels": {"b": "c"}}}}}, "template labels": {"spec": {"template": {"metadata": {"labels": {"app": "y"}}}}}, "replicas": {"spec": {"replicas": -2}}}),
    (("replicasets", "apps/v1", "ReplicaSet", True, deployment()), {"selector": {"spec": {"selector": {"matchLabels": {"b": "c"}}, "template": {"metadata": {"labels": {"b": "c"}}}}}}),
    (("statefulsets", "apps/v1", "StatefulSet", True, deployment(serviceName="s")), {"service": {"spec": {"serviceName": "t"}}, "selector": {"spec": {
        "selector": {"matchLabels": {"b": "c"}}, "template": {"metadata": {"labels": {"b": "c"}}}}}, "management": {"spec": {"podManagementPolicy": "Parallel"}}, "replicas": {"spec": {"replicas": 2}}}),
    (("jobs", "batch/v1", "Job", True, job()), {"image": {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "other"}]}}}}, "completions": {"spec": {"completions": 3}},
                                               "selector": {"spec": {"selector": {"matchLabels": {"a": "b"}}}}, "parallelism": {"spec": {"parallelism": 3}}, "suspend": {
                                                   "spec": {"suspend": True}}, "mode": {"spec": {"completionMode": "Indexed"}}}),
    (("cronjobs", "batch/v1", "CronJob", True, cron()), {"schedule": {"spec": {"schedule": "never"}}, "suspend": {"spec": {"suspend": True}}}),
    (("priorityclasses", "scheduling.k8s.io/v1", "PriorityClass", False, {"value": 3}), {"value": {"value": 4}, "policy": {"preemptionPolicy": "Never"}, "description": {"description": "x"}}),
    (("nodes", "v1", "Node", False, {"spec": {"podCIDR": "10.1.0.0/24", "providerID": "a"}}), {"cidr": {"spec": {"podCIDR": "10.2.0.0/24", "podCIDRs": ["10.2.0.0/24"]}}, "provider": {"spec": {"providerID": "b"}},
                                                                                          "taint": {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}}}),
    (("poddisruptionbudgets", "policy/v1", "PodDisruptionBudget", True, {"spec": {"minAvailable": 1}}), {"to the other": {"spec": {"minAvailable": None, "maxUnavailable": 2}}}),
    (("resourcequotas", "v1", "ResourceQuota", True, {"spec": {"hard": {"services": "9"}}}), {"more": {"spec": {"hard": {"services": "10"}}}, "scopes": {"spec": {
        "hard": {"services": None, "pods": "5"}, "scopes": ["BestEffort"]}}}),
    (("resourceclaims", "resource.k8s.io/v1", "ResourceClaim", True, {"spec": {}}), {"spec": {"spec": {"devices": {"requests": [{"name": "a", "exactly": {"deviceClassName": "c"}}]}}}}),
    (("podgroups", "scheduling.k8s.io/v1beta1", "PodGroup", True, {"spec": {"schedulingPolicy": {"gang": {"minCount": 3}}}}), {"count": {"spec": {"schedulingPolicy": {"gang": {"minCount": 4}}}}}),
    (("workloads", "scheduling.k8s.io/v1beta1", "Workload", True, {"spec": {"podGroupTemplates": [{"name": "w", "schedulingPolicy": {"gang": {"minCount": 2}}}]}}), {
        "templates": {"spec": {"podGroupTemplates": [{"name": "v", "schedulingPolicy": {"gang": {"minCount": 2}}}]}}}),
    (("gadgets", "example.com/v1", "Gadget", True, {"spec": {"size": 1}}), {"size away": {"spec": {"size": None}}, "bad size": {"spec": {"size": 77}}, "unknown": {"spec": {"nothing": 1}},
                                                                          "status": {"status": {"phase": "x"}}, "name": {"metadata": {"name": "other"}}}),
]


def scripts():
    out = [Script("refused")]
    out[0].namespace(HOME)
    out[0].namespace("limits")
    for (plural, api_version, kind, is_namespaced), faults in CREATE.items():
        s = Script(f"refused {plural}")
        space = "limits" if plural in ("limitranges", "resourcequotas") else HOME
        base = base_of(plural, api_version, is_namespaced, space)
        for index, (what, fields) in enumerate(faults.items()):
            fields = dict(fields)
            metadata = {"name": f"{plural}-{index}", **fields.pop("metadata", {})}
            s.post(base, thing(api_version, kind, "", metadata={k: v for k, v in metadata.items() if v != ""}, **fields), what)
        out.append(s)
    for (plural, api_version, kind, is_namespaced, fields), changes in CHANGE:
        s = Script(f"change {plural}")
        base = base_of(plural, api_version, is_namespaced, HOME)
        s.post(base, thing(api_version, kind, "fixed", **fields), "make it", is_setup=True)
        for what, patch in changes.items():
            s.patch("merge", f"{base}/fixed", patch, what)
        out.append(s)
    bodies = Script("bodies")
    path = f"/api/v1/namespaces/{HOME}/configmaps"
    for what, body, media in (
            ("nothing", "", "application/json"), ("broken JSON", "{\"a\":", "application/json"), ("a list", "[]", "application/json"), ("text", "\"x\"", "application/json"),
            ("a number", "7", "application/json"), ("null", "null", "application/json"), ("empty object", "{}", "application/json"), ("no kind", '{"apiVersion":"v1","metadata":{"name":"b1"}}', "application/json"),
            ("no version", '{"kind":"ConfigMap","metadata":{"name":"b2"}}', "application/json"), ("another group", '{"apiVersion":"apps/v1","kind":"ConfigMap","metadata":{"name":"b3"}}', "application/json"),
            ("unknown kind", '{"apiVersion":"v1","kind":"Nothing","metadata":{"name":"b3"}}', "application/json"), ("another known kind", '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"b3"}}', "application/json"),
            ("metadata is text", '{"apiVersion":"v1","kind":"ConfigMap","metadata":"x"}', "application/json"), ("metadata is a list", '{"apiVersion":"v1","kind":"ConfigMap","metadata":[]}', "application/json"),
            ("kind is a number", '{"apiVersion":"v1","kind":7}', "application/json"), ("YAML", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b4}\n", "application/yaml"),
            ("YAML with a fault", "apiVersion: v1\nkind: [ConfigMap\n", "application/yaml"), ("YAML that says JSON", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b5}\n", "application/json"),
            ("JSON that says YAML", '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b6"}}', "application/yaml"), ("unknown type", "{}", "text/plain"), ("XML", "<a/>", "application/xml"),
            ("a form", "a=b", "application/x-www-form-urlencoded"), ("a bad type", "{}", "nonsense"), ("JSON with a charset", '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b7"}}', "application/json; charset=utf-8"),
            ("a key twice", '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b8"},"data":{"a":"1","a":"2"}}', "application/json"), ("a field twice", '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b9"},"immutable":true,"immutable":false}', "application/json"),
            ("behind the object", '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b10"}} {}', "application/json"), ("null fields", '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b11","labels":null},"data":null}', "application/json"),
            ("other case", '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b12"},"Data":{"a":"1"}}', "application/json"), ("a null value", '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b13"},"data":{"a":null}}', "application/json"),
            ("a deep one", '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b14"},"data":' + '{"a":' * 200 + '1' + '}' * 200 + '}', "application/json")):
        bodies.call("POST", path, body, what, headers={"Content-Type": media})
        if what in ("a key twice", "a field twice", "YAML with a fault", "broken JSON", "other case"):
            bodies.call("POST", f"{path}?fieldValidation=Strict", body.replace("b8", "b8s").replace("b9", "b9s").replace("b12", "b12s"), f"{what}, strict", headers={"Content-Type": media})
    good = thing("v1", "ConfigMap", "queries")
    for query in ("fieldValidation=Loud", "fieldValidation=Ignore", "dryRun=Some", "dryRun=All", "dryRun=All&dryRun=All", "fieldManager=" + "x" * 129, "fieldManager=a%0Ab", "pretty=true", "nothing=1"):
        bodies.post(f"{path}?{query}", good, f"create with {query[:40]}")
    bodies.post(f"{path}?fieldValidation=Ignore", {**thing("v1", "ConfigMap", "queries-2"), "nothing": 1}, "ignore an unknown field")
    bodies.post(f"{path}?fieldValidation=Warn", {**thing("v1", "ConfigMap", "queries-3"), "nothing": 1, "other": {"a": 1}}, "warn of unknown fields")
    bodies.post("/api/v1/namespaces/nowhere/configmaps", thing("v1", "ConfigMap", "a"), "in no namespace")
    bodies.post("/api/v1/configmaps", thing("v1", "ConfigMap", "a", namespace=HOME), "of all namespaces")
    for media in ("application/json", "text/plain", "", "application/strategic-merge-patch+json", *PATCHES.values()):
        bodies.call("PATCH", f"{path}/queries", "{}", f"patch of type '{media}'", headers={"Content-Type": media})
    bodies.call("PATCH", f"{path}/queries", "{", "broken merge patch", headers={"Content-Type": PATCHES["merge"]})
    bodies.call("PATCH", f"{path}/queries", "[]", "a list as merge patch", headers={"Content-Type": PATCHES["merge"]})
    bodies.call("PATCH", f"{path}/queries", "{}", "an object as JSON patch", headers={"Content-Type": PATCHES["json"]})
    bodies.call("PATCH", f"{path}/queries", "{", "broken JSON patch", headers={"Content-Type": PATCHES["json"]})
    bodies.call("PATCH", f"{path}/queries", "[", "broken strategic patch", headers={"Content-Type": PATCHES["strategic"]})
    bodies.call("PUT", f"{path}/queries", thing_text("other"), "replace another name", headers={"Content-Type": "application/json"})
    bodies.call("DELETE", f"{path}/queries", "{\"apiVersion\":\"v1\",\"kind\":\"Pod\"}", "delete with another kind of options", headers={"Content-Type": "application/json"})
    bodies.call("DELETE", f"{path}/queries", "{", "delete with broken options", headers={"Content-Type": "application/json"})
    out.append(bodies)
    return out


def thing_text(name):
    import json
    return json.dumps(thing("v1", "ConfigMap", name))
