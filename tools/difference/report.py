"""What people read: differences found, and the page of those that are meant to be."""
from . import compare

BEGIN = "<!-- written by tools/lab_difference from tools/difference/known.json -->\n"
END = "<!-- end -->\n"


def difference(name, found, most=12):
    lines = [f"--- {name}"]
    for place, lab, real in found[:most]:
        lines.append(f"    {place}")
        lines.append(f"      lab:  {compare.shown(lab)}")
        lines.append(f"      real: {compare.shown(real)}")
    if len(found) > most:
        lines.append(f"    and {len(found) - most} more")
    return "\n".join(lines)


def page(entries, text):
    """The page with its table made anew."""
    rows = {}
    for entry in entries:
        rows.setdefault((entry["topic"], entry["why"]), None)
    table = ["| what | why |\n", "| --- | --- |\n", *(f"| {topic} | {why} |\n" for topic, why in rows)]
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return head + BEGIN + "".join(table) + END + tail
