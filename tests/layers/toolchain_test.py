# SPDX-License-Identifier: Apache-2.0
"""An nvcc that cannot build leaves CUDA out and says why; one that can is taken, also after it was mended.

usage: toolchain_test.py CMAKE COMPILER
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from tree import PROJECT

CMAKE, COMPILER = sys.argv[1:3]
REAL_NVCC = shutil.which("nvcc", path=f"{os.environ['PATH']}:/usr/local/cuda/bin")
LISTS = f"""
cmake_minimum_required(VERSION 3.25)
project(toolchain LANGUAGES CXX)
if(NOT WEFTLINE_CUDA)
  set(WEFTLINE_CUDA AUTO)
endif()
list(APPEND CMAKE_MODULE_PATH "{PROJECT}/cmake")
include(WeftlineToolchain)
"""


class Toolchain(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="weftline-toolchain-")
        self.addCleanup(temporary.cleanup)
        self.root = Path(temporary.name)
        (self.root / "CMakeLists.txt").write_text(LISTS)
        (self.root / "bin").mkdir()
        self.build = self.root / "build"

    def nvcc(self, text):
        path = self.root / "bin/nvcc"
        path.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {self.root}/arguments\n{text}\n')
        path.chmod(0o755)

    def configure(self, *options, **environment):
        return subprocess.run(
            [CMAKE, "-G", "Ninja", "-S", self.root, "-B", self.build, f"-DCMAKE_CXX_COMPILER={COMPILER}", *options],
            env={**os.environ, "PATH": f"{self.root}/bin:{os.environ['PATH']}", **environment},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False)

    def assert_left_out(self, result, reason):
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("CUDA backend OFF", result.stdout)
        lines = [line for line in result.stdout.splitlines() if "without CUDA" in line]
        self.assertEqual(len(lines), 1, result.stdout)
        self.assertIn(f"bin/nvcc cannot compile: {reason} (", lines[0])
        cache = (self.build / "CMakeCache.txt").read_text().splitlines()
        self.assertEqual([line for line in cache if re.match("(WEFTLINE_NVCC|CMAKE_CUDA_COMPILER):", line)], [])

    def test_the_reason_is_the_compilers_own_line(self):
        self.nvcc("echo 'In file included from x.h:1,'; echo '  x.h:2: error: too new ' >&2; echo more; exit 1")
        self.assert_left_out(self.configure(), "x.h:2: error: too new")
        self.nvcc("echo; echo 'nothing works here'; exit 1")
        self.assert_left_out(self.configure(), "nothing works here")
        self.nvcc("exit 3")
        self.assert_left_out(self.configure(), "it ended with '3'")

    def test_an_nvcc_without_cxx20_is_left_out(self):
        self.nvcc("""case " $* " in *" -std=c++20 "*)
          echo "nvcc fatal   : Value 'c++20' is not defined for option 'std'"; exit 1;; esac""")
        self.assert_left_out(self.configure(), "nvcc fatal   : Value 'c++20' is not defined for option 'std'")

    def test_where_cuda_is_asked_for_the_reason_ends_the_configuration(self):
        self.nvcc("echo 'error: too new'; exit 1")
        result = self.configure("-DWEFTLINE_CUDA=ON")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("bin/nvcc cannot compile: error: too new", " ".join(result.stdout.split()))

    def test_the_probe_takes_host_compiler_flags_and_architectures(self):
        self.nvcc("echo no; exit 1")
        self.configure("-DCMAKE_CUDA_HOST_COMPILER=/opt/g++", "-DCMAKE_CUDA_FLAGS=-O1 --use_fast_math",
                       "-DCMAKE_CUDA_ARCHITECTURES=75;80-virtual;90a-real")
        arguments = (self.root / "arguments").read_text().splitlines()
        for argument in ("-std=c++20", "-ccbin=/opt/g++", "-O1", "--use_fast_math",
                         "--generate-code=arch=compute_75,code=[compute_75,sm_75]",
                         "--generate-code=arch=compute_80,code=[compute_80]",
                         "--generate-code=arch=compute_90a,code=[sm_90a]"):
            self.assertIn(argument, arguments)
        shutil.rmtree(self.build)
        self.configure(CUDAHOSTCXX="/opt/other", CUDAFLAGS="-O2")
        arguments = (self.root / "arguments").read_text().splitlines()
        self.assertIn("-ccbin=/opt/other", arguments)
        self.assertIn("-O2", arguments)

    @unittest.skipUnless(REAL_NVCC, "there is no nvcc on this machine")
    def test_an_nvcc_that_was_mended_is_taken_by_the_next_configuration(self):
        self.nvcc("echo 'error: too new'; exit 1")
        self.assert_left_out(self.configure("-DCMAKE_CUDA_COMPILER=CMAKE_CUDA_COMPILER-NOTFOUND"),
                             "error: too new")
        self.nvcc(f'exec {REAL_NVCC} "$@"')
        mended = self.configure()
        self.assertEqual(mended.returncode, 0, mended.stdout)
        self.assertIn("CUDA backend ON", mended.stdout)
        (self.root / "arguments").unlink()
        again = self.configure()
        self.assertIn("CUDA backend ON", again.stdout)
        self.assertFalse((self.root / "arguments").exists(), "a compiler that is known was probed again")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
