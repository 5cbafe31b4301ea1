"""The command at its edges: terminals of any encoding, readers that leave, full disks, interrupts, internal errors."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT
from tests.cli.conftest import Run
from tests.waiting import wait_for

SMALL = ROOT / "intent" / "starter.yaml"
FABRIC = (sys.executable, "-c", "from fabric.cli import main; main()")
AGAIN_S = 30
ENCODINGS: dict[str, dict[str, str]] = {
    "latin-1": {"PYTHONIOENCODING": "latin-1"},
    "ascii": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "utf-8": {"PYTHONIOENCODING": "utf-8:strict"},
}


def fabric(
    folder: Path, *words: object, stdout: int | None = subprocess.PIPE, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """Runs the command as a process of its own."""
    return subprocess.run(
        [*FABRIC, *map(str, words)],
        cwd=folder,
        stdout=stdout,
        stderr=subprocess.PIPE,
        env={**os.environ, **environment},
        check=False,
    )


@pytest.mark.parametrize("encoding", ["latin-1", "ascii"])
def test_a_sign_that_the_terminal_lacks(encoding: str, tmp_path: Path) -> None:
    """The hint has an ellipsis, which Latin-1 and ASCII have not."""
    intent = "version: 1\nsite: dc1\nfabrics: {backend: {servers: {model: dgx-h100, count: 4}, topology: {kind: rack}}}\n"
    (tmp_path / "dc1.yaml").write_text(intent, encoding="utf-8")
    done = fabric(tmp_path, "plan", "dc1.yaml", **ENCODINGS[encoding])
    assert done.returncode == 2, done.stderr
    assert b"`leaf: {switch: \\u2026}` for one" in done.stderr


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_a_config_that_is_not_utf_8(encoding: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "generated" / "starter", tmp_path / "generated" / "starter")
    shutil.copy(SMALL, tmp_path)
    edited = tmp_path / "generated" / "starter" / "configs" / "backend-leaf001" / "frr.conf"
    edited.write_bytes(edited.read_bytes() + b"! caf\xe9\n")
    done = fabric(tmp_path, "generate", "starter.yaml", "--diff", "--jobs", "1", **ENCODINGS[encoding])
    assert done.returncode == 1, done.stderr
    assert b"-! caf\\xe9\n" in done.stdout


def test_a_document_is_utf_8_on_every_terminal(tmp_path: Path) -> None:
    document = fabric(tmp_path, "schema", **ENCODINGS["latin-1"]).stdout
    assert document == (ROOT / "intent" / "fabric.schema.json").read_bytes()
    assert "–".encode() in document or "…".encode() in document


def test_a_reader_that_leaves(tmp_path: Path) -> None:
    shell = (
        f'{sys.executable} -c "from fabric.cli import main; main()" schema | head -c 1 > /dev/null; echo ${{PIPESTATUS[0]}}'
    )
    done = subprocess.run(["bash", "-c", shell], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("141\n", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("words", [("plan", SMALL), ("schema",)])
def test_a_full_disk_names_stdout(words: tuple[object, ...], tmp_path: Path) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    try:
        done = fabric(tmp_path, *words, stdout=full)
    finally:
        os.close(full)
    assert (done.returncode, done.stderr) == (2, b"fabric: stdout: no space left on device\n")


def test_a_closed_stdout(tmp_path: Path) -> None:
    shell = f'{sys.executable} -c "from fabric.cli import main; main()" plan {SMALL} >&-'
    done = subprocess.run(["bash", "-c", shell], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_interrupt(tmp_path: Path) -> None:
    """Ctrl-C while a plan waits for a pipe: 130 and one line."""
    os.mkfifo(tmp_path / "pipe.yaml")
    process = subprocess.Popen([*FABRIC, "plan", "pipe.yaml"], cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    writer = _reader_waits(tmp_path / "pipe.yaml")
    out, err = _interrupted(process)
    os.close(writer)
    assert (process.returncode, out, err) == (130, b"", b"fabric: interrupted\n")


def _interrupted(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    """Output after SIGINT; sent again where it came between Python's look for signals and the read that then waits."""
    for _ in range(20):
        process.send_signal(signal.SIGINT)
        try:
            return process.communicate(timeout=AGAIN_S)
        except subprocess.TimeoutExpired:
            continue
    raise AssertionError("the process does not end")


