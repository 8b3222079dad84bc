#!/usr/bin/env python3
"""The seven packages the project is asked to build on each do real work, where the docs say so.

usage: check_packages.py ROOT BUILD

docs/dependencies.md holds the claim: a table whose first column names a package, and whose last names
files. For each of the seven, every file must be there, include the package's header and use a name of
its own; and the program that is said to hold it must be linked with it (read from build.ninja, or
skipped with a word when the build has none).
"""

import os
import re
import sys

# package: (header, a name of its own that the files use, what the link line must show, linked program)
SEVEN = {
    "oneTBB": (r"#include <(tbb|oneapi/tbb)/", r"\btbb::\w+", "libtbb", "bin/weir"),
    "moodycamel ConcurrentQueue": (r"#include <concurrentqueue/(moodycamel/)?\w+\.h>",
                                   r"\bmoodycamel::\w+", None, None),
    "simdjson": (r"#include <simdjson\.h>", r"\bsimdjson::\w+", "libsimdjson", "bin/weir"),
    "Highway": (r"#include [<\"]hwy/(highway|contrib/sort/vqsort)\.h[>\"]",
                r"\bHWY_\w+|\bhn::\w+|\bhwy::\w+", "libhwy.so libhwy_contrib.so", "bin/weir"),
    "jemalloc": (None, r"\bjemalloc", "jemalloc", "bin/weir"),
    "Google Benchmark": (r"#include <benchmark/benchmark\.h>", r"\bBENCHMARK\w*\(", "libbenchmark",
                         "bin/weir_bench"),
    "GoogleTest": (r"#include <g(test|mock)/g(test|mock)\.h>", r"\b(TEST|TEST_F|TEST_P|TYPED_TEST)\(",
                   "libgtest", "bin/core_tests"),
}


def table(text):
    """{package: [files]} of the rows `| package | … | files |`."""
    rows = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) >= 3:
            name = re.sub(r"\s+[\d.]+\S*$", "", cells[0].strip("*` "))
            rows[name] = re.findall(r"`([^`]+/[^`]+|CMakeLists\.txt)`", cells[-1])
    return rows


def link_lines(build):
    """{output: link line} of a Ninja build."""
    path = os.path.join(build, "build.ninja")
    if not os.path.exists(path):
        return {}
    lines, current = {}, None
    with open(path, encoding="utf-8") as file:
        for line in file:
            match = re.match(r"build (\S+)[^:]*:", line)  # further outputs may follow the first
            if match:
                current = match.group(1)
            elif line.strip().startswith("LINK_LIBRARIES =") and current:
                lines[current] = line
    return lines


def main():
    root, build = sys.argv[1], sys.argv[2]
    with open(os.path.join(root, "docs/dependencies.md"), encoding="utf-8") as file:
        rows = table(file.read())
    links = link_lines(build)
    wrong = []
    for package, (header, name, library, program) in SEVEN.items():
        files = rows.get(package, [])
        if not files:
            wrong.append(f"{package}: docs/dependencies.md names no file")
        for path in files:
            full = os.path.join(root, path)
            if not os.path.isfile(full):
                wrong.append(f"{package}: {path} is not there")
                continue
            with open(full, encoding="utf-8") as file:
                text = re.sub(r"//[^\n]*", "", file.read()) if path.endswith((".h", ".cc")) else file.read()
            if header and not re.search(header, text):
                wrong.append(f"{package}: {path} does not include it")
            if not re.search(name, text):
                wrong.append(f"{package}: {path} does not use it")
        for part in (library or "").split():
            if program in links and part not in links[program]:
                wrong.append(f"{package}: {program} is not linked with {part}")
        if library and program not in links:
            print(f"{package}: {program} is not part of this build; its link line is not looked at")
        print(f"{package}: {', '.join(files)}")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
