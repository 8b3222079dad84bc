#!/usr/bin/env python3
"""The model of the ring (docs/models/ring.pml), searched in full by spin.

usage: check_models.py MODEL small|long

Every configuration must come out without an error and with every statement reached, and every mutant
with an error: a model that cannot fail says nothing. Exits 77, with a word, where spin is missing.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
MEMORY_MB = 8000
DEPTH = 100000

ONE_TO_TWO = {"WORKERS_0": 1, "WORKERS_1": 2, "BLOCKS": 4}
THREE_TWO_THREE = {"WORKERS_0": 3, "WORKERS_1": 2, "WORKERS_2": 3, "BLOCKS": 6}
TWO_THREE_TWO = {"WORKERS_0": 2, "WORKERS_1": 3, "WORKERS_2": 2, "BLOCKS": 6}

# All with two ingest agents for each generation, and any place for each rescale and change.
CONFIGURATIONS = {
    "small": [ONE_TO_TWO, THREE_TWO_THREE],
    "long": [
        {**THREE_TWO_THREE, "CUTS": 2},
        {**TWO_THREE_TWO, "CUTS": 2},
        {**THREE_TWO_THREE, "AGENTS": 3, "SIZE": 3},
        {**THREE_TWO_THREE, "BLOCKS": 8, "SIZE": 4, "SLOTS": 6},
    ],
}
# Those that are searched for errors of the mutants.
MUTATED = {"small": ONE_TO_TWO, "long": THREE_TWO_THREE}
# These need a generation that begins before the one before the last has ended.
NEEDS_THREE_GENERATIONS = {"COUNTS_OUTLIVE_GENERATIONS"}


def name_of(defines):
    return " ".join(f"{name}={value}" for name, value in defines.items())


def search(model, compiler, defines, optimise):
    """What the search found, as a text, with what it says of itself."""
    with tempfile.TemporaryDirectory() as folder:
        flags = [f"-D{name}={value}" for name, value in defines.items()]
        subprocess.run(["spin", *flags, "-a", model], cwd=folder, check=True)
        subprocess.run([compiler, optimise, "-w", "-DSAFETY", "-DCOLLAPSE", f"-DMEMLIM={MEMORY_MB}",
                        "-o", "pan", "pan.c"], cwd=folder, check=True)
        return subprocess.run(["./pan", f"-m{DEPTH}"], cwd=folder, check=True, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout


def number(pattern, text):
    match = re.search(pattern, text)
    return float(match.group(1)) if match else float("nan")


def first_error(text):
    match = re.search(r"^pan:\d+: (.*?)(?: \(at depth \d+\))?$", text, re.M)
    return match.group(1) if match else "none"


def faults(text):
    """Why the search does not show that the model is right; empty if it does."""
    found = []
    if number(r"errors: (\d+)", text) != 0:
        found.append(f"an error: {first_error(text)}")
    if re.search(r"max search depth too small|Search not completed|out of memory|aborting", text):
        found.append("the search was not completed")
    # A process that never ends does not reach its end; everything else must be.
    found += [f"never reached: {line.strip()}"
              for line in re.findall(r"^\t.*state \d+, .*$", text, re.M) if '"-end-"' not in line]
    return found


def main():
    model, size = os.path.abspath(sys.argv[1]), sys.argv[2]
    compiler = shutil.which("gcc") or shutil.which("cc")
    if shutil.which("spin") is None or compiler is None:
        print("SKIPPED: spin or a C compiler is not installed, so the MODEL OF THE RING IS NOT CHECKED; "
              "apt-get install spin gcc")
        return SKIPPED

    failed = False
    for defines in CONFIGURATIONS[size]:
        text = search(model, compiler, defines, "-O2" if size == "long" else "-O0")
        wrong = faults(text)
        failed |= bool(wrong)
        states = number(r"(\d+) states, stored", text)
        seconds = number(r"elapsed time ([\d.]+)", text)
        memory = number(r"([\d.]+)\s+total actual memory", text)
        print(f"{name_of(defines)}: {states:.0f} states, {seconds} s, {memory:.0f} MB", flush=True)
        for one in wrong:
            print(f"  FAILED: {one}", flush=True)

    with open(model, encoding="utf-8") as file:
        mutants = sorted(set(re.findall(r"\bMUTANT_(\w+)", file.read())))
    if not mutants:
        print("FAILED: the model has no mutants")
        failed = True
    for mutant in mutants:
        base = THREE_TWO_THREE if mutant in NEEDS_THREE_GENERATIONS else MUTATED[size]
        text = search(model, compiler, {**base, f"MUTANT_{mutant}": 1}, "-O0")
        caught = number(r"errors: (\d+)", text) > 0
        failed |= not caught
        print(f"mutant {mutant}: {first_error(text) if caught else 'FAILED: nobody noticed'}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
