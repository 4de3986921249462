"""C++ with the system's library in place of the embedded one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.native.building import execute, trodden
from trodden.errors import ToolchainMissing, UsageError
from trodden.native.driver import libstdcxx
from trodden.native.driver.toolchain import find_toolchain
from trodden.profile.store.trod import load

LIBRARY = """#include <map>
#include <stdexcept>
#include <string>
std::map<std::string, int> counts(const std::string &text) {
    if (text.empty())
        throw std::runtime_error("empty");
    std::map<std::string, int> found;
    for (char c : text)
        found[std::string(1, c)]++;
    return found;
}
"""
PROGRAM = """#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
std::map<std::string, int> counts(const std::string &text);
int main() {
    try {
        for (auto &[name, count] : counts("abca"))
            std::cout << name << count;
        counts("");
    } catch (const std::exception &error) {
        std::cout << " " << error.what() << "\\n";
    }
}
"""


def test_a_library_that_gcc_has_compiled(tmp_path: Path) -> None:
    """Where the machine has g++, its libraries can be linked; elsewhere a message says what to do."""
    (tmp_path / "counts.cpp").write_text(LIBRARY)
    (tmp_path / "main.cpp").write_text(PROGRAM)
    words = ["-stdlib=libstdc++", "main.cpp", "-L.", "-lcounts", "-Wl,-rpath,$ORIGIN", "-o", "main"]
    if shutil.which("g++") is None:
        done = trodden("c++", *words, cwd=tmp_path)
        assert done.returncode == ToolchainMissing.status
        assert "install g++" in done.stderr
        return
    made = execute(["g++", "-shared", "-fPIC", "counts.cpp", "-o", "libcounts.so"], tmp_path)
    assert made.returncode == 0
    done = trodden("c++", *words, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    done = trodden("run", "-q", "./main", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "a2b1c1 empty\n")
    main = load(tmp_path / "trodden.trod").functions["main"]
    assert (main.entries, main.violations) == (1, ())


def test_a_machine_without_it(tmp_path: Path) -> None:
    toolchain = find_toolchain(None)
    clang = [*toolchain.compiler, f"--sysroot={tmp_path}", f"--gcc-toolchain={tmp_path}"]
    with pytest.raises(ToolchainMissing, match=r"no headers of libstdc.* brings libc"):
        libstdcxx.header_directories(clang, toolchain.environment)


def test_another_target_has_the_embedded_library_only() -> None:
    with pytest.raises(UsageError, match="aarch64-linux-gnu there is only libc"):
        find_toolchain(None).compile(True, ["-stdlib=libstdc++", "-target", "aarch64-linux-gnu"])
