"""A process that runs `fabric` again and again, in limits of time and memory, and is started again when it dies.

Time is CPU time: a signal ends a case that takes too long and says where it was; the kernel kills a process that does not
answer the signal. Memory is the process's peak of the case; the kernel refuses an allocation far above the limit.
"""

from __future__ import annotations

import contextlib
import io
import multiprocessing
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import NoReturn, TextIO

from tests.fuzz.case import Case, Outcome

CPU_S, PEAK_MB = 10.0, 1000.0
ADDRESS_SPACE_MB = 4000  # what libraries map without use is much more than what they touch
FRESH_MB = 400  # a process that has kept so much from earlier cases makes room
SHOWN = 4000  # bytes of an output that are kept


class OverTimeError(BaseException):
    """A case that takes too long; no `except Exception` of the program takes it."""


class Guard:
    """Runs cases, one at a time. Use as a context."""

    def __init__(self, cpu_s: float = CPU_S, address_space_mb: int = ADDRESS_SPACE_MB) -> None:
        self.cpu_s, self.address_space_mb = cpu_s, address_space_mb
        self.process: multiprocessing.process.BaseProcess | None = None
        self.pipe: Connection | None = None

    def __enter__(self) -> Guard:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def run(self, case: Case) -> Outcome:
        """How a case ends; the worker is started where there is none."""
        if self.process is None or not self.process.is_alive():
            self._start()
        assert self.process is not None
        assert self.pipe is not None
        start = time.monotonic()
        try:
            self.pipe.send(case)
            outcome: Outcome = self.pipe.recv()
        except (EOFError, OSError):
            self._stop()
            return Outcome(None, time.monotonic() - start, 0, "", "", "the process died")
        if outcome.peak_mb > FRESH_MB or outcome.trace:
            self._stop()
        return outcome

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, self.cpu_s, self.address_space_mb))
        self.process.start()
        theirs.close()

    def _stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.join()
        if self.pipe is not None:
            self.pipe.close()
        self.process = self.pipe = None


def _serve(pipe: Connection, cpu_s: float, address_space_mb: int) -> None:
    """The worker: a case comes in, an outcome goes out."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):  # every thread maps memory of its own
        os.environ[name] = "1"
    os.environ["COLUMNS"] = "100"
    resource.setrlimit(resource.RLIMIT_AS, (address_space_mb << 20, address_space_mb << 20))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, _late)
    home = Path(tempfile.mkdtemp(prefix="fabric-fuzz-"))
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        while True:
            try:
                case = pipe.recv()
            except EOFError:
                return
            pipe.send(_run(case, home, cpu_s))
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _late(signal_number: int, frame: FrameType | None) -> NoReturn:
    raise OverTimeError


def _run(case: Case, home: Path, cpu_s: float) -> Outcome:
    """One case in an empty folder."""
    folder = home / "case"
    folder.mkdir()
    case.write(folder)
    os.chdir(folder)
    spent = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (int(spent + 3 * cpu_s) + 2, hard))
    reset_peak()
    try:
        code, out, err, trace = _fabric(case.arguments, cpu_s * 1.2)
        spent = sum(resource.getrusage(resource.RUSAGE_SELF)[:2]) - spent
        if code not in (0, 1, 2, 3) and not trace:
            trace = "".join(_fabric(("--debug", *case.arguments), cpu_s * 1.2)[2:])
        return Outcome(code, spent, peak_mb(), out, err, trace)
    finally:
        os.chdir(home)
        shutil.rmtree(folder, ignore_errors=True)


def _fabric(arguments: tuple[str, ...], cpu_s: float) -> tuple[int | None, str, str, str]:
    """Exit code, stdout, stderr, and the traceback of what the command let through."""
    from fabric.cli import main

    files = [io.BytesIO() for _ in range(2)]
    kept = sys.stdout, sys.stderr
    # As the interpreter opens them where the terminal speaks UTF-8.
    sys.stdout, sys.stderr = (
        io.TextIOWrapper(file, "utf-8", errors, write_through=True)
        for file, errors in zip(files, ("strict", "backslashreplace"), strict=True)
    )
    code: int | None = 0
    trace = ""
    try:
        signal.setitimer(signal.ITIMER_PROF, cpu_s)
        main(list(arguments))
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 1
    except OverTimeError:
        code, trace = None, traceback.format_exc()
    except BaseException:
        code, trace = 70, traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        out, err = (_text(stream, file) for stream, file in zip((sys.stdout, sys.stderr), files, strict=True))
        sys.stdout, sys.stderr = kept
    return code, out, err, trace


def _text(stream: TextIO, file: io.BytesIO) -> str:
    stream.flush()
    data = file.getvalue()
    return (data if len(data) <= SHOWN else data[: SHOWN // 2] + b"\n...\n" + data[-SHOWN // 2 :]).decode(
        "utf-8", "backslashreplace"
    )


def reset_peak() -> float:
    """The peak of memory counts from here; MB that the process has."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return peak_mb()


def peak_mb() -> float:
    """Most memory that the process has touched since the case began, 0 where the system does not say."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) / 1000 for line in lines if line.startswith("VmHWM:")), 0)
