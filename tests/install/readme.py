#!/usr/bin/env python3
"""What the README says to type by hand works: runs its block and looks at the answers.

usage: readme.py README.md FOLDER_OF_THE_PROGRAMS
"""

import json
import re
import subprocess
import sys
import tempfile


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        section = file.read().split("## By hand", 1)[1]
    block = re.search(r"```\n(.*?)```", section, re.S).group(1)
    # The programs are those of the build under test, wherever it lies.
    script = re.sub(r"^PATH=.*$", "PATH=$1:$PATH", block, flags=re.M)
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["bash", "-euc", script, "readme", sys.argv[2]], cwd=folder,
                              capture_output=True, text=True, check=False)
    print(done.stderr)
    if done.returncode:
        return done.returncode
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = sorted(answer["kind"] for answer in answers)
    print(done.stdout)
    if kinds != ["ack", "ack", "ad-hoc", "continuous", "continuous"]:
        print("expected two acknowledgements, one ad-hoc answer and two continuous ones, got", kinds)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
