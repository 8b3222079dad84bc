#!/usr/bin/env python3
"""The tables of docs/performance.md, "Synopses", from recorded results.

usage: synopses_tables.py RESULTS.jsonl...

Prints, as Markdown, what the files hold of the experiments micro (benchmarks of synopses), synopses
and correlation. Where a configuration was recorded more than once, its last line counts.
"""

import json
import sys

# Row of the update table: (title, benchmark, goal for a batch of one stream).
ROWS = [
    ("CountMin(0.002, 0.99)", "CountMin", "≤ 4"),
    ("the same with weights", "CountMin_weighted", ""),
    ("HyperLogLog(0.02)", "HyperLogLog", "≤ 2"),
    ("BloomFilter(10⁶, 0.01)", "BloomFilter", "≤ 8"),
    ("AMS(5, 1024)", "AMS_5x1024", "≤ 7"),
    ("the same with weights", "AMS_5x1024_weighted", ""),
    ("AMS(10, 10 000)", "AMS_10x10000", "≤ 18"),
    ("DFT(500, 200, 8)", "DFT", "≤ 4"),
    ("LossyCounting(10⁻³)", "LossyCounting", "≤ 20"),
    ("the same with weights", "LossyCounting_weighted", ""),
    ("StickySampling(0.01, 10⁻³, 0.01)", "StickySampling", "≤ 15"),
    ("GKQuantiles(0.01)", "GKQuantiles", "≤ 25"),
    ("WindowSketchQuantiles(0.01, 20 000)", "WindowSketchQuantiles", "≤ 60"),
    ("LSH(100, 100), taking a value", "LSH", "≤ 5"),
    ("TopK(1000), a plug-in", "TopK/k:1000", ""),
]
HUNDRED = ["CountMin", "HyperLogLog", "DFT", "BloomFilter", "AMS_5x1024", "LossyCounting",
           "StickySampling", "GKQuantiles", "WindowSketchQuantiles", "LSH", "all_three", "all_ten"]


def number(value):
    """Three digits, no exponent."""
    if value < 0.005:
        return "< 0.01"
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def spread(entry, scale=1.0):
    return f"{number(entry['min'] * scale)} ({number(entry['median'] * scale)})" if entry else ""


def name_of(kind, row, run, zipf):
    stem, _, rest = row.partition("/")
    return f"{kind}/{stem}/run:{run}/zipf:{zipf}" + (f"/{rest}" if rest else "")


def update_table(micro):
    """Our figures, then the peers' at 4096 uniform / Zipf, then how many times ours they take."""
    print("| ns a value: least (median) | goal | uniform, 4096 | uniform, 25 | Zipf, 4096 | Zipf, 25 "
          "| scalar twin | straw man | twin ÷ ours, 4096, 25 | straw man ÷ ours, 4096, 25 |")
    print("|" + "---|" * 10)
    for title, row, goal in ROWS:
        def least(kind, run, zipf):
            return micro.get(name_of(kind, row, run, zipf), {}).get("min")
        if least("one_stream", 4096, 0) is None:
            continue
        cells = [title, goal] + [spread(micro.get(name_of("one_stream", row, run, zipf)))
                                 for zipf in (0, 1) for run in (4096, 25)]
        peers, ratios = [], []
        for kind in ("scalar_twin", "straw_man"):
            both = [least(kind, 4096, zipf) for zipf in (0, 1)]
            peers.append(" / ".join(number(each) for each in both) if all(both) else "–")
            each = [least(kind, run, 0) / least("one_stream", run, 0)
                    for run in (4096, 25) if least(kind, run, 0) and least("one_stream", run, 0) > 0.01]
            ratios.append(", ".join(f"{ratio:.1f}" for ratio in each) or "–")
        print("| " + " | ".join(cells + peers + ratios) + " |")


