#!/usr/bin/env python3
"""Real hierarchies against exact fractions, with nothing of weir's code.

usage: tree_check.py make  plugs|building SOURCE FOLDER
       tree_check.py check plugs|building SOURCE tumbling|latest RESULTS

make writes registry.json and records.ndjson into FOLDER: of DEBS 2014's smart plugs (lines of
`ts value property plug household house`; property 1 is the load) a tree house, household, plug; of a
building's registry made-up readings. check works out from SOURCE what each group comes to, in
tumbling windows of 10 s with as much grace or as the values that stand at the end, and compares it
with results of a run: count, min, max, members, sensors and missing exactly, sums within
n * 2^-53 * sum |v| of the exact one. It prints what differs and exits 1.
"""

import json
import os
import sys
from fractions import Fraction

WINDOW = GRACE = 10_000  # ms
READINGS = 30_000


def plug_records(path):
    """(time in ms, stream, property, value as text), in the order of the file."""
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            ts, value, what, plug, household, house = line.split()
            yield int(ts) * 1000, f"{house}/{household}/{plug}", int(what), value


def plug_tree(path):
    houses = {}
    for _, stream, _, _ in plug_records(path):
        house, household, _ = stream.split("/")
        houses.setdefault(house, {}).setdefault(f"{house}/{household}", set()).add(stream)
    return {
        "identifier": "city",
        "name": "all houses",
        "children": [
            {"identifier": f"house {house}", "children": [
                {"identifier": f"household {household}", "children": [
                    {"identifier": plug} for plug in plugs]}
                for household, plugs in households.items()]}
            for house, households in houses.items()],
    }


def sensors_of(tree):
    if "children" not in tree:
        return [tree["identifier"]]
    return [s for child in tree["children"] for s in sensors_of(child)]


def building_records(tree):
    """Readings by a generator of our own: values of all sizes, times that step back at times."""
    sensors = sorted(set(sensors_of(tree)))
    state = 20140901
    for i in range(READINGS):
        drawn = []
        for _ in range(4):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            drawn.append(state >> 33)
        scale = ("e16", "e-3", "e9", "e0")[drawn[0] % 4]
        sign = "-" if drawn[0] % 8 >= 4 else ""
        value = f"{sign}{1 + drawn[1] % 9}.{drawn[2] % 100000:05}{scale}"
        back = drawn[3] % 3_000 if drawn[3] % 7 == 0 else 0
        # Five in a hundred sensors never say anything.
        yield 1_574_000_000_000 + 20 * i - back, sensors[drawn[3] % (len(sensors) * 95 // 100)], 1, value


def load(kind, source):
    """The tree and the records as lists."""
    if kind == "plugs":
        return plug_tree(source), list(plug_records(source))
    with open(source, encoding="utf-8") as file:
        tree = json.load(file)
    return tree, list(building_records(tree))


def make(kind, source, folder):
    tree, records = load(kind, source)
    with open(os.path.join(folder, "registry.json"), "w", encoding="utf-8") as file:
        json.dump(tree, file)
    with open(os.path.join(folder, "records.ndjson"), "w", encoding="utf-8") as file:
        for time, stream, what, value in records:
            field = "valueInW" if what == 1 else "workInKWh"
            file.write(f'{{"identifier":"{stream}","timestamp":{time},"{field}":{value}}}\n')


def newest(records, mode):
    """window start, or None, -> sensor -> (time, value)."""
    windows, stream_time = {}, None
    for time, stream, what, value in records:
        stream_time = time if stream_time is None else max(stream_time, time)
        if what != 1:
            continue
        window = None
        if mode == "tumbling":
            window = time // WINDOW * WINDOW
            if window + WINDOW <= stream_time - GRACE:
                continue
        values = windows.setdefault(window, {})
        if stream not in values or time >= values[stream][0]:
            values[stream] = (time, float(value))
    return windows


def groups_of(tree, into):
    """identifier -> (members, distinct sensors below) of every group."""
    if "children" not in tree:
        return {tree["identifier"]}
    below = [groups_of(child, into) for child in tree["children"]]
    into[tree["identifier"]] = (below, set().union(*below))
    return into[tree["identifier"]][1]


def expected(kind, source, mode):
    tree, records = load(kind, source)
    groups = {}
    groups_of(tree, groups)
    for window, values in newest(records, mode).items():
        for group, (members, sensors) in groups.items():
            found = [values[s][1] for s in sensors if s in values]
            if found:
                yield (window, group), {
                    "count": sum(any(s in values for s in member) for member in members),
                    "min": min(found), "max": max(found), "members": len(members),
                    "sensors": len(sensors), "missing": len(sensors) - len(found),
                }, sum(map(Fraction, found)), len(found) * sum(abs(Fraction(v)) for v in found) / 2**53


def check(kind, source, mode, results):
    last = {}
    with open(results, encoding="utf-8") as lines:
        for line in lines:
            result = json.loads(line)
            last[result.get("windowStart"), result["identifier"]] = result
    faults, checked = [], 0
    for key, exactly, total, bound in expected(kind, source, mode):
        result = last.pop(key, None)
        if result is None:
            faults.append(f"{key}: never published")
            continue
        checked += 1
        for name, value in exactly.items():
            if result[name] != value:
                faults.append(f"{key}: {name} is {result[name]}, not {value}")
        if abs(Fraction(result["sum"]) - total) > bound:
            faults.append(f"{key}: sum is {result['sum']}, not {float(total)}")
        if result["average"] != result["sum"] / result["count"]:
            faults.append(f"{key}: average is {result['average']}")
        if result["complete"] != (exactly["missing"] == 0):
            faults.append(f"{key}: complete is {result['complete']}")
    faults += [f"{key}: published without a value" for key in last]
    for fault in faults[:20]:
        print(fault)
    print(f"{checked} groups are right, {len(faults)} faults")
    return 1 if faults or not checked else 0


def main(arguments):
    if len(arguments) == 4 and arguments[0] == "make":
        make(*arguments[1:])
        return 0
    if len(arguments) == 5 and arguments[0] == "check":
        return check(*arguments[1:])
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
