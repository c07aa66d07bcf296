"""What admission fills in and refuses: limit ranges, and quotas that nobody counts."""
from ..steps import Script, thing

HOME = "bounded"
PODS = f"/api/v1/namespaces/{HOME}/pods"
RANGES = f"/api/v1/namespaces/{HOME}/limitranges"

# A limit, and what the containers of each pod say. One fault each: several have no order.
RANGE = {
    "defaults": ({"type": "Container", "default": {"cpu": "500m", "memory": "1Gi"}, "defaultRequest": {"cpu": "250m"}}, [
        {}, {"limits": {"cpu": "2"}}, {"requests": {"cpu": "100m"}}, {"requests": {"cpu": "1"}}, {"limits": {"memory": "2Gi"}, "requests": {"cpu": "1m"}}]),
    "most": ({"type": "Container", "max": {"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": "4"}}, [
        {}, {"limits": {"cpu": "2"}}, {"limits": {"nvidia.com/gpu": "8"}}, {"requests": {"cpu": "1500m"}}]),
    "least": ({"type": "Container", "min": {"cpu": "100m", "memory": "256Mi"}}, [
        {}, {"requests": {"memory": "64Mi"}}, {"limits": {"cpu": "50m"}}]),
    "ratio": ({"type": "Container", "maxLimitRequestRatio": {"cpu": "2"}}, [
        {}, {"limits": {"cpu": "3"}, "requests": {"cpu": "1"}}, {"limits": {"cpu": "2"}, "requests": {"cpu": "1"}}, {"limits": {"cpu": "1"}}, {"requests": {"cpu": "1"}}]),
    "pods": ({"type": "Pod", "max": {"cpu": "2"}, "min": {"memory": "64Mi"}}, [
        {}, {"limits": {"cpu": "1", "memory": "1Gi"}}, {"limits": {"cpu": "3", "memory": "1Mi"}}, {"requests": {"cpu": "1", "memory": "1Gi"}}]),
}


def pod(name, amounts, count=1):
    containers = [{"name": f"c{i}", "image": "busybox", "resources": amounts} for i in range(count)]
    return thing("v1", "Pod", name, spec={"containers": containers, "initContainers": [{"name": "first", "image": "busybox", "resources": amounts}]})


def scripts():
    s = Script("limit ranges")
    s.namespace(HOME)
    for what, (limit, amounts) in RANGE.items():
        s.post(RANGES, thing("v1", "LimitRange", what, spec={"limits": [limit]}), f"make {what}", is_setup=True)
        for index, one in enumerate(amounts):
            s.post(PODS, pod(f"{what}-{index}", one), f"{what}: {one}")
            s.post(PODS, pod(f"{what}-{index}-two", one, 2), f"{what}, two: {one}")
        s.post(PODS, pod(f"{what}-dry", amounts[1]), f"{what}, another name")
        s.delete(f"{RANGES}/{what}", is_setup=True)
    quotas = Script("quotas")
    quotas.namespace("counted")
    base = "/api/v1/namespaces/counted"
    quotas.post(f"{base}/resourcequotas", thing("v1", "ResourceQuota", "none", spec={"hard": {"pods": "0", "requests.cpu": "1"}}), "a quota without its controller")
    quotas.post(f"{base}/pods", pod("one", {}), "a pod that nobody counts")
    quotas.get(f"{base}/resourcequotas/none", "a quota that nobody counts")
    return [s, quotas]
