"""What is served, by all the ways in which clients ask."""
from ..steps import Script

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
NOT_SERVED = {  # groups and kinds that the lab leaves out, on purpose
    "groups": {"admissionregistration.k8s.io", "apiregistration.k8s.io", "autoscaling", "certificates.k8s.io",
               "discovery.k8s.io", "flowcontrol.apiserver.k8s.io", "internal.apiserver.k8s.io", "networking.k8s.io", "node.k8s.io",
               "rbac.authorization.k8s.io", "storage.k8s.io", "storagemigration.k8s.io"},
    "ours": {"batch.volcano.sh", "bus.volcano.sh", "scheduling.volcano.sh", "topology.volcano.sh"},
    "resources": {"bindings", "componentstatuses", "endpoints", "persistentvolumeclaims", "persistentvolumes", "podtemplates",
                  "replicationcontrollers", "controllerrevisions", "daemonsets", "localsubjectaccessreviews", "devicetaintrules",
                  "selfsubjectrulesreviews_", "resourcepoolstatusrequests", "deviceattributeclasses"},
}


def group_of(item):
    return item.get("name") or item.get("metadata", {}).get("name", "")


def shared_groups(body):
    for key in ("groups", "items"):
        if isinstance(body, dict) and key in body:
            body[key] = sorted((one for one in body[key] if group_of(one) not in NOT_SERVED["groups"] | NOT_SERVED["ours"]),
                               key=group_of)
            for one in body[key]:
                for version in one["versions"]:
                    shared_resources(version)
    return body


def shared_resources(body):
    if isinstance(body, dict) and "resources" in body:
        body["resources"] = [one for one in body["resources"]
                             if (one.get("name") or one["resource"]).split("/")[0] not in NOT_SERVED["resources"]]
        for one in body["resources"]:
            one.pop("storageVersionHash", None)
    return body


def shared_paths(body):
    paths = {key: value for key, value in body.get("paths", {}).items()
             if not any(f"/{group}" in key for group in NOT_SERVED["groups"] | NOT_SERVED["ours"])}
    return {"paths": paths} if "paths" in body else body


def rows(lines):
    """Of api-resources, those that both have."""
    if not isinstance(lines, list):
        return lines
    out = []
    for line in lines:
        words = line.split()
        skipped = words and (words[0].split(".")[0] in NOT_SERVED["resources"]
                             or any(group in line for group in NOT_SERVED["groups"] | NOT_SERVED["ours"]))
        if not skipped:
            out.append(" ".join(words))
    return sorted(out)


