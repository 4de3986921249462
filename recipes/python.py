"""Debian's own Python with what builds extensions: the machine's packages, or those that apt fetches."""

from __future__ import annotations

import subprocess
from pathlib import Path

from recipes.debian import RecipeError, unpacked

PYTHON = Path("/usr/bin/python3")
_READY = "import os, setuptools, sysconfig; open(os.path.join(sysconfig.get_path('include'), 'Python.h'))"


def python_environment() -> dict[str, str]:
    """The variables with which Debian's Python builds extensions; none if it can already."""
    if not PYTHON.exists():
        raise RecipeError(f"{PYTHON}: is missing; install the package python3")
    if subprocess.run([PYTHON, "-c", _READY], capture_output=True, check=False).returncode == 0:
        return {}
    return fetched()


def fetched() -> dict[str, str]:
    """The variables for packages that are unpacked, whatever the machine has."""
    asked = [str(PYTHON), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    version = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    packages = (f"python{version}-dev", f"libpython{version}-dev")
    root = unpacked(*packages, "python3-setuptools", "python3-pkg-resources")
    headers = root / "usr/include" / f"python{version}"
    return {
        "CFLAGS": f"-I{headers} -I{root}/usr/include",
        "PYTHONPATH": f"{root}/usr/lib/python3/dist-packages",
    }
