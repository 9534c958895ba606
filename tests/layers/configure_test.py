# SPDX-License-Identifier: Apache-2.0
"""The CMake helper stops the configuration at an edge that deps does not declare.

usage: configure_test.py CMAKE COMPILER
"""

import subprocess
import sys
import unittest
from pathlib import Path

from tree import PROJECT, write_tree

CMAKE, COMPILER = sys.argv[1:3]
ROOT_LISTS = f"""
cmake_minimum_required(VERSION 3.25)
project(layers LANGUAGES CXX)
set(WEFTLINE_CUDA OFF)
list(APPEND CMAKE_MODULE_PATH "{PROJECT}/cmake" "{PROJECT}/third_party")
include(WeftlineToolchain)
include(WeftlineExternals)
include(WeftlineLibrary)
weftline_add_libraries("${{PROJECT_SOURCE_DIR}}/libs")
"""


class Configure(unittest.TestCase):
    def configure(self, changes):
        with write_tree({"CMakeLists.txt": ROOT_LISTS, **changes}) as root:
            result = subprocess.run(
                [CMAKE, "-G", "Ninja", "-S", root, "-B", Path(root) / "build",
                 f"-DCMAKE_CXX_COMPILER={COMPILER}"],
                capture_output=True, text=True, check=False)
        # CMake wraps its messages.
        return result.returncode, " ".join(result.stderr.split())

    def assert_refused(self, changes, *words):
        status, errors = self.configure(changes)
        self.assertNotEqual(status, 0)
        for word in words:
            self.assertIn(word, errors)

    def test_a_clean_tree_is_configured(self):
        status, errors = self.configure({})
        self.assertEqual(status, 0, errors)

    def link(self, library, how):
        """A library that also links something with CMake's own function."""
        return {f"libs/{library}/CMakeLists.txt":
                f"weftline_library({library})\ntarget_link_libraries(weftline_{library} {how})\n"}

    def test_a_declared_link_is_accepted(self):
        status, errors = self.configure(self.link("middle", "PRIVATE weftline::base"))
        self.assertEqual(status, 0, errors)

    def test_an_undeclared_link_is_refused(self):
        for how in ("PRIVATE", "PUBLIC", "INTERFACE"):
            self.assert_refused(self.link("top", f"{how} weftline::base"),
                                "'top' links 'weftline::base'", "libs/top/deps has no line 'dep base'")

    def test_an_undeclared_link_by_target_name_is_refused(self):
        self.assert_refused(self.link("top", "PRIVATE weftline_base"),
                            "'top' links 'weftline_base'", "no line 'dep base'")

    def test_an_undeclared_link_from_another_folder_is_refused(self):
        self.assert_refused(
            {"CMakeLists.txt": ROOT_LISTS + "add_subdirectory(apps/show)\n",
             "apps/show/CMakeLists.txt": "target_link_libraries(weftline_top PRIVATE weftline::base)\n"},
            "'top' links 'weftline::base'", "no line 'dep base'")

    def test_an_undeclared_package_is_refused(self):
        self.assert_refused(self.link("top", "PRIVATE absl::strings"),
                            "'top' links 'absl::strings'", "no line 'external absl'")
        self.assert_refused(self.link("top", "PRIVATE weftline_external::tl"),
                            "'top' links 'weftline_external::tl'", "no line 'external tl'")
        self.assert_refused(self.link("top", "PRIVATE $<BUILD_INTERFACE:rt>"),
                            "'top' links 'rt'", "no line 'external rt'")

    def test_an_edge_to_an_equal_rank_is_refused(self):
        self.assert_refused({"libs/top/deps": "rank 1\ndep middle\n"},
                            "'top' (rank 1) depends on 'middle' (rank 1)")

    def test_a_cycle_is_refused(self):
        self.assert_refused({"libs/base/deps": "rank 0\ndep top\n"},
                            "'base' (rank 0) depends on 'top'", "no library of a lower rank")

    def test_an_unknown_external_is_refused(self):
        self.assert_refused({"libs/top/deps": "rank 2\ndep middle\nexternal zmq\n"},
                            "Unknown external 'zmq'")

    def test_an_unreadable_deps_line_is_refused(self):
        self.assert_refused({"libs/top/deps": "rank 2\nuses middle\n"}, "cannot read 'uses middle'")

    def test_missing_deps_are_refused(self):
        self.assert_refused({"libs/base/deps": "dep middle\n"}, "has no 'rank <number>' line")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