def hundred_table(micro):
    print("| ns a value, least (median) | uniform, runs of 25 | runs of 1 | Zipf, runs of 25 | runs of 1 |")
    print("|" + "---|" * 5)
    rows = [(row, "hundred_streams") for row in HUNDRED]
    rows.insert(1, ("CountMin", "straw_man_hundred"))
    for row, kind in rows:
        found = [micro.get(name_of(kind, row, run, zipf)) for zipf in (0, 1) for run in (25, 1)]
        if any(found):
            title = row.replace("_", " ") + (" as the straw man" if kind != "hundred_streams" else "")
            print("| " + " | ".join([title] + [spread(each) for each in found]) + " |")


def other_table(micro):
    print("| | least (median) |")
    print("|---|---|")
    for name in sorted(micro):
        if name.startswith(("one_stream/LSH_signature", "scalar_twin/LSH_signature", "quantile_query",
                            "window/", "correlation_dot", "straw_man/GKQuantiles_", "on_a_grid/")):
            print(f"| {name} | {spread(micro[name])} ns |")


def job_table(job):
    threads = sorted({each["threads"] for each in job.values()})
    names = list(dict.fromkeys(name for name, _ in job))
    head = [f"M records/s, {n} thread{'s' * (n > 1)}: median (least to most)" for n in threads]
    print("| | " + " | ".join(head) + " | "
          "CPU ns a record, 1 thread: least (median) | beyond none | 2 threads ÷ 1 | peak MiB |")
    print("|" + "---|" * (len(threads) + 5))
    for name in names:
        cells = [name]
        for n in threads:
            rate = job[(name, n)]["records_per_second"]
            low, middle, high = (rate[key] / 1e6 for key in ("min", "median", "max"))
            cells.append(f"{number(middle)} ({number(low)} to {number(high)})")
        cells.append(spread(job[(name, threads[0])]["cpu_ns_a_record"]))
        beyond = job[(name, threads[0])].get("cpu_ns_beyond_none")
        cells.append(number(beyond["median"]) if beyond else "")
        ratio = job[(name, threads[-1])].get("over_one_thread")
        cells.append(f"{ratio['median']:.2f}" if ratio else "")
        peak = max(run["peak_bytes"] for n in threads for run in job[(name, n)]["repetitions"])
        print("| " + " | ".join(cells + [f"{peak / 2**20:.0f}"]) + " |")


def correlation_table(searches):
    print("| streams | series | T | threads | search, ms: least (median) | all pairs, ms | "
          "ratio of the least | pair by pair: median (least to most) | of CPU seconds | pairs | compared, % |")
    print("|" + "---|" * 11)
    for line in sorted(searches.values(), 
                       key=lambda d: (d["streams"], d["kind"], d["threshold"], d["threads"])):
        ratio = line["ratio"]
        cpu = (line["brute_force_cpu_seconds"]["median"] / line["cpu_seconds"]["median"]
               if "cpu_seconds" in line else None)
        cells = [str(line["streams"]), line["kind"], str(line["threshold"]), str(line["threads"]),
                 spread(line["seconds"], 1e3), spread(line["brute_force_seconds"], 1e3),
                 f"{line['ratio_of_minima']:.1f}",
                 f"{ratio['median']:.1f} ({ratio['min']:.1f} to {ratio['max']:.1f})",
                 f"{cpu:.1f}" if cpu else "", str(line["pairs"]),
                 f"{100 * line['compared_share']:.3g}"]
        print("| " + " | ".join(cells) + " |")


def main():
    micro, job, searches = {}, {}, {}
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            for text in file:
                line = json.loads(text)
                if line.get("experiment") == "micro":
                    micro[line["benchmark"]] = line["ns_an_item"]
                elif line.get("experiment") == "synopses":
                    job[(line["synopsis"], line["threads"])] = line
                elif line.get("experiment") == "correlation":
                    key = (line["streams"], line["kind"], line["threads"], line["threshold"])
                    searches[key] = line
    for found, table in ((micro, update_table), (micro, hundred_table), (micro, other_table),
                         (job, job_table), (searches, correlation_table)):
        if found:
            table(found)
            print()
    return 0 if micro or job or searches else "nothing recorded in these files"


if __name__ == "__main__":
    sys.exit(main())
