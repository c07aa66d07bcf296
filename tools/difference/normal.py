"""Takes out of an answer what two servers can't have alike: ids, versions, times, addresses."""
import json
import re

UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
TIME = re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?( ?Z|[+-]\d\d:?\d\d( UTC)?)?")
LONG_TIME = re.compile(r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}")
AGE = re.compile(r"\d+(ms|[smhdy])(\d+[smhd])?")
AGE_WORD = re.compile(r"(?<![\w.-])(\d{1,3}s|\d+m\d+s|\d+h\d+m)(?![\w.-])")
SUFFIX = re.compile(r"\b(gen-(?:Bad_)?)[a-z0-9]{5}\b")
QUOTED = re.compile(r'Invalid value: "(?:\\.|[^"\\])*"')
DEBUG_UID = "<uid>"


def normal_text(text, server):
    text = UID.sub(DEBUG_UID, text)
    text = TIME.sub("<time>", text)
    text = LONG_TIME.sub("<time>", text)
    text = SUFFIX.sub(r"\1<suffix>", text)
    text = text.replace(server.url, "<server>").replace(server.host, "<host>").replace(str(server.folder), "<folder>")
    text = re.sub(r"(resource version: )\d+ \(\d+\)", r"\1<rv> (<rv>)", text)
    text = re.sub(r"(?i)(resource ?version:? +\"?)\d+", r"\1<rv>", text)
    text = re.sub(r"/tmp/kubectl-edit-\d+", "<file>", text)
    text = re.sub(r"\b([WIE])\d{4} [\d:.]+ +\d+ ", r"\1<log> ", text)
    text = re.sub(r"(resourceVersion[=\\\":]*)\d+", r"\1<rv>", text)
    text = re.sub(r"(current: |in record \()\d+", r"\1<rv>", text)
    text = re.sub(r"\b10\.96\.\d+\.\d+", "<ip>", text)
    return text


def sorted_causes(status):
    """A real server walks maps, so that it tells faults in any order."""
    causes = (status.get("details") or {}).get("causes") or []
    told = [f"{cause.get('field')}: {cause.get('message')}" for cause in causes]
    message = status.get("message", "").replace(", ".join(told), "<causes>") if len(told) > 1 else status.get("message", "")
    if "conflicts:" in message:
        message = "\n".join(sorted(message.split("\n")))
    if any(cause.get("field") == "patch" for cause in causes):  # quotes what the patch came to, in any order
        message = QUOTED.sub("Invalid value: <object>", message)
        causes = [{**cause, "message": QUOTED.sub("Invalid value: <object>", cause["message"])} for cause in causes]
    causes = sorted(causes, key=lambda cause: (str(cause.get("field")), str(cause.get("message"))))
    return {**status, "message": message, "details": {**status["details"], "causes": causes}}


def by_owner(entry):
    return str([entry.get(key) for key in ("manager", "operation", "subresource", "apiVersion", "fieldsV1")])


def normal_json(value, server, key=""):
    if isinstance(value, dict):
        if value.get("kind") == "Status" and (value.get("details") or {}).get("causes"):
            value = sorted_causes(value)
        if isinstance(value.get("managedFields"), list):  # in the order of their times, which a second's end changes
            value = {**value, "managedFields": sorted(value["managedFields"], key=by_owner)}
        return {normal_text(name, server): normal_json(one, server, name) for name, one in value.items()}
    if isinstance(value, list):
        return [normal_json(one, server, key) for one in value]
    if isinstance(value, str):
        if key in ("resourceVersion", "currentRevision") and value.isdigit() and value != "0":
            return "<rv>"
        if key == "continue" and value:
            return "<continue>"
        if key == "cells" and AGE.fullmatch(value):
            return "<age>"
        if key == "hash" or (key == "serverRelativeURL" and "hash=" in value):
            return re.sub(r"hash=\w+", "hash=<hash>", value)
        return normal_text(value, server)
    return value


def normal_output(text, server):
    """What kubectl printed: JSON by its structure, tables without their widths."""
    stripped = text.strip()
    if stripped.startswith("{") and stripped.endswith("}"):
        try:
            return normal_json(json.loads(stripped), server)
        except ValueError:
            pass
    lines = []
    for line in normal_text(text, server).split("\n"):
        line = AGE_WORD.sub("<age>", line.rstrip())
        lines.append(re.sub(r"(?<=\S) {2,}", "  ", line))
    return lines[:-1] if lines and not lines[-1] else lines


def normal_body(body, content_type, server):
    if "json" in content_type or body.startswith("{"):
        try:
            return normal_json(json.loads(body), server)
        except ValueError:
            pass
    return normal_text(body, server).split("\n")
