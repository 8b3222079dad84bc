#!/usr/bin/env python3
"""Requests for a file of stocks: CountMin, HyperLogLog and DFT on the price of every stream, and
queries for a few of them. usage: requests.py STOCKS.ndjson >REQUESTS.ndjson"""

import json
import sys

KINDS = (
    ("CountMin", {"epsilon": 0.002, "confidence": 0.99}),
    ("HyperLogLog", {"rsd": 0.02}),
    ("DFT", {"window": 500, "slide": 200, "coefficients": 8}),
)
LOOK_AHEAD = 200_000  # records in which every stream is expected to show itself
ASKED = 3             # streams that are asked about, the busiest


def streams(path):
    """{(dataset, stream): (records, last price)} of the first records; damaged ones are passed over."""
    seen = {}
    with open(path, "rb") as file:
        for _, line in zip(range(LOOK_AHEAD), file):
            try:
                record = json.loads(line)
                key = record["dataSetKey"], record["streamID"]
                price = float(record["price"])
            except (ValueError, KeyError, TypeError):
                continue
            if not all(isinstance(part, str) for part in key):
                continue
            seen[key] = seen.get(key, (0, 0))[0] + 1, price
    return seen


def main():
    seen = streams(sys.argv[1])
    for dataset, stream in sorted(seen):
        for synopsis, params in KINDS:
            say(op="build", synopsis=synopsis, dataset=dataset, stream=stream, field="price", params=params)
    busiest = sorted(seen, key=lambda key: (-seen[key][0], key))[:ASKED]
    for number, (dataset, stream) in enumerate(busiest, start=1):
        target = {"dataset": dataset, "stream": stream, "field": "price"}
        say(op="query", requestID=f"distinct-{number}", synopsis="HyperLogLog", continuous=True, **target)
        say(op="query", requestID=f"count-{number}", synopsis="CountMin",
            query=seen[dataset, stream][1], **target)
        say(op="query", requestID=f"dft-{number}", synopsis="DFT", **target)


def say(**request):
    print(json.dumps(request, separators=(",", ":"), ensure_ascii=False))


if __name__ == "__main__":
    main()
