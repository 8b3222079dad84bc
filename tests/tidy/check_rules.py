#!/usr/bin/env python3
"""Rules of the sources that a machine can check: who includes whom, names, words, sizes.

usage: check_rules.py ROOT

Prints one line `file:line: rule: what is wrong` for each breach and exits 1 if there is any. Each
rule is a function from a file to its breaches; RULES lists them. tests/tidy/check_rules_test.py
shows each one a file that breaks it.
"""

import os
import re
import subprocess
import sys

# Layers from the bottom; a folder may include its own and those under it. Siblings of one level do
# not see each other.
LEVELS = {
    "include/weir": 0, "core": 1, "ingest": 2, "synopses": 2, "hierarchy": 3, "engine": 4,
    "replay": 5, "serve": 5, "harness": 6, "tests": 6, "examples": 6,
}
# serve sees only the public API and these.
SERVE_MAY_SEE = ("core/metrics",)

# A package's headers, and where alone they may be included.
CONFINED = {
    "simdjson": (re.compile(r'#include [<"]simdjson'), ("ingest/", "engine/request", "engine/registry_text", "tests/", "harness/")),
    "Highway": (re.compile(r'#include [<"]hwy/'),
                ("synopses/", "ingest/", "hierarchy/", "tests/", "harness/")),
}

BANNED_NAMES = re.compile(r"(^|_)(util|utils|utility|helper|helpers|manager|common)(_|\.|$)", re.I)
BANNED_CLASS = re.compile(r"^\s*(?:class|struct)\s+\w*(?:Util|Helper|Manager|Common)\w*\b")
# "NUMA node" is right; so are names that other people gave (hwloc, Node.js).
NODE = re.compile(r"\b[Nn]odes?\b")
NODE_MAY = re.compile(r"NUMA[ -][Nn]odes?|numa_[Nn]ode|[Nn]ode\.js|@duckdb/node-api|node_modules|"
                      r"NODE_PATH|HWLOC_OBJ_\w+|\bnode:\w+|\{\"node\"|node[ ]duckdb_peer", re.X)
NODE_CODE = re.compile(r"toml::node|->node|nodeset")
# A record that is not used is rejected, late or unrouted.
DROPPED = re.compile(r"\bdropped\b", re.I)
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:work|root)/\w")
NATIVE = re.compile(r"-march=native|-mtune=native")

MAX_LINES = 500
# Files longer than that, each with its reason.
LONG_FILES = {
    "ingest/shape_kernel.cc": "one kernel, whose parts must be inlined into one loop for each target",
}
SOURCE = (".h", ".cc")
TEXT = SOURCE + (".md", ".txt", ".cmake", ".py", ".mjs", ".sh", ".json", ".toml", "")
# Breaches are what these files are about.
EXEMPT = ("tests/tidy/",)


def layer_of(path):
    for layer in LEVELS:
        if path.startswith(layer + "/"):
            return layer
    return None


def included_layer(target):
    return "include/weir" if target.startswith("weir/") else layer_of(target)


def check_layers(path, lines):
    own = layer_of(path)
    if own is None or not path.endswith(SOURCE):
        return
    for number, line in enumerate(lines, 1):
        match = re.match(r'\s*#include "([^"]+)"', line)
        if not match:
            continue
        target = match.group(1)
        other = included_layer(target)
        if other is None or other == own:
            if "/" not in target and not target.endswith(".inc"):
                yield number, "includes", f'"{target}" is not root-relative'
            continue
        if own == "serve" and other != "include/weir" and not target.startswith(SERVE_MAY_SEE):
            yield number, "layers", f"serve/ sees the public API only, not {target}"
        elif LEVELS[other] >= LEVELS[own] and LEVELS[own] < 6:
            yield number, "layers", f"{own}/ (level {LEVELS[own]}) includes {target} (level {LEVELS[other]})"


def check_confined(path, lines):
    if not path.endswith(SOURCE):
        return
    for number, line in enumerate(lines, 1):
        for package, (include, places) in CONFINED.items():
            if include.search(line) and not path.startswith(places):
                yield number, "confined", f"{package} is named only in {', '.join(places)}"


