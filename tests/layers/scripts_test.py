# SPDX-License-Identifier: Apache-2.0
"""The scripts of ci/ and tools/ notice what went wrong and what they were asked, and say so.

Each runs in a tree of its own, with small stand-ins for the programs that it calls.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from tree import PROJECT

PASSED = '<testcase name="one" status="run"/>'
FAILED = '<testcase name="two" status="fail"><system-out>two is wrong</system-out></testcase>'


class Scripts(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="weftline-scripts-")
        self.addCleanup(temporary.cleanup)
        self.root = Path(temporary.name).resolve() / "tree"
        self.programs = self.root.parent / "bin"
        self.programs.mkdir()
        for folder in ("ci", "tools"):
            shutil.copytree(PROJECT / folder, self.root / folder)

    def program(self, name, text):
        """A stand-in that is found before the program of that name."""
        path = self.programs / name
        path.write_text("#!/bin/bash\n" + text + "\n")
        path.chmod(0o755)

    def call(self, command, **options):
        environment = {**os.environ, "PATH": f"{self.programs}:{os.environ['PATH']}"}
        return subprocess.run(["/bin/bash", "-c", command], cwd=options.get("cwd", self.root), text=True,
                              env=options.get("env", environment), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=60, check=False)

    def run_preset(self, results, status):
        """Runs one preset whose ctest ends with this status and leaves these results."""
        self.program("cmake", "exit 0")
        (self.root / "build/some").mkdir(parents=True)
        if results is not None:
            (self.root / "results.xml").write_text(f"<testsuite>{results}</testsuite>")
        self.program("ctest", f'[[ ! -f {self.root}/results.xml ]] || '
                              f'cp {self.root}/results.xml build/some/tests.xml\nexit {status}')
        return self.call("set -uo pipefail; source ci/common.sh; run_preset some; summary")

    def assert_summary(self, result, status, line):
        self.assertEqual((result.returncode, result.stdout.splitlines()[-1]), (status, line),
                         result.stdout)

    def test_passed_tests_are_counted(self):
        self.assert_summary(self.run_preset(PASSED, 0), 0, "1 passed, 0 failed, 0 skipped")

    def test_a_failed_test_is_counted_once_and_shown(self):
        result = self.run_preset(PASSED + FAILED, 8)
        self.assert_summary(result, 1, "1 passed, 1 failed, 0 skipped")
        self.assertIn("two is wrong", result.stdout)

    def test_a_ctest_that_fails_without_a_failed_test_is_a_failure(self):
        self.assert_summary(self.run_preset(PASSED, 8), 1, "1 passed, 1 failed, 0 skipped")

    def test_a_build_without_tests_is_a_failure(self):
        self.assert_summary(self.run_preset("", 8), 1, "0 passed, 1 failed, 0 skipped")

    def test_missing_results_are_a_failure(self):
        self.assert_summary(self.run_preset(None, 0), 1, "0 passed, 1 failed, 0 skipped")

    def assert_refused(self, command, status, *words, **options):
        result = self.call(command, **options)
        self.assertEqual(result.returncode, status, result.stdout)
        self.assertEqual(len(result.stdout.splitlines()), 1, result.stdout)
        for word in words:
            self.assertIn(word, result.stdout)

    def test_unknown_arguments_are_refused_before_anything_is_done(self):
        self.program("dpkg-query", f"touch {self.root}/ran; exit 1")
        self.program("cmake", f"touch {self.root}/ran; exit 1")
        for command in ("ci/test", "ci/matrix", "tools/quickstart"):
            self.assert_refused(f"{command} --help", 0, f"usage: {command}")
            self.assert_refused(f"{command} --fast", 2, "'--fast'", f"usage: {command}")
        self.assert_refused("ci/test release", 2, "'release'", "usage: ci/test")
        self.assert_refused("ci/matrix release releese", 2, "'releese'", "presets: release no-cuda")
        self.assert_refused("ci/matrix 'asan tsan'", 2, "'asan tsan'")
        self.assert_refused("tools/quickstart out more", 2, "'more'")
        self.assert_refused("ci/fetch_sample --help", 1, "usage: ci/fetch_sample")
        self.assert_refused("ci/install_deps --all", 1, "'--all'", "usage: ci/install_deps")
        self.assertFalse((self.root / "ran").exists())

    def test_a_checkout_that_can_not_be_written_is_one_line(self):
        (self.root / "build").write_text("a file where the folder should be")
        self.assert_refused("ci/test", 1, "cannot write to", "build/logs")

    def test_the_sample_without_a_home_is_one_line(self):
        environment = {"PATH": os.environ["PATH"]}
        result = self.call("ci/fetch_sample", env=environment)
        if result.returncode == 0:
            self.skipTest("the package with the sample video is installed")
        self.assert_refused("ci/fetch_sample", 1, "neither HOME nor XDG_CACHE_HOME", env=environment)

    def apt_says(self, log, status):
        self.program("dpkg-query", "exit 1")
        self.program("sudo", 'exec "$@"')
        self.program("apt-cache", "exit 0")
        (self.root / "apt.log").write_text(log)
        self.program("apt-get", f"cat {self.root}/apt.log; exit {status}")
        shutil.copytree(PROJECT / "third_party", self.root / "third_party")
        return self.call("ci/install_deps").stdout.splitlines()[-1]

    def test_the_error_of_apt_is_told(self):
        self.assertIn("apt-get update failed: E: Could not get lock",
                      self.apt_says("Err:1 http://a.example x\n  Timeout\nE: Could not get lock\n", 100))

    def test_a_source_that_apt_can_not_reach_is_told_with_its_reason(self):
        lines = "Err:1 http://a.example bookworm\n  Could not resolve\nReading package lists...\n"
        warning = "W: Some more\nW: Failed to fetch http://a.example  Could not resolve\n"
        self.assertIn("(apt-get update said: W: Failed to fetch http://a.example  Could not resolve)",
                      self.apt_says(lines + warning, 0))

    def test_an_address_alone_is_not_told_as_a_reason(self):
        self.assertIn("Err:1 http://a.example bookworm   Could not resolve",
                      self.apt_says("Err:1 http://a.example bookworm\n  Could not resolve\n", 0))

    def test_an_apt_that_gives_no_reason_is_told_by_its_last_line(self):
        self.assertIn("apt-get update failed: killed", self.apt_says("reading\nkilled\n", 1))

    def lint_tree(self):
        """Two sources that were formatted by nobody, and tools that note what they are given."""
        for name in ("libs/a/src/one.cpp", "libs/a/src/two.cpp"):
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text("int x;\n")
        (self.root / "README.md").write_text("text\n")
        self.program("clang-format-16", f'printf "%s\\n" "$@" >> {self.root}/formatted')
        for tool in ("clang-tidy-16", "clang++-16"):
            self.program(tool, "exit 0")
        self.program("cmake", "mkdir -p build/clang; echo > build/clang/compile_commands.json")

    def test_lint_checks_the_files_that_it_is_given_from_any_folder(self):
        self.lint_tree()
        result = self.call("../../ci/lint src/one.cpp", cwd=self.root / "libs/a")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("format of 1 files", result.stdout)
        self.assertIn("libs/a/src/one.cpp", (self.root / "formatted").read_text().splitlines())

    def test_lint_refuses_what_it_would_not_check(self):
        self.lint_tree()
        self.assert_refused("ci/lint --chnged", 2, "'--chnged'", "usage: ci/lint")
        self.assert_refused("ci/lint --changed libs/a/src/one.cpp", 2, "usage: ci/lint")
        self.assert_refused("ci/lint libs/a/src/one.cpp nosuch.cpp", 2, "nosuch.cpp")
        self.assert_refused("ci/lint libs/a/src/one.cpp README.md", 2, "README.md")
        self.assertFalse((self.root / "formatted").exists())

    def test_bench_without_cmake_or_without_the_folder_of_its_rows_is_told_at_once(self):
        python = sys.executable
        environment = {"PATH": "/nowhere"}
        result = self.call(f"{python} ci/bench", env=environment)
        self.assertEqual((result.returncode, len(result.stdout.splitlines())), (1, 2), result.stdout)
        self.assertIn("cmake can't be started", result.stdout)
        self.assert_refused(f"{python} ci/bench --json no/rows.json", 1, "no/rows.json", env=environment)
        self.assert_refused(f"{python} ci/bench --json .", 1, "name a file", env=environment)


if __name__ == "__main__":
    unittest.main()
