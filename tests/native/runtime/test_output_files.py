"""The file that a process counts in: never that of another process, and no harm to the program."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.native.building import must
from tests.native.handwritten import PROGRAMS, Raw, RuntimeLinker, start
from trodden.collect.gather import gather_all
from trodden.collect.rawfile.snapshots import later_states


def _shell(script: str, cwd: Path, file: str) -> subprocess.CompletedProcess[str]:
    """Run a shell script, whose process id is ``$$`` and that of a program which it executes."""
    return subprocess.run(
        ["sh", "-c", script],
        cwd=cwd,
        env=os.environ | {"TRODDEN_FILE": file},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize("earlier", ["raw", "live", "other"])
def test_an_earlier_process_with_the_same_id_keeps_its_file(
    linker: RuntimeLinker, tmp_path: Path, earlier: str
) -> None:
    """As if process ids had gone round, or containers with equal ids shared the directory."""
    program = linker.build("simple", "simple.c")
    first = start(program, cwd=tmp_path, file="first.raw").raw
    if earlier == "live":
        first.write_bytes(b"TRODLIVE" + bytes(4096))
    elif earlier == "other":
        first.write_text("anything")
    kept = first.read_bytes()
    for number in (1, 2, 17):
        names = [".", *(f".{each}." for each in range(1, number))]
        script = "".join(f'cp first.raw out.$$"{name}raw";' for name in names)
        done = _shell(f"{script} exec {program}", tmp_path, "out.%p.raw")
        pid = done.stdout.strip()
        files = {
            name.removeprefix(f"out.{pid}"): tmp_path / name for name in os.listdir(tmp_path) if pid in name
        }
        own = files.pop(f".{number}.raw") if number < 16 else files.pop(max(files, key=len))
        assert (done.returncode, done.stderr) == (9, "")
        assert Raw.read(own).counts("a") == (0, 3, 1)
        assert {file.read_bytes() for file in files.values()} == {kept}
        assert len(files) == number


def test_a_name_without_an_id_is_used_by_one_process_after_the_other(
    linker: RuntimeLinker, tmp_path: Path
) -> None:
    program = linker.build("simple", "simple.c")
    (tmp_path / "out.raw.live").write_bytes(b"TRODLIVE" + bytes(4096))
    for _ in range(2):
        run = start(program, cwd=tmp_path)
        assert Raw.read(run.raw).counts("a") == (0, 3, 1)
        assert os.listdir(tmp_path) == ["out.raw"]


def _together(program: Path, number: int, cwd: Path, *arguments: str) -> list[subprocess.Popen[bytes]]:
    """So many processes with one output name, started at once; all have begun, and none has ended."""
    if not (cwd / "gate").exists():
        os.mkfifo(cwd / "gate")
    gate = os.open(cwd / "gate", os.O_RDWR)
    script = f"read line <gate; exec {program} {' '.join(arguments)}"
    named = os.environ | {"TRODDEN_FILE": "app.raw"}
    running = [
        subprocess.Popen(
            ["sh", "-c", script], cwd=cwd, env=named, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for _ in range(number)
    ]
    os.write(gate, b"\n" * number)
    for each in running:
        assert each.stdout is not None
        assert each.stdout.read(1) == b"!"
    os.close(gate)
    return running


def _finish(running: list[subprocess.Popen[bytes]]) -> set[int]:
    """Each counts a byte more than the one before; returns their ids."""
    for number, each in enumerate(running):
        each.communicate(bytes(number))
        assert each.returncode == 9
    return {each.pid for each in running}


@pytest.mark.parametrize("mode", ["", "dump"])
def test_no_process_replaces_the_file_of_another_that_runs(
    linker: RuntimeLinker, tmp_path: Path, mode: str
) -> None:
    """Many claim one name without an id at the same moment, where earlier processes have left files."""
    program, number = linker.build("claiming", "claiming.c"), 24
    for _ in range(8):
        running = _together(program, number, tmp_path, mode)
        pids = _finish(running)
        raws = [Raw.read(path) for path in tmp_path.glob("app*")]
        own = {raw.pid: raw.counts("a") for raw in raws if raw.pid in pids}
        assert own.keys() == pids
        assert sorted(own.values()) == [(0, 1, each) for each in range(number)]


def test_the_file_of_a_process_that_ran_meanwhile_is_kept(linker: RuntimeLinker, tmp_path: Path) -> None:
    """A process that could have no live file takes its name at the end."""
    program = linker.build("claiming", "claiming.c")
    (tmp_path / "one").write_bytes(b"1")
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    script = f"ulimit -f 8; exec {program} <fifo"
    named = os.environ | {"TRODDEN_FILE": "app.raw"}
    slow = subprocess.Popen(["sh", "-c", script], cwd=tmp_path, env=named, stdout=subprocess.PIPE)
    with open(fifo, "wb") as stream:
        assert slow.stdout is not None
        assert slow.stdout.read(1) == b"!"
        assert not list(tmp_path.glob("*.raw"))
        assert _shell(f"{program} <one", tmp_path, "app.raw").returncode == 9
        stream.write(b"12")
    assert slow.wait() == 9
    assert Raw.read(tmp_path / "app.raw").counts("a") == (0, 1, 1)
    assert Raw.read(tmp_path / "app.1.raw").counts("a") == (0, 1, 2)


def test_a_live_file_of_another_container_is_kept(linker: RuntimeLinker, tmp_path: Path) -> None:
    """Nothing here can tell whether its process still runs."""
    run = start(linker.build("running", "running.c"), cwd=tmp_path)
    live = bytearray((tmp_path / "copy").read_bytes())
    live[96:104] = (1).to_bytes(8, "little")
    run.raw.write_bytes(live)
    start(linker.build("simple", "simple.c"), cwd=tmp_path)
    assert run.raw.read_bytes() == live
    assert Raw.read(tmp_path / "out.1.raw").counts("a") == (0, 3, 1)


@pytest.mark.parametrize("kept_open", [True, False])
def test_a_truncated_live_file_does_not_kill(linker: RuntimeLinker, tmp_path: Path, kept_open: bool) -> None:
    """Neither where the descriptor is kept nor where the program may need it."""
    program = linker.build("running", "running.c")
    done = _shell(f"{'' if kept_open else 'ulimit -n 8;'} {program} truncate", tmp_path, "out.raw")
    assert (done.returncode, done.stderr) == (9, "")
    raw = Raw.read(tmp_path / "out.raw")
    assert (raw.flags, raw.counts("a")) == (5, (0, 1, 1))


def test_a_truncation_just_before_the_end_is_named(tmp_path: Path) -> None:
    """What the file lacks is not taken for zeros, although nothing touches it any more."""
    options = ("--trodden-profile=paths", "--trodden-max-paths=none", "-O0")
    must("cc", *options, PROGRAMS / "truncated_at_end.c", "-o", "truncated", cwd=tmp_path)
    done = _shell("exec ./truncated 4300000", tmp_path, str(tmp_path / "out.raw"))
    assert (done.returncode, done.stdout, done.stderr) == (7, "", "")
    gathered, _ = gather_all([tmp_path / "out.raw"])
    assert "out.raw was truncated while it ran" in " ".join(gathered.messages)


@pytest.mark.parametrize("length", [0, 5000])
@pytest.mark.parametrize("calls", [1, 2])
def test_a_file_that_is_truncated_while_it_gets_longer_does_not_come_back_as_zeros(
    tmp_path: Path, length: int, calls: int
) -> None:
    """Right before space is reserved for a thread, or between that and the new length of the file."""
    options = ("--trodden-call-paths=on", "-O1", "-pthread")
    must("cc", *options, PROGRAMS / "truncated_meanwhile.c", "-o", "truncated", cwd=tmp_path)
    done = _shell(f"exec ./truncated {length} {calls}", tmp_path, str(tmp_path / "out.raw"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "truncated\n", "")
    gathered, _ = gather_all([tmp_path / "out.raw"])
    assert "out.raw was truncated while it ran" in " ".join(gathered.messages)


@pytest.mark.parametrize("log", [False, True])
def test_a_message_is_not_written_into_a_file_of_the_program(tmp_path: Path, log: bool) -> None:
    """Descriptor 2 may be anything by then; a log that is appended to gets the message."""
    must("cc", PROGRAMS / "other_standard_error.c", "-o", "program", cwd=tmp_path)
    done = _shell(f"exec ./program {'log' if log else ''}", tmp_path, "/proc/missing/out.raw")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "own").read_text().startswith("datatrodden: cannot write" if log else "data")
    assert log or (tmp_path / "own").stat().st_size == 4


def test_an_earlier_copy_of_a_live_file_is_not_added(linker: RuntimeLinker, tmp_path: Path) -> None:
    last = str(start(linker.build("running", "running.c"), cwd=tmp_path).raw)
    copy, same = str(tmp_path / "copy"), str(tmp_path / "same")
    shutil.copy(last, same)
    assert dict(later_states([copy, last, same])) == {copy: last, last: None, same: None}
    assert dict(later_states([copy])) == {copy: None}


def test_a_message_on_a_broken_pipe_does_not_change_the_status(linker: RuntimeLinker, tmp_path: Path) -> None:
    program = linker.build("simple", "simple.c")
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as broken:
        done = subprocess.run(
            [program],
            cwd=tmp_path,
            env=os.environ | {"TRODDEN_FILE": "/dev/full"},
            stdout=subprocess.DEVNULL,
            stderr=broken,
            check=False,
            timeout=120,
        )
    assert done.returncode == 9


def test_a_message_beyond_a_size_limit_does_not_change_the_status(
    linker: RuntimeLinker, tmp_path: Path
) -> None:
    program = linker.build("simple", "simple.c")
    done = _shell(f"ulimit -f 0; {program} 2>>full", tmp_path, "/dev/full")
    assert done.returncode == 9


def test_a_pipe_without_a_reader_is_reported(linker: RuntimeLinker, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    run = start(linker.build("simple", "simple.c"), cwd=tmp_path, file="pipe")
    assert run.status == 9
    assert run.errors.endswith("pipe: the pipe has no reader; set TRODDEN_FILE to a writable path\n")


def test_a_pipe_with_a_reader_gets_everything(linker: RuntimeLinker, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["cat", "pipe"], cwd=tmp_path, stdout=subprocess.PIPE) as reader:
        # A second writer, so that the reader has the pipe open when the program ends.
        with open(tmp_path / "pipe", "wb"):
            run = start(linker.build("running", "running.c"), cwd=tmp_path, file="pipe")
        assert reader.stdout is not None
        (tmp_path / "out.raw").write_bytes(reader.stdout.read())
    assert (run.status, run.errors) == (9, "")
    assert Raw.read(tmp_path / "out.raw").counts("a") == (0, 2, 1)


def test_the_program_has_all_its_descriptors(linker: RuntimeLinker, tmp_path: Path) -> None:
    """With a limit as low as that, the runtime keeps none open."""
    program = linker.build("running", "running.c")
    done = _shell(f"ulimit -n 4; exec {program} open", tmp_path, "out.raw")
    assert (done.returncode, done.stderr) == (9, "")
    assert Raw.read(tmp_path / "out.raw").counts("a") == (0, 2, 1)


@pytest.mark.parametrize(
    "options",
    [
        ("edges", "--trodden-call-paths=on"),
        ("paths", "--trodden-call-paths=on"),
        ("paths", "--trodden-last=200"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("handler", ["", "handler"])
def test_everything_that_is_in_a_truncated_live_file_continues(
    tmp_path: Path, options: tuple[str, str], handler: str
) -> None:
    source, program = PROGRAMS / "truncated.c", tmp_path / "truncated"
    kind, *others = options
    must("cc", f"--trodden-profile={kind}", *others, "-O1", "-pthread", source, "-o", program, cwd=tmp_path)
    done = _shell(f"exec {program} {handler}", tmp_path, str(tmp_path / "out.raw"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "right\n", "")
    gathered, _ = gather_all([tmp_path])
    assert len(gathered.processes) == 2
    assert "out.raw was truncated while it ran: some of what it had counted until then is lost" in " ".join(
        gathered.messages
    )
