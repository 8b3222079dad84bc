#!/usr/bin/env python3
"""Shows a file of answers as a table, one line an estimate. usage: show_answers.py ANSWERS.ndjson"""

import json
import sys

COLUMNS = ("seq", "stream", "synopsis", "query", "n", "estimate", "between", "confidence")


def text(value, width=44):
    shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return shown if len(shown) <= width else shown[: width - 1] + "…"


def row(answer):
    lower, upper = answer.get("lower"), answer.get("upper")
    bounds = "" if lower is None or upper is None else f"[{lower:.6g}, {upper:.6g}]"
    estimate = answer["estimate"]
    if isinstance(estimate, list) and estimate and isinstance(estimate[0], list):
        # Complex coefficients.
        estimate = " ".join(f"{pair[0]:.3g}{pair[1]:+.3g}i" for pair in estimate)
    return tuple(
        text("" if value is None else value)
        for value in (
            answer["seq"], answer["streamID"], answer["synopsis"], answer.get("query"), answer["n"],
            estimate, bounds, "exact" if answer.get("exact") else answer.get("confidence"),
        )
    )


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        answers = [json.loads(line) for line in file]
    rows = [COLUMNS] + [row(a) for a in answers if a["kind"] in ("ad-hoc", "continuous")]
    widths = [max(len(r[i]) for r in rows) for i in range(len(COLUMNS))]
    for r in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(r, widths)).rstrip())
    errors = [a for a in answers if a["kind"] == "error"]
    for answer in errors:
        print("error:", answer.get("reason"))


if __name__ == "__main__":
    main()
