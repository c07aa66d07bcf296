"""Where two answers are not the same, as (place, lab's, real one's)."""
import fnmatch
import json


class Nothing:
    def __repr__(self):
        return "(nothing)"


NOTHING = Nothing()
KEYS = ("metadata.name", "name", "groupVersion", "resource", "version", "manager", "type", "subresource", "topologyKey")


def key_of(item, key):
    for part in key.split("."):
        if not isinstance(item, dict) or part not in item:
            return None
        item = item[part]
    return item if isinstance(item, str) else None


def key_for(left, right):
    """A field that names every item of both lists, once each."""
    for key in KEYS:
        names = [[key_of(item, key) for item in items] for items in (left, right)]
        if all(None not in side and len(set(side)) == len(side) for side in names):
            return key
    return None


def differences(lab, real, place=""):
    if type(lab) is not type(real):
        return [] if lab == real and not isinstance(lab, bool) and not isinstance(real, bool) else [(place, lab, real)]
    if isinstance(lab, dict):
        out = []
        for name in list(lab) + [name for name in real if name not in lab]:
            below = f"{place}.{name}" if place else name
            out += differences(lab.get(name, NOTHING), real.get(name, NOTHING), below)
        return out
    if isinstance(lab, list):
        return list_differences(lab, real, place)
    return [] if lab == real else [(place, lab, real)]


def list_differences(lab, real, place):
    key = key_for(lab, real) if lab and real and all(isinstance(one, dict) for one in lab + real) else None
    if key is None:
        if lab and real and all(isinstance(one, str) for one in lab + real):
            return [] if lab == real else text_differences(lab, real, place)
        out = []
        for index in range(max(len(lab), len(real))):
            left = lab[index] if index < len(lab) else NOTHING
            right = real[index] if index < len(real) else NOTHING
            out += differences(left, right, f"{place}[{index}]")
        return out
    ours = {key_of(item, key): item for item in lab}
    theirs = {key_of(item, key): item for item in real}
    out = []
    for name in list(ours) + [name for name in theirs if name not in ours]:
        out += differences(ours.get(name, NOTHING), theirs.get(name, NOTHING), f"{place}[{name}]")
    shared = [[name for name in side if name in ours and name in theirs] for side in (ours, theirs)]
    if shared[0] != shared[1]:
        out.append((f"{place}.order", shared[0], shared[1]))
    return out


def text_differences(lab, real, place):
    """Lines of text, or a list of words: what only one of them has."""
    import difflib
    out = []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, lab, real, autojunk=False).get_opcodes():
        if tag != "equal":
            out.append((f"{place}[{c}]", lab[a:b], real[c:d]))
    return out


def shown(value):
    if value is NOTHING:
        return "(nothing)"
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        return "\n            ".join(value) if len(value) > 1 else json.dumps(value[0])
    text = json.dumps(value)
    return text if len(text) < 900 else text[:900] + "…"


class Known:
    """The differences that are meant to be. Each must still occur."""

    def __init__(self, entries):
        self.entries = entries
        self.used = [0] * len(entries)

    def covers(self, step, place, is_counted=True):
        for index, entry in enumerate(self.entries):
            steps = entry["steps"] if isinstance(entry["steps"], list) else [entry["steps"]]
            if any(matches(step, one) for one in steps) and any(matches(place, one) for one in entry["at"]):
                self.used[index] += is_counted
                return True
        return False

    def unused(self):
        return [entry for entry, count in zip(self.entries, self.used) if count == 0]


def matches(text, pattern):
    """`*` is anything; all else means itself."""
    return fnmatch.fnmatchcase(text, "".join("[[]" if c == "[" else "[?]" if c == "?" else c for c in pattern))
