# SPDX-License-Identifier: Apache-2.0
"""The scripts of ci/ and tools/ notice what went wrong and what they were asked, and say so.

Each runs in a tree of its own, with small stand-ins for the programs that it calls.
"""

import os
import shutil
import subprocess
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
        return subprocess.run(["bash", "-c", command], cwd=options.get("cwd", self.root), text=True,
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


if __name__ == "__main__":
    unittest.main()