def _reader_waits(pipe: Path) -> int:
    """Waits until a process has opened a pipe to read from it, and holds the other end."""

    def opened() -> int:
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:  # no one reads yet
            return 0

    return wait_for(opened, "the pipe has no reader")


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (
            ValueError("x"),
            70,
            "fabric: internal error: ValueError: x\n    hint: run the command again with --debug and report the output\n",
        ),
        (
            RecursionError("x"),
            70,
            "fabric: internal error: nested too deeply\n    hint: run the command again with --debug and report the output\n",
        ),
        (
            MemoryError(),
            70,
            "fabric: out of memory\n    hint: `fabric plan FILE --json` counts a site of any size without its wiring\n",
        ),
        (KeyboardInterrupt(), 130, "fabric: interrupted\n"),
        (BrokenPipeError(), 141, ""),
        (OSError(28, "No space left on device", "stdout"), 2, "fabric: stdout: no space left on device\n"),
    ],
)
def test_what_goes_wrong_inside(
    run: Run, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, words: str
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("fabric.pipeline.load", fail)
    done = run("plan x.yaml")
    assert (done.code, done.err) == (code, words)
    if code == 70:
        debugged = run("--debug plan x.yaml")
        assert debugged.code == 70
        assert "Traceback (most recent call last)" in debugged.err


def test_one_bad_intent_of_several(run: Run, tmp_path: Path) -> None:
    """Nothing is written for the good one either, which is reported, and the mistakes of all are listed."""
    text = SMALL.read_text(encoding="utf-8")
    for name, old, new in (("a", "sn5600", "sn56"), ("b", "", ""), ("c", "count", "cont")):
        (tmp_path / f"{name}.yaml").write_text(text.replace("starter", name).replace(old or "\0", new), encoding="utf-8")
    done = run("generate b.yaml a.yaml -o out")
    assert done.code == 2
    assert done.err.splitlines()[0].startswith("a.yaml:")
    assert done.err.endswith("fabric: no files written for any of the 2 intents\n")
    assert not (tmp_path / "out").exists()
    both = run("generate a.yaml c.yaml b.yaml -o out").err
    assert "a.yaml:9:" in both or "c.yaml:" in both
    assert "nothing was written" not in run("generate a.yaml -o out").err


@pytest.mark.parametrize(
    ("size", "count"),
    [
        *[("1G", 1 << 30), ("1GiB", 1 << 30), ("1Gi", 1 << 30), ("64M", 64 << 20), ("1.5k", 1536), ("8", 8), ("8B", 8)],
        *[("1GB", 10**9), ("64MB", 64 * 10**6), ("1.5KB", 1500), ("2 GB", 2 * 10**9)],
    ],
)
def test_sizes(size: str, count: int) -> None:
    from fabric.base.diagnostics import Report
    from fabric.cli.options import size_bytes

    assert size_bytes("--size", size, Report()) == count


@pytest.mark.parametrize("size", ["1Gb", "1gb", "8b", "1Gbit", "1Gib", "64 Mb", "1.5kbits"])
@pytest.mark.parametrize("option", ["--size", "--sweep", "--busbw"])
def test_bits_are_no_size(option: str, size: str, run: Run, tmp_path: Path) -> None:
    """Network engineers write 1 Gb for 10^9 bits: a size with a small b is refused, in every option that takes one."""
    (tmp_path / "a.yaml").write_text(SMALL.read_text(encoding="utf-8"), encoding="utf-8")
    value = {"--size": size, "--sweep": f"8:{size}", "--busbw": f"all_reduce:16:{size}:27"}[option]
    done = run("doctor" if option == "--busbw" else "estimate", "a.yaml", option, value)
    assert (done.code, done.out) == (2, "")
    assert f"{option}: error[FAB102]: expected a size of 8 bytes to 4 TiB, got {size!r}" in done.err
    assert "hint: b is bits, B is bytes: write " in done.err
