#!/usr/bin/env python3
"""The tables of docs/performance.md, "Hierarchies", from recorded results.

usage: hierarchy_tables.py RESULTS.jsonl...

Prints, as Markdown, what the files hold of the experiments hierarchy, changes and micro (benchmarks
of groups). Where a configuration was recorded more than once, its last line counts.
"""

import json
import sys

JOBS = [("weir", "none"), ("weir", "latest"), ("weir", "tumbling"), ("weir", "sliding"),
        ("weir", "changelog"), ("weir", "changelog-written"), ("duckdb", "sensors"),
        ("duckdb", "windows"), ("duckdb", "newest")]
MICRO = ["latest", "tumbling", "sliding_6", "changelog"]


def number(value):
    """Three digits, no exponent."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def spread(entry, scale=1.0):
    if entry is None:
        return ""
    low, middle, high = (number(entry[key] * scale) for key in ("min", "median", "max"))
    return f"{middle} ({low} to {high})"


def row(cells):
    print("| " + " | ".join(cells) + " |")


def table(head):
    row(head)
    print("|" + "---|" * len(head))


def each_size(lines, threads, value, first, skip=()):
    """A row a job, a column a size; `value` of each line that is there."""
    sizes = sorted({sensors for _, _, sensors, n in lines if n == threads})
    table([first] + [f"{size:,}".replace(",", " ") for size in sizes])
    for system, job in JOBS:
        found = [lines.get((system, job, size, threads)) for size in sizes]
        cells = [value(line) if line else "" for line in found]
        if job not in skip and any(cells):
            row([f"{system}: {job}"] + cells)
    print()


def job_tables(lines):
    for threads in sorted({n for _, _, _, n in lines}):
        plural = "s" if threads > 1 else ""
        each_size(lines, threads, lambda line: spread(line["records_per_second"], 1e-6),
                  f"M records/s by sensors, {threads} thread{plural}")
        each_size(lines, threads,
                  lambda line: " / ".join(number(line["over_duckdb"][query]["median"])
                                          for query in ("sensors", "windows", "newest")
                                          if query in line.get("over_duckdb", {})),
                  f"times DuckDB's sensors / windows / newest, {threads} thread{plural}")
        if threads > 1:
            each_size(lines, threads, lambda line: spread(line.get("over_one_thread")),
                      f"{threads} threads over one")
    each_size(lines, 1, lambda line: spread(line.get("ns_beyond_none")),
              "ns a record beyond none, one thread", skip=("none",))
    each_size(lines, 1, lambda line: spread(line.get("cpu_ns_beyond_none")),
              "CPU ns a record beyond none, one thread; the registry read, the digest", skip=("none",))
    each_size(lines, 1,
              lambda line: (f"{100 * line['lane_share']:.0f} %, {line['cores_of_one_owner']:.1f}"
                            if "lane_share" in line else ""),
              "share of a record's time, cores that one owner keeps up with",
              skip=("none", "changelog-written"))


def change_table(lines):
    table(["mode", "threads", "M records/s without", "with changes", "longest pause, ms: without",
           "with changes", "ms of CPU time: without", "with changes", "ms a change",
           "ms of CPU time a change"])
    for mode, threads in sorted({(mode, n) for mode, n, _ in lines}):
        without, changed = lines.get((mode, threads, False)), lines.get((mode, threads, True))
        if without is None or changed is None:
            continue
        row([mode, str(threads), spread(without["records_per_second"], 1e-6),
             spread(changed["records_per_second"], 1e-6), spread(without["longest_pause_ms"]),
             spread(changed["longest_pause_ms"]),
             spread(without["longest_work_ms"]), spread(changed["longest_work_ms"]),
             spread(changed["ms_a_change"]), spread(changed["cpu_ms_a_change"])])
    print()


def micro_tables(micro):
    sizes = sorted({int(name.rsplit(":", 1)[1]) for name in micro if "sensors:" in name})
    if sizes:
        table(["ns a measurement, columns to rows, by sensors"] + [str(size) for size in sizes])
        for mode in MICRO:
            row([mode] + [spread(micro.get(f"groups/{mode}/sensors:{size}")) for size in sizes])
        print()
    replaced = [name for name in sorted(micro) if name.startswith("groups/replace")]
    if replaced:
        table(["Groups::change alone", "ms"])
        for name in replaced:
            row([name, spread(micro[name], 1e-6)])


def main():
    jobs, changes, micro = {}, {}, {}
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            for text in file:
                line = json.loads(text)
                if line.get("experiment") == "hierarchy":
                    jobs[(line["system"], line["job"], line["sensors"], line["threads"])] = line
                elif line.get("experiment") == "changes":
                    changes[(line["mode"], line["threads"], line["changes"] > 0)] = line
                elif line.get("benchmark", "").startswith("groups/"):
                    micro[line["benchmark"]] = line["ns_an_item"]
    for found, print_tables in ((jobs, job_tables), (changes, change_table), (micro, micro_tables)):
        if found:
            print_tables(found)
    return 0 if jobs or changes or micro else "nothing recorded in these files"


if __name__ == "__main__":
    sys.exit(main())
