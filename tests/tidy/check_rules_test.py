#!/usr/bin/env python3
"""Each rule of check_rules.py finds what it forbids, and lets pass what it should."""

import sys
import unittest

from check_rules import breaches_of

HEADER = "// Ring: a ring.\n//\n// Thread safety: thread-safe.\n#pragma once\n"


def rules(path, text):
    return sorted({rule for _, rule, _ in breaches_of(path, text)})


class Rules(unittest.TestCase):
    def test_a_layer_includes_downwards_only(self):
        self.assertEqual(rules("core/a.cc", '#include "ingest/splitter.h"\n'), ["layers"])
        self.assertEqual(rules("ingest/a.cc", '#include "synopses/hash.h"\n'), ["layers"])
        self.assertEqual(rules("synopses/a.cc", '#include "ingest/digits.h"\n'), ["layers"])
        self.assertEqual(rules("core/a.cc", '#include "weir/types.h"\n'), [])
        self.assertEqual(rules("include/weir/a.h", HEADER + '#include "core/ring.h"\n'), ["layers"])
        self.assertEqual(rules("engine/a.cc", '#include "ingest/splitter.h"\n'), [])
        self.assertEqual(rules("tests/engine/a_test.cc", '#include "tests/support/b.h"\n'), [])

    def test_serve_sees_the_public_api_and_metrics_only(self):
        self.assertEqual(rules("serve/a.cc", '#include "engine/run.h"\n'), ["layers"])
        self.assertEqual(rules("serve/a.cc", '#include "weir/engine.h"\n#include "core/metrics.h"\n'), [])

    def test_includes_are_root_relative(self):
        self.assertEqual(rules("core/a.cc", '#include "ring.h"\n'), ["includes"])

    def test_packages_stay_in_their_folders(self):
        self.assertEqual(rules("core/a.cc", "#include <simdjson.h>\n"), ["confined"])
        self.assertEqual(rules("engine/run.cc", "#include <simdjson.h>\n"), ["confined"])
        self.assertEqual(rules("engine/request.cc", "#include <simdjson.h>\n"), [])
        self.assertEqual(rules("engine/a.cc", '#include "hwy/highway.h"\n'), ["confined"])

    def test_a_header_says_what_it_is(self):
        self.assertEqual(rules("core/a.h", "#pragma once\n"), ["header"])
        self.assertEqual(rules("core/a.h", "// A.\n// Thread safety: immutable.\n"), ["header"])
        self.assertEqual(rules("core/a.h", "// A.\n#pragma once\nstruct A {\n};\n"), ["header"])
        self.assertEqual(rules("core/a.h", HEADER), [])

    def test_names_say_what_a_thing_does(self):
        self.assertEqual(rules("core/string_util.cc", ""), ["names"])
        self.assertEqual(rules("core/a.cc", "class PlanManager {\n"), ["names"])
        self.assertEqual(rules("core/commonality.cc", ""), [])

    def test_node_needs_its_adjective(self):
        self.assertEqual(rules("docs/a.md", "Every node has one.\n"), ["words"])
        self.assertEqual(rules("docs/a.md", "Every NUMA node has one.\n"), [])

    def test_nothing_is_just_dropped(self):
        self.assertEqual(rules("docs/a.md", "Late tuples are dropped.\n"), ["words"])
        self.assertEqual(rules("docs/a.md", "Late tuples are counted.\n"), [])

    def test_builds_are_portable(self):
        self.assertEqual(rules("CMakeLists.txt", "add_compile_options(-march=native)\n"), ["portable"])
        self.assertEqual(rules("docs/a.md", "See /work" + "/main/x.\n"), ["portable"])

    def test_long_files_need_a_reason(self):
        self.assertEqual(rules("core/a.cc", "int x;\n" * 501), ["size"])
        self.assertEqual(rules("core/a.cc", "int x; \n"), ["shape"])

    def test_the_readme_names_the_two_commands(self):
        self.assertEqual(rules("README.md", "Run ./dev demo.\n"), ["readme"])
        self.assertEqual(rules("README.md", "Run ./dev demo and ./dev test.\n"), [])


if __name__ == "__main__":
    sys.exit(0 if unittest.main(exit=False).result.wasSuccessful() else 1)
