"""The configuration file: where it is found, what it sets, what overrides it, and its mistakes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.calling import ENVIRONMENT
from tests.report.pathing import path_sample
from trodden.config_file import configured
from trodden.errors import UsageError
from trodden.native.options.declarations import Options
from trodden.native.options.given import choose, compiler_flags
from trodden.profile.store.trod import save

TABLE = "[tool.trodden]\n"


def options(directory: Path, *flags: str, **environment: str) -> Options:
    variables = {f"TRODDEN_{name}": value for name, value in environment.items()}
    return choose(compiler_flags(flags), variables, configured(str(directory)))


def test_the_nearest_file_is_used_alone(tmp_path: Path) -> None:
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    assert configured(str(below)) is None
    (tmp_path / "pyproject.toml").write_text(TABLE + 'profile = "paths"\nmax-paths = 7\n')
    found = configured(str(below))
    assert found is not None
    assert found.path == str(tmp_path / "pyproject.toml")
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.other]\ntrodden = 1\n")
    assert options(below).max_paths == 7
    (tmp_path / "a" / "trodden.toml").write_text('stage = "early"\n')
    assert options(below) == Options(stage="early")
    (below / "pyproject.toml").write_text(TABLE)
    assert options(below) == Options()


@pytest.mark.parametrize(
    ("mode", "own", "used"), [(0o1777, False, False), (0o1777, True, True), (0o755, False, True)]
)
def test_what_others_put_where_everybody_may_write_is_passed_over(
    mode: int, own: bool, used: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = tmp_path / "everybody" / "mine"
    below.mkdir(parents=True)
    file = below.parent / "trodden.toml"
    file.write_text('toolchain = "./planted"\n')
    below.parent.chmod(mode)
    if not own and os.geteuid() == 0:
        os.chown(file, 12345, -1)
    elif not own:
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert (configured(str(below)) is not None) is used


def test_a_pipe_is_no_configuration(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "trodden.toml")
    with pytest.raises(UsageError, match=r"trodden\.toml: cannot be read: it is not a regular file"):
        configured(str(tmp_path))


def test_flags_then_variables_then_the_file(tmp_path: Path) -> None:
    file = tmp_path / "trodden.toml"
    file.write_text(
        'profile = "paths"\nmax-paths = 7\ncontext = true\nonly = ["a*", "b,c"]\nweights = "w.trod"\n'
        'toolchain = "clang"\nformat = "tsv"\n'
    )
    found = options(tmp_path)
    assert (found.profile, found.max_paths, found.context) == ("paths", 7, True)
    assert found.only == ("a*", "b", "c")
    assert found.weights == str(tmp_path / "w.trod")
    assert found.toolchain == "clang"
    assert options(tmp_path, MAX_PATHS="8").max_paths == 8
    assert options(tmp_path, "--trodden-max-paths=9", MAX_PATHS="8").max_paths == 9
    assert options(tmp_path, "--trodden-only=x").only == ("x",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("profil = 'paths'\n", "trodden.toml: profil: no such key; did you mean profile?"),
        ("max_paths = 7\n", "trodden.toml: max_paths: no such key; did you mean max-paths?"),
        ("zzz = 7\n", "trodden.toml: zzz: no such key; there are profile, trace, max-paths,"),
        (
            "profile = 'path'\n",
            'trodden.toml: profile = "path": choose one of edges, blocks, paths, trace, off;',
        ),
        ("max-paths = 0\n", "trodden.toml: max-paths = 0: a number of paths per function, or none"),
        ("context = 1\n", "trodden.toml: context = 1: choose on or off"),
        ("only = 3\n", "trodden.toml: only = 3: a pattern, or several of them"),
        ("profile = 'paths'\nstage = 'early'\n", 'trodden.toml: stage = "early": paths are those of the'),
        ("profile =\n", "trodden.toml: not valid TOML: "),
    ],
)
def test_mistakes_name_file_and_key(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "trodden.toml").write_text(text)
    with pytest.raises(UsageError) as error:
        options(tmp_path)
    assert str(error.value).startswith(f"{tmp_path}/{message}")


def call(*words: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in ENVIRONMENT.items() if key != "TRODDEN_FORMAT"} | variables
    command = [sys.executable, "-m", "trodden", *words]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def test_how_results_are_shown(tmp_path: Path) -> None:
    save(path_sample(tmp_path), tmp_path / "p.trod")
    file = tmp_path / "pyproject.toml"
    file.write_text(TABLE + 'format = "tsv"\ncolor = "always"\npager = false\nprofile = "paths"\n')
    assert call("stats", "p.trod", cwd=tmp_path).stdout.startswith("#program\t")
    assert call("stats", "p.trod", cwd=tmp_path, TRODDEN_FORMAT="json").stdout.startswith("{")
    assert "\x1b" in call("stats", "p.trod", "--format", "table", cwd=tmp_path).stdout
    assert "\x1b" not in call("stats", "p.trod", "--format", "table", cwd=tmp_path, NO_COLOR="1").stdout
    for text, message in (
        ('format = "xml"', "format: choose one of table, tsv, json, markdown"),
        ("color = 1", "color: choose one of auto, always, never"),
        ('pager = "less"', "pager: has to be true or false"),
        ("exclude = [1]", "exclude: has to be a text, or a list of texts"),
        ('formt = "tsv"', "formt: no such key; did you mean format?"),
        ('stage = "soon"', 'stage = "soon": choose late or early'),
    ):
        file.write_text(f"{TABLE}{text}\n")
        done = call("stats", "p.trod", cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"trodden: {file}: {message}\n"


def test_a_compiler_without_a_file_loads_no_parser(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.other]\n")
    program = (
        "import sys\nfrom trodden.api.builds import builder\nbuilder(['-c', 'a.c'], False)\n"
        "print('tomllib' in sys.modules)\n"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