def check_headers(path, lines):
    if not path.endswith(".h"):
        return
    head = "\n".join(lines[:60])
    once = head.find("#pragma once")
    if once < 0 and not path.endswith("-inl.h"):
        yield 1, "header", "no #pragma once"
    if not lines or not lines[0].startswith("//"):
        yield 1, "header", "does not open with its purpose"
    if path.startswith(("tests/", "harness/")):
        return
    if not re.search(r"[Tt]hread[ -](?:safety|safe)|[Tt]hread\n?//? safety", head.replace("\n// ", " ")):
        if re.search(r"^\s*(class|struct)\s+\w+[^;]*\{", "\n".join(lines), re.M):
            yield 1, "header", "does not say its thread safety"


def check_names(path, lines):
    if BANNED_NAMES.search(os.path.basename(path)):
        yield 1, "names", "a file is called for what it does, not util, helper, manager or common"
    if path.endswith(SOURCE):
        for number, line in enumerate(lines, 1):
            if BANNED_CLASS.search(line):
                yield number, "names", "a class is called for what it does"


def check_words(path, lines):
    for number, line in enumerate(lines, 1):
        rest = NODE_CODE.sub("", NODE_MAY.sub("", line))
        if NODE.search(rest):
            yield number, "words", '"node" alone is ambiguous: say NUMA node, or group'
        if DROPPED.search(line):
            yield number, "words", "say rejected, late or unrouted"


def check_portable(path, lines):
    for number, line in enumerate(lines, 1):
        if NATIVE.search(line) and not path.endswith(".md"):
            yield number, "portable", "builds are portable; kernels choose their target at run time"
        if MACHINE_PATH.search(line):
            yield number, "portable", "a path of one machine"


def check_size(path, lines):
    if path.endswith(SOURCE + (".py", ".mjs")) and len(lines) > MAX_LINES and path not in LONG_FILES:
        yield len(lines), "size", f"{len(lines)} lines: split it, or list the reason in check_rules.py"
    if path.endswith(SOURCE):
        for number, line in enumerate(lines, 1):
            if re.search(r"\s$", line):
                yield number, "shape", "blanks at the end of the line"


def check_readme(path, lines):
    if path == "README.md":
        for command in ("./dev demo", "./dev test"):
            if not any(command in line for line in lines):
                yield 1, "readme", f"does not name {command}"


RULES = (check_layers, check_confined, check_headers, check_names, check_words, check_portable,
         check_size, check_readme)


def breaches_of(path, text):
    """All breaches of one file, as (line, rule, message). `path` is relative to the root."""
    if path.startswith(EXEMPT) or os.path.splitext(path)[1] not in TEXT:
        return []
    lines = text.splitlines()
    return [found for rule in RULES for found in rule(path, lines)]


def broken_links(root, path, text):
    """Links of a page to files that are not there."""
    for number, line in enumerate(text.splitlines(), 1):
        for target in re.findall(r"\]\(([^)#\s]+)", line):
            if not re.match(r"\w+:", target) and not os.path.exists(
                    os.path.join(root, os.path.dirname(path), target)):
                yield number, "links", f"{target} is not there"


def tracked(root):
    try:
        listed = subprocess.run(["git", "-C", root, "ls-files", "-z"], check=True, capture_output=True)
        return [name for name in listed.stdout.decode().split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        # An exported tree: everything but builds and hidden folders.
        found = []
        for folder, folders, files in os.walk(root):
            folders[:] = [f for f in folders if not f.startswith((".", "build"))]
            found += [os.path.relpath(os.path.join(folder, f), root) for f in files]
        return found


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "."
    count = files = 0
    for path in sorted(tracked(root)):
        full = os.path.join(root, path)
        if path.startswith("results/") and path.endswith(".jsonl") or not os.path.isfile(full):
            continue
        files += 1
        try:
            with open(full, encoding="utf-8") as file:
                text = file.read()
        except UnicodeDecodeError:
            continue
        found = list(breaches_of(path, text))
        if path.endswith(".md"):
            found += broken_links(root, path, text)
        for line, rule, message in found:
            print(f"{path}:{line}: {rule}: {message}")
            count += 1
    print(f"{files} files, {count} breaches")
    return 1 if count or not files else 0


if __name__ == "__main__":
    sys.exit(main())
