# SPDX-License-Identifier: Apache-2.0
"""ci/check_layers passes a clean tree and names the line of each kind of violation."""

import subprocess
import sys
import unittest

from tree import CLEAN, PROJECT, write_tree


def check(changes):
    with write_tree(changes) as root:
        return subprocess.run([sys.executable, PROJECT / "ci/check_layers", root],
                              capture_output=True, text=True, check=False)


class CheckLayers(unittest.TestCase):
    def assert_refused(self, changes, place, *words):
        result = check(changes)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        lines = [line for line in result.stdout.splitlines() if line.startswith(place + ": ")]
        self.assertEqual(len(lines), 1, result.stdout)
        self.assertEqual(result.stdout.count("\n"), 1, result.stdout)
        for word in words:
            self.assertIn(word, lines[0])

    def test_a_clean_tree_passes(self):
        result = check({})
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("of 3 libraries", result.stdout)

    def test_a_tree_without_libraries_is_refused(self):
        result = check({name: None for name in CLEAN})
        self.assertEqual(result.returncode, 1)
        self.assertIn("no libraries", result.stderr)

    def test_an_undeclared_library_is_refused(self):
        self.assert_refused(
            {"libs/base/src/extra.cpp": '#include <cstdio>\n#include "weftline/top/report.hpp"\n'},
            "libs/base/src/extra.cpp:2", "'top'", "does not declare", "libs/base/deps")

    def test_a_library_reached_through_another_is_refused(self):
        self.assert_refused(
            {"libs/top/src/report.cpp": '#include "weftline/base/number.hpp"\n'},
            "libs/top/src/report.cpp:1", "'base'", "only through another library",
            "'dep base'", "libs/top/deps")

    def test_an_undeclared_include_in_a_public_header_is_refused(self):
        self.assert_refused(
            {"libs/base/include/weftline/base/number.hpp": '#include "weftline/middle/sum.hpp"\n'},
            "libs/base/include/weftline/base/number.hpp:1", "'middle'", "does not declare")

    def test_an_undeclared_include_in_a_test_is_refused(self):
        self.assert_refused(
            {"libs/base/tests/number_test.cpp": '#include "weftline/middle/sum.hpp"\n'},
            "libs/base/tests/number_test.cpp:1", "'middle'", "does not declare")

    def test_a_private_header_of_another_library_is_refused(self):
        self.assert_refused(
            {"libs/middle/src/sum.cpp": '#include "table.hpp"\n'},
            "libs/middle/src/sum.cpp:1", "private file of 'base'")

    def test_a_private_header_reached_by_a_path_is_refused(self):
        self.assert_refused(
            {"libs/middle/src/sum.cpp": '#include "../../base/src/table.hpp"\n'},
            "libs/middle/src/sum.cpp:1", "private file of 'base'")

    def test_a_private_header_in_an_app_is_refused(self):
        self.assert_refused({"apps/show/main.cpp": '#include "table.hpp"\n'},
                            "apps/show/main.cpp:1", "private file of 'base'")

    def test_a_private_header_in_a_public_header_is_refused(self):
        self.assert_refused(
            {"libs/base/include/weftline/base/number.hpp": '#include "table.hpp"\n'},
            "libs/base/include/weftline/base/number.hpp:1", "private file of 'base'")

    def test_a_fake_outside_tests_is_refused(self):
        self.assert_refused(
            {"libs/base/src/extra.cpp": '#include "weftline/testing/fake_number.hpp"\n'},
            "libs/base/src/extra.cpp:1", "for tests")

    def test_a_fake_in_a_program_is_refused_but_not_in_its_tests_and_benchmarks(self):
        text = '#include "weftline/testing/fake_number.hpp"\n'
        self.assert_refused({"apps/show/main.cpp": text}, "apps/show/main.cpp:1", "for tests")
        for folder in ("tests", "bench"):
            result = check({f"apps/show/{folder}/show_test.cpp": text})
            self.assertEqual(result.returncode, 0, result.stdout)

    def test_a_fake_of_an_undeclared_library_is_refused(self):
        self.assert_refused(
            {"libs/top/tests/report_test.cpp": '#include "weftline/testing/fake_number.hpp"\n'},
            "libs/top/tests/report_test.cpp:1", "'base'", "only through another library")

    def test_a_package_in_a_public_header_is_refused(self):
        self.assert_refused(
            {"libs/middle/deps": "rank 1\ndep base\nexternal absl\n",
             "libs/middle/include/weftline/middle/sum.hpp": "#include <absl/strings/str_cat.h>\n"},
            "libs/middle/include/weftline/middle/sum.hpp:1", "only the standard library")

    def test_a_system_header_in_a_public_header_is_refused(self):
        self.assert_refused(
            {"libs/middle/include/weftline/middle/sum.hpp": "#include <sys/mman.h>\n"},
            "libs/middle/include/weftline/middle/sum.hpp:1", "only the standard library")

    def test_a_cuda_header_is_refused_outside_the_opt_in_header(self):
        deps = "rank 1\ndep base\nexternal cudart\n"
        text = "#pragma once\n#include <cuda/stream_ref>\n"
        self.assert_refused(
            {"libs/middle/deps": deps, "libs/middle/include/weftline/cuda/stream.hpp": text},
            "libs/middle/include/weftline/cuda/stream.hpp:2", "only the standard library")
        allowed = check(
            {"libs/middle/deps": deps, "libs/middle/include/weftline/cuda/interop.hpp": text})
        self.assertEqual(allowed.returncode, 0, allowed.stdout)

    def test_an_undeclared_public_package_is_refused(self):
        self.assert_refused(
            {"libs/middle/include/weftline/middle/sum.hpp": "#include <tl/expected.hpp>\n"},
            "libs/middle/include/weftline/middle/sum.hpp:1", "'external tl'", "libs/middle/deps")

    def test_an_undeclared_package_is_refused(self):
        self.assert_refused(
            {"libs/middle/src/sum.cpp": "#include <absl/strings/str_cat.h>\n"},
            "libs/middle/src/sum.cpp:1", "'external absl'", "libs/middle/deps")

    def test_an_unknown_package_is_refused(self):
        self.assert_refused({"libs/middle/src/sum.cpp": "#include <zmq.h>\n"},
                            "libs/middle/src/sum.cpp:1", "unknown package")

    def test_an_include_in_a_comment_is_not_read(self):
        result = check({"libs/middle/src/sum.cpp":
                        '// #include "nowhere.hpp"\n/*\n#include "nowhere.hpp"\n*/\n'})
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_the_line_after_a_long_comment_is_right(self):
        self.assert_refused(
            {"libs/middle/src/sum.cpp": '/* a\n   b\n*/\n#include "nowhere.hpp"\n'},
            "libs/middle/src/sum.cpp:4", "nowhere in the tree")

    def test_what_only_looks_like_a_comment_hides_nothing(self):
        for line in ("// as in libs/*/deps", 'auto a = "/*";', "char a[] = {'/', '*', '\"'}; // /*",
                     "int a = 1'000'000; /* done */", 'auto a = R"x(/* " )x";', 'auto a = "\\\\"; // /*'):
            self.assert_refused(
                {"libs/middle/src/sum.cpp": f'{line}\n#include "nowhere.hpp"\nint b; /* */\n'},
                "libs/middle/src/sum.cpp:2", "nowhere in the tree")

    def test_an_include_in_a_raw_string_is_not_read(self):
        result = check({"libs/middle/src/sum.cpp": 'auto a = R"(\n#include "nowhere.hpp"\n)";\n'})
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_an_include_after_a_comment_on_its_line_is_read(self):
        self.assert_refused({"libs/middle/src/sum.cpp": '/* a */ # /* b */ include "nowhere.hpp"\n'},
                            "libs/middle/src/sum.cpp:1", "nowhere in the tree")

    def test_any_other_form_of_include_is_refused(self):
        for line in ("#include HEADER", '#include_next "nowhere.hpp"', "#import <cstdio>", "%:include HEADER"):
            self.assert_refused({"libs/middle/src/sum.cpp": line + "\n"},
                                "libs/middle/src/sum.cpp:1", "cannot be checked")

    def test_sources_of_every_name_are_read(self):
        for suffix in ("inl", "ipp", "tpp", "cc", "cxx", "c", "hh", "cuh", "cu"):
            self.assert_refused({f"libs/middle/src/more.{suffix}": '#include "weftline/top/report.hpp"\n'},
                                f"libs/middle/src/more.{suffix}:1", "'top'")

    def test_a_public_header_that_includes_the_opt_in_header_is_refused(self):
        changes = {"libs/base/deps": "rank 0\nexternal tl\nexternal cudart\n",
                   "libs/base/include/weftline/cuda/interop.hpp": "#include <cuda/stream_ref>\n"}
        line = '#include "weftline/cuda/interop.hpp"\n'
        self.assert_refused({**changes, "libs/middle/include/weftline/middle/sum.hpp": line},
                            "libs/middle/include/weftline/middle/sum.hpp:1", "CUDA's headers", "src/")
        self.assert_refused({**changes, "libs/base/include/weftline/base/number.hpp": line},
                            "libs/base/include/weftline/base/number.hpp:1", "CUDA's headers")
        allowed = check({**changes, "libs/middle/src/sum.cpp": line})
        self.assertEqual(allowed.returncode, 0, allowed.stdout)

    def test_an_edge_to_an_equal_rank_is_refused(self):
        self.assert_refused({"libs/top/deps": "rank 1\ndep middle\n"},
                            "libs/top/deps:2", "'top' (rank 1)", "'middle' (rank 1)")

    def test_a_cycle_is_refused(self):
        self.assert_refused({"libs/base/deps": "rank 0\nexternal tl\ndep top\n"},
                            "libs/base/deps:3", "'base' (rank 0)", "'top' (rank 2)")

    def test_a_dependency_that_does_not_exist_is_refused(self):
        self.assert_refused({"libs/top/deps": "rank 2\ndep middle\ndep muddle\n"},
                            "libs/top/deps:3", "'muddle' is no library")

    def test_an_unreadable_deps_line_is_refused(self):
        self.assert_refused({"libs/top/deps": "rank 2\ndepends middle\ndep middle\n"},
                            "libs/top/deps:2", "cannot read")

    def test_an_unknown_external_is_refused(self):
        self.assert_refused({"libs/top/deps": "rank 2\ndep middle\nexternal zmq\n"},
                            "libs/top/deps:3", "unknown package 'zmq'")

    def test_a_missing_rank_is_refused(self):
        self.assert_refused({"libs/base/deps": "external tl\n"}, "libs/base/deps:1", "rank")

    def test_missing_deps_are_refused(self):
        self.assert_refused({"libs/solo/CMakeLists.txt": ""}, "libs/solo/CMakeLists.txt:1", "no deps")

    def test_one_header_in_two_libraries_is_refused(self):
        self.assert_refused(
            {"libs/top/include/weftline/base/number.hpp": "#pragma once\n"},
            "libs/top/include/weftline/base/number.hpp:1", "'base'", "rename")

    def test_an_umbrella_that_lacks_a_header_is_refused(self):
        self.assert_refused(
            {"libs/weftline/CMakeLists.txt": "",
             "libs/weftline/deps": "rank 3\ndep base\ndep middle\ndep top\n",
             "libs/weftline/include/weftline/weftline.hpp":
                 '#include "weftline/base/number.hpp"\n#include "weftline/top/report.hpp"\n'},
            "libs/weftline/include/weftline/weftline.hpp:1", "weftline/middle/sum.hpp", "'middle'")


if __name__ == "__main__":
    unittest.main()
