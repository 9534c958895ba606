# SPDX-License-Identifier: Apache-2.0
"""Small source trees for the tests of the layer checks."""

import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]

# Three libraries in a row: top uses middle, middle uses base.
CLEAN = {
    "libs/base/CMakeLists.txt": "weftline_library(base)\n",
    "libs/base/deps": "rank 0\nexternal tl  # a comment\n",
    "libs/base/include/weftline/base/number.hpp":
        "#pragma once\n#include <cstdint>\n#include <tl/expected.hpp>\n",
    "libs/base/src/number.cpp":
        '#include "weftline/base/number.hpp"\n#include "table.hpp"\n#include <unistd.h>\n',
    "libs/base/src/table.hpp": "#pragma once\n",
    "libs/base/testing/include/weftline/testing/fake_number.hpp": "#pragma once\n",
    "libs/middle/CMakeLists.txt": "weftline_library(middle)\n",
    "libs/middle/deps": "# the middle\nrank 1\ndep base\n",
    "libs/middle/include/weftline/middle/sum.hpp":
        '#pragma once\n#include "weftline/base/number.hpp"\n',
    "libs/middle/src/sum.cpp": '#include "weftline/middle/sum.hpp"\n',
    "libs/middle/tests/sum_test.cpp":
        '#include <catch2/catch_test_macros.hpp>\n#include "weftline/testing/fake_number.hpp"\n',
    "libs/top/CMakeLists.txt": "weftline_library(top)\n",
    "libs/top/deps": "rank 2\ndep middle\n",
    "libs/top/include/weftline/top/report.hpp": '#pragma once\n#include "weftline/middle/sum.hpp"\n',
    "libs/top/src/report.cpp": '#include "weftline/top/report.hpp"\n',
    "apps/show/main.cpp": '#include "weftline/top/report.hpp"\n#include "view/page.hpp"\n',
    "apps/show/view/page.hpp": "#pragma once\n",
}


def write_tree(changes):
    """The clean tree in a new temporary folder, with some files replaced, added, or (None) left out."""
    folder = tempfile.TemporaryDirectory(prefix="weftline-layers-")
    for name, text in {**CLEAN, **changes}.items():
        if text is not None:
            path = Path(folder.name) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return folder
