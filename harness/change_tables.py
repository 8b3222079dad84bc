#!/usr/bin/env python3
"""The tables of docs/performance.md, "Change and failure", from recorded results.

usage: change_tables.py RESULTS.jsonl...

Prints, as Markdown, what the files hold of the experiments rescale, snapshots, journal and restart,
and beside each goal whether it is met. Where a configuration was recorded more than once, its last
line counts.
"""

import json
import sys

from hierarchy_tables import number, row, spread, table


def verdict(met):
    return "met" if met else "**missed**"


def percent(entry):
    low, middle, high = (number(100 * entry[key]) for key in ("min", "median", "max"))
    return f"{middle} ({low} to {high}) %"


def rescale_tables(lines):
    table(["workers", "M records/s before the first change", "slowest 100 ms before", "slowest 100 ms behind it",
           "of the rate before", "goal", "longest wait at a mark, ms", "median wait, ms"])
    for workers in sorted(lines, key=len):
        line = lines[workers]
        share, changed = line["worst_over_steady"], "-" in workers
        row(["to ".join(f"{each} " for each in workers.split("-")).strip(), spread(line["steady"], 1e-6),
             spread(line["worst_100ms_before"], 1e-6), spread(line["worst_100ms"], 1e-6), spread(share),
             f"≥ 0.5: {verdict(share['median'] >= 0.5)}" if changed else "",
             spread(line["longest_wait_ms"]) if changed else "",
             spread(line["median_wait_ms"]) if changed else ""])
    print()
    # Of each change, over the repetitions: the slowest 100 ms around it and the rates beside it.
    table(["change, medians", "M records/s before", "slowest 100 ms", "M records/s behind"])
    for workers in sorted(lines, key=len):
        changes = [run["details"]["changes"] for run in lines[workers]["repetitions"]]
        steps = workers.split("-")
        for i in range(len(steps) - 1):
            middle = [sorted(each[i][key] for each in changes)[len(changes) // 2] * 1e-6
                      for key in ("rate_before", "worst_100ms", "rate_behind")]
            row([f"{steps[i]} to {steps[i + 1]}, of {workers}"] + [number(value) for value in middle])
    print()


def snapshot_table(lines):
    table(["threads", "M records/s without", "with", "cost of the rate", "goal", "ms a snapshot",
           "slowed at most, ms: without", "with", "goal", "stopped at most, ms: without", "with",
           "lost around one, ms: without", "with", "state, MB", "snapshot, MB"])
    for threads in sorted({threads for threads, _ in lines}):
        without, taken = lines.get((threads, False)), lines.get((threads, True))
        if without is None or taken is None:
            continue
        row([str(threads), spread(without["records_per_second"], 1e-6), spread(taken["records_per_second"], 1e-6),
             percent(taken["cost"]), f"≤ 5 %: {verdict(taken['cost']['median'] <= 0.05)}",
             spread(taken["ms_a_snapshot"]), spread(without["slowed_ms"]), spread(taken["slowed_ms"]),
             f"≤ 50: {verdict(taken['slowed_ms']['median'] <= 50)}", spread(without["stopped_ms"]),
             spread(taken["stopped_ms"]), spread(without["lost_ms"]), spread(taken["lost_ms"]),
             number(taken["state_bytes"]["median"] * 1e-6), number(taken["snapshot_bytes"]["median"] * 1e-6)])
    print()


def journal_table(lines):
    table(["", "M records/s, until all is on disk", "cores busy", "journal, of a core", "of the run", "over the plain writer",
           "goal"])
    for paced, job in sorted(lines, key=lambda key: (not key[0], ("without", "journal", "plain").index(key[1]))):
        line = lines[(paced, job)]
        goal = ""
        if job == "journal":
            goal = (f"≤ 15 % of a core: {verdict(line['share_of_a_core']['median'] <= 0.15)}" if paced
                    else f"≥ 0.8: {verdict(line['over_plain']['median'] >= 0.8)}")
        row([f"{'paced' if paced else 'full rate'}, {job}", spread(line["kept_per_second"], 1e-6), spread(line["cores_busy"]),
             percent(line["share_of_a_core"]) if job == "journal" else "",
             percent(line["share_of_run"]) if job == "journal" else "",
             spread(line.get("over_plain")), goal])
    print()


def restart_table(lines):
    table(["sensors", "snapshot, MB", "ms from the start of the process to the first record", "from Engine::create",
           "in Engine::create", "from Engine::start", "goal"])
    for sensors in sorted(lines):
        line = lines[sensors]
        whole = line["ms_process_to_first"]
        row([str(sensors), number(line["snapshot_bytes"] * 1e-6), spread(whole), spread(line["ms_create_to_first"]),
             spread(line["ms_create"]), spread(line["ms_start_to_first"]),
             f"≤ 1000: {verdict(whole['max'] <= 1000)}"])
    print()


def main():
    found = {"rescale": {}, "snapshots": {}, "journal": {}, "restart": {}}
    keys = {"rescale": lambda line: line["workers"],
            "snapshots": lambda line: (line["threads"], line["every_seconds"] > 0),
            "journal": lambda line: (line["pace"] > 0, line["job"]),
            "restart": lambda line: line["sensors"]}
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            for text in file:
                line = json.loads(text)
                if line.get("experiment") in found:
                    found[line["experiment"]][keys[line["experiment"]](line)] = line
    for name, print_tables in (("rescale", rescale_tables), ("snapshots", snapshot_table),
                               ("journal", journal_table), ("restart", restart_table)):
        if found[name]:
            print_tables(found[name])
    return 0 if any(found.values()) else "nothing recorded in these files"


if __name__ == "__main__":
    sys.exit(main())