def scripts():
    s = Script("discovery")
    s.get("/version", view=lambda body: {key: body.get(key) for key in ("major", "minor", "emulationMajor", "emulationMinor")}
          | {"keys": sorted(body)})
    for path in ("/healthz", "/livez", "/readyz", "/healthz/ping", "/livez/nothing"):
        s.get(path)
    s.get("/", view=lambda body: sorted(set(body["paths"]) & {"/api", "/api/v1", "/apis", "/healthz", "/livez", "/openapi/v3",
                                                              "/readyz", "/version"}))
    s.get("/api", only=("kind", "versions"))
    s.get("/api/v1", view=shared_resources)
    s.get("/apis", view=shared_groups)
    for group in ("apps", "batch", "policy", "coordination.k8s.io", "scheduling.k8s.io", "resource.k8s.io",
                  "apiextensions.k8s.io", "events.k8s.io", "authentication.k8s.io", "authorization.k8s.io"):
        s.get(f"/apis/{group}")
        version = "v1"
        s.get(f"/apis/{group}/{version}", view=shared_resources)
    s.get("/apis/scheduling.k8s.io/v1beta1", view=shared_resources)
    s.get("/apis/scheduling.k8s.io/v1alpha3", view=shared_resources)
    s.get("/api", "aggregated /api", AGGREGATED, view=shared_groups)
    s.get("/apis", "aggregated /apis", AGGREGATED, view=shared_groups)
    s.get("/openapi/v3", view=shared_paths)
    s.get("/openapi/v3/apis/nothing/v1")
    for path in ("/nothing", "/apis/nothing", "/apis/apps/v9", "/apis/nothing/v1/things", "/api/v2", "/api/v1/nothings",
                 "/api/v1/namespaces/default/nothings/one", "/apis/apps/v1/pods", "/api/v1/nodes/one/nothing",
                 "/api/v1/namespaces/default/pods/one/nothing", "/api/v1/namespaces/default/nodes",
                 "/api/v1/namespaces/default/nodes/one", "/api/v1/pods/one", "/apis/apps/v1/namespaces/default/deployments/x/y/z",
                 "/openapi", "/version/more"):
        s.get(path)
    for method, path in (("POST", "/version"), ("DELETE", "/api"), ("PUT", "/apis/apps/v1"), ("POST", "/api/v1/nodes/one"),
                         ("PUT", "/api/v1/nodes"), ("PATCH", "/api/v1/namespaces/default/pods"), ("DELETE", "/api/v1/pods"),
                         ("POST", "/api/v1/pods"), ("OPTIONS", "/api/v1/nodes"), ("BREW", "/api/v1/nodes"),
                         ("HEAD", "/api/v1/nodes"), ("DELETE", "/api/v1/namespaces"),
                         ("POST", "/api/v1/namespaces/default/pods/one"), ("GET", "/api/v1/namespaces/default/pods/one/binding"),
                         ("PUT", "/api/v1/namespaces/default/pods/one/eviction"),
                         ("GET", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews")):
        s.call(method, path)
    s.call("GET", "/api/v1/nodes", label="a wrong token", headers={"Authorization": "Bearer nonsense"})
    s.call("GET", "/api/v1/nodes", label="Accept that nobody has", headers={"Accept": "image/png"})
    s.call("GET", "/api/v1/namespaces/default", label="Accept anything", headers={"Accept": "*/*"}, only=("kind", "metadata.name"))
    s.call("GET", "/api/v1/namespaces/default", label="Accept YAML", headers={"Accept": "application/yaml"},
           view=lambda body: sorted(body) if isinstance(body, list) else body)
    s.call("GET", "/api/v1/namespaces/default", label="Accept first nobody's, then JSON",
           headers={"Accept": "image/png, application/json"}, only=("kind", "metadata.name"))

    k = Script("kubectl discovery")
    k.kubectl("version -o json", view=lambda body: sorted(body) if isinstance(body, dict) else body)
    k.kubectl("api-versions", view=lambda lines: [one for one in lines if not any(
        one.startswith(f"{group}/") for group in NOT_SERVED["groups"] | NOT_SERVED["ours"])])
    k.kubectl("api-resources", view=rows)
    k.kubectl("api-resources -o wide --namespaced=false", view=rows)
    k.kubectl("api-resources --api-group=batch -o name")
    k.kubectl("api-resources --verbs=list,delete --categories=all -o name", view=rows)
    k.kubectl("explain pods")
    k.kubectl("explain pods.spec.containers.resources")
    k.kubectl("explain deployment --recursive")
    k.kubectl("explain jobs.spec.template.spec.containers.env")
    k.kubectl("explain cronjob.spec.schedule")
    k.kubectl("explain nothing")
    k.kubectl("explain pods.spec.nothing")
    k.kubectl("auth can-i create pods")
    k.kubectl("auth can-i '*' '*'")
    k.kubectl("auth can-i get pods --subresource=log -n default")
    k.kubectl("auth can-i create nothings")
    k.kubectl("auth can-i --list", view=lambda lines: lines[:2])
    k.kubectl("auth whoami -o json", only=("kind",), view=lambda body: sorted(body) if isinstance(body, dict) else body)
    k.kubectl("get nothings")
    k.kubectl("get pods.v2.apps")
    k.kubectl("get --raw /healthz")
    k.kubectl("get --raw /nothing")
    k.kubectl("cluster-info")
    return [s, k]
