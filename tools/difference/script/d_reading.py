"""Lists, selectors, versions, pages, watches."""
from ..steps import METADATA_LIST, TABLE, Script, thing

HOME = "reading"
MAPS = f"/api/v1/namespaces/{HOME}/configmaps"
PODS = f"/api/v1/namespaces/{HOME}/pods"


def objects():
    s = Script("reading")
    s.namespace(HOME)
    for index, labels in enumerate([{"app": "a", "tier": "x"}, {"app": "a", "tier": "y"}, {"app": "b"}, {"n": "10"}, {"n": "9", "app": ""}]):
        s.post(MAPS, thing("v1", "ConfigMap", f"map-{index}", labels=labels, data={"i": str(index)}), is_setup=True)
    for index, node in enumerate(["node-a", "node-b", ""]):
        spec = {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Never", **({"nodeName": node} if node else {})}
        s.post(PODS, thing("v1", "Pod", f"pod-{index}", labels={"app": "p"}, spec=spec), is_setup=True)
    s.put(f"{PODS}/pod-1/status", thing("v1", "Pod", "pod-1", status={"phase": "Running", "podIP": "10.0.0.7", "podIPs": [{"ip": "10.0.0.7"}]}), is_setup=True)
    return s


def selectors():
    s = Script("selectors")
    for selector in ("app=a", "app==a", "app!=a", "app", "!app", "app in (a,b)", "app in (a, c),tier", "app notin (a)", "n>9", "n<10", "n>a", "app=", "app in ()",
                     "app=a,app=b", "", "app=a=b", "=a", "app in a", "app in (a", "app,,tier", "app=a b", "a b", "app~a", "-x=1", "x in (-)", "app notin", "a/b/c=d",
                     "example.com/app=a", "app=" + "x" * 64, "app>1.5", "in", "in in (in)", "notin=a", ",", "app,"):
        s.get(f"{MAPS}?labelSelector={quoted(selector)}", f"labels '{selector[:30]}'", only=("items", "code", "reason", "message", "details"), view=names)
    for selector in ("metadata.name=map-1", "metadata.name!=map-1", f"metadata.namespace={HOME}", "metadata.name=map-1,metadata.namespace=x", "metadata.nothing=a",
                     "data.i=1", "metadata.name", "metadata.name in (a)", "=a", "metadata.name==map-1", "metadata.name=", "metadata.name=a\\,b", "a=b=c", ","):
        s.get(f"{MAPS}?fieldSelector={quoted(selector)}", f"fields of config maps '{selector}'", only=("items", "code", "reason", "message", "details"), view=names)
    for selector in ("spec.nodeName=node-a", "spec.nodeName=", "spec.nodeName!=node-a", "status.phase=Running", "status.phase!=Running", "status.podIP=10.0.0.7", "status.podIPs=10.0.0.7",
                     "spec.restartPolicy=Never", "spec.schedulerName=default-scheduler", "spec.serviceAccountName=", "spec.hostNetwork=false", "status.nominatedNodeName=",
                     "spec.containers=x", "metadata.labels.app=p", "status.qosClass=BestEffort"):
        s.get(f"{PODS}?fieldSelector={quoted(selector)}", f"fields of pods '{selector}'", only=("items", "code", "reason", "message", "details"), view=names)
    for path in ("/api/v1/nodes?fieldSelector=spec.unschedulable=false", "/api/v1/nodes?fieldSelector=status.phase=x", "/api/v1/namespaces?fieldSelector=status.phase=Active",
                 f"/api/v1/namespaces/{HOME}/events?fieldSelector=involvedObject.kind=Pod,reason=x,type=Normal,involvedObject.name=a,involvedObject.uid=u,source=k,reportingComponent=c",
                 f"/api/v1/namespaces/{HOME}/events?fieldSelector=message=x", f"/api/v1/namespaces/{HOME}/secrets?fieldSelector=type=Opaque",
                 f"/apis/batch/v1/namespaces/{HOME}/jobs?fieldSelector=status.successful=0", f"/apis/batch/v1/namespaces/{HOME}/jobs?fieldSelector=spec.suspend=true",
                 f"/apis/apps/v1/namespaces/{HOME}/replicasets?fieldSelector=status.replicas=0", f"/apis/apps/v1/namespaces/{HOME}/deployments?fieldSelector=status.replicas=0",
                 f"/apis/example.com/v1/namespaces/{HOME}/gadgets?fieldSelector=spec.size=3", f"/api/v1/namespaces/{HOME}/services?fieldSelector=spec.type=ClusterIP",
                 "/apis/resource.k8s.io/v1/resourceslices?fieldSelector=spec.nodeName=x,spec.driver=y"):
        s.get(path, only=("kind", "code", "reason", "message"))
    return s


def lists():
    s = Script("lists")
    few = ("kind", "metadata", "items", "code", "reason", "message", "details")
    s.get(MAPS, save={"rv": "metadata.resourceVersion"})
    s.get(f"{MAPS}?limit=2", only=few, view=names, save={"next": "metadata.continue"})
    s.get(f"{MAPS}?limit=2&continue={{{{next}}}}", "the second page", only=few, view=names, save={"next2": "metadata.continue"})
    s.get(f"{MAPS}?limit=2&continue={{{{next2}}}}", "the last page", only=few, view=names)
    s.get(f"{MAPS}?limit=1&labelSelector=app=a", only=few, view=names)
    s.get(f"{MAPS}?limit=9", only=few, view=names)
    s.get(f"{MAPS}?limit=2&continue={{{{next}}}}&resourceVersion=1", "a page with a version", only=few)
    for query in ("limit=x", "limit=-1", "limit=0", "continue=nonsense", "continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiIifQ", "resourceVersion=0", "resourceVersion=x", "resourceVersion=-1",
                  "resourceVersion={{rv}}", "resourceVersion={{rv}}&resourceVersionMatch=Exact", "resourceVersion={{rv}}&resourceVersionMatch=NotOlderThan", "resourceVersionMatch=Exact",
                  "resourceVersion=0&resourceVersionMatch=Exact", "resourceVersion={{rv}}&resourceVersionMatch=Newest", "resourceVersion=999999999", "resourceVersion=999999999&resourceVersionMatch=Exact",
                  "resourceVersion=1&resourceVersionMatch=Exact", "limit=1&resourceVersion=0", "timeoutSeconds=x", "timeoutSeconds=5", "sendInitialEvents=true", "watch=false", "watch=0",
                  "allowWatchBookmarks=maybe", "resourceVersion=&resourceVersionMatch=", "limit=1&limit=2", "nothing=1", "pretty=1"):
        s.get(f"{MAPS}?{query}", f"list with {query.replace('{', '').replace('}', '')[:60]}", only=few, view=names)
    s.get(f"{MAPS}/map-1?resourceVersion=0", only=("kind", "metadata.name", "code", "message"))
    s.get(f"{MAPS}/map-1?resourceVersion={{{{rv}}}}", "get at a version", only=("kind", "code", "message"))
    s.get(f"{MAPS}/map-1?resourceVersion=999999999", only=("kind", "code", "message", "reason", "details"))
    s.get(f"{MAPS}/map-1?resourceVersion=x", only=("kind", "code", "message", "reason", "details"))
    s.get("/api/v1/namespaces/nowhere/configmaps", "of no namespace")
    s.get(f"/api/v1/configmaps?fieldSelector=metadata.namespace={HOME}", "of all namespaces", view=names)
    s.get(f"{MAPS}?limit=2", "a page as a table", TABLE)
    s.get(f"{MAPS}?includeObject=None", "a table without objects", TABLE)
    s.get(f"{PODS}?includeObject=Object", "a table with objects", TABLE)
    s.get(f"{MAPS}?includeObject=Much", "a table with a bad includeObject", TABLE)
    s.get(f"{MAPS}?limit=1", "a page of metadata", METADATA_LIST)
    s.get(MAPS, "a table of a version that is not", "application/json;as=Table;v=v2;g=meta.k8s.io")
    s.get(MAPS, "a table or JSON", "application/json;as=Table;v=v9;g=meta.k8s.io,application/json", only=("kind",))
    s.get(f"{MAPS}/map-1", "one as a list of metadata", METADATA_LIST)
    s.get(MAPS, "a list as metadata of one", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io")
    s.get(PODS, "table of pods", TABLE)
    s.call("HEAD", f"{MAPS}/map-1")
    s.call("HEAD", f"{MAPS}/none")
    return s


def watches():
    s = Script("watches")
    s.get(MAPS, "where it begins", is_setup=True, save={"begin": "metadata.resourceVersion"})
    s.post(MAPS, thing("v1", "ConfigMap", "w-1", labels={"w": "yes"}), is_setup=True)
    s.patch("merge", f"{MAPS}/w-1", {"data": {"a": "1"}}, is_setup=True)
    s.patch("merge", f"{MAPS}/w-1", {"metadata": {"labels": {"w": "no"}}}, is_setup=True)
    s.patch("merge", f"{MAPS}/w-1", {"metadata": {"labels": {"w": "yes"}}}, is_setup=True)
    s.delete(f"{MAPS}/w-1", is_setup=True)
    s.post(MAPS, thing("v1", "ConfigMap", "w-2", labels={"w": "yes"}), is_setup=True)
    since = f"{MAPS}?watch=1&resourceVersion={{{{begin}}}}"
    s.watch(since, 6, "all since")
    s.watch(f"{since}&labelSelector=w=yes", 5, "by a label that comes and goes")
    s.watch(f"{since}&fieldSelector=metadata.name=w-2", 1, "by a field")
    s.watch(since, 2, "as tables", TABLE)
    s.watch(since, 2, "as metadata", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io")
    s.watch(f"/api/v1/watch/namespaces/{HOME}/configmaps?resourceVersion={{{{begin}}}}", 2, "the old path")
    s.watch(f"/api/v1/watch/namespaces/{HOME}/configmaps/w-2?resourceVersion={{{{begin}}}}", 1, "the old path of one")
    s.watch(f"{MAPS}/w-2?watch=1&resourceVersion={{{{begin}}}}", 1, "of one by its path")
    s.watch(f"{MAPS}?watch=1", 6, "from now, what is there")
    s.watch(f"{MAPS}?watch=1&resourceVersion=0", 6, "from 0, what is there", view=sorted_lines)
    s.watch(f"{MAPS}?watch=1&resourceVersion=0&timeoutSeconds=1", -1, "that ends by its time", view=sorted_lines)
    initial = f"{MAPS}?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan"
    s.watch(initial, 7, "with initial events", view=sorted_lines)
    s.watch(f"{initial}&resourceVersion=0", 7, "with initial events from 0", view=sorted_lines)
    s.watch(f"{initial}&labelSelector=w=yes", 2, "with initial events, selected")
    s.watch(initial, 7, "with initial events as tables", TABLE, view=sorted_lines)
    s.watch(f"{MAPS}?watch=1&sendInitialEvents=false&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1", -1, "without initial events")
    for query in ("sendInitialEvents=true", "sendInitialEvents=true&resourceVersionMatch=Exact", "resourceVersionMatch=NotOlderThan", "resourceVersion=x", "resourceVersion=1", "timeoutSeconds=x",
                  "resourceVersion=-1", "labelSelector=a b", "fieldSelector=metadata.nothing=x", "limit=5&timeoutSeconds=1&resourceVersion=1", "sendInitialEvents=maybe",
                  "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=x", "resourceVersion=999999999&timeoutSeconds=1"):
        s.watch(f"{MAPS}?watch=1&{query}", 1, f"refused: {query}")
    s.watch(f"{MAPS}?watch=true&timeoutSeconds=1&resourceVersion=1", 1, "too old")
    s.watch("/apis/apps/v1/deployments?watch=1&timeoutSeconds=1&resourceVersion=0", -1, "of nothing")
    s.watch("/api/v1/namespaces/nowhere/pods?watch=1&timeoutSeconds=1", -1, "of no namespace")
    s.watch("/api/v1/nothings?watch=1", 1, "of no resource")
    s.watch("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews?watch=1", 1, "of a question")
    s.watch(f"/apis/example.com/v1/namespaces/{HOME}/gadgets?watch=1&timeoutSeconds=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan", 1, "of a custom kind, none there")
    return s


def sorted_lines(body):
    if isinstance(body, dict) and "lines" in body:
        body["lines"].sort(key=lambda line: (line.get("type", "") == "BOOKMARK", str(line.get("object", {}).get("metadata", {}).get("name"))))
        if "rows" in str(body["lines"][:1]):
            body["lines"] = sorted((line for line in body["lines"]), key=lambda line: str([row.get("cells") for row in line["object"].get("rows") or []]))
            for line in body["lines"]:  # whoever comes first brings the columns
                line["object"].pop("columnDefinitions", None)
    return body


def quoted(text):
    import urllib.parse
    return urllib.parse.quote(text, safe="=,!()")


def names(body):
    if isinstance(body, dict) and isinstance(body.get("items"), list):
        body["items"] = [item["metadata"]["name"] for item in body["items"]]
    return body


def scripts():
    return [objects(), selectors(), lists(), watches()]
