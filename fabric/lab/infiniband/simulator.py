"""A subnet as ibsim runs it, with the open subnet manager: start, ask, break, stop.

Every program speaks to the simulator by a preloaded library. One whose simulator is gone waits for ever and ignores SIGTERM,
so every call is ended by SIGKILL after a time, and the simulator is looked at before.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from fabric.base.diagnostics import MissingError
from fabric.lab.machine.namespaces import LabError, run

PROGRAMS = {  # program → Debian package
    "ibsim": "ibsim-utils",
    "opensm": "opensm",
    "ibnetdiscover": "infiniband-diags",
    "dump_fts": "infiniband-diags",
    "saquery": "infiniband-diags",
}
LIBRARIES = ("/usr/lib/*/umad2sim/libumad2sim.so", "/usr/lib*/umad2sim/libumad2sim.so")
LOG_FLAGS = "0x43"
FLUSHED = "force_log_flush TRUE\n"  # else what the log says stays in a buffer
FASTEST_GBPS = 200  # HDR: the simulator of Debian 12 knows no faster one
ANSWER_S, SOON_S = 60.0, 20.0
SWEEP_S = 60.0  # of the manager: after the start, and after a change of a cable
OF_A_NODE_S = 0.15  # on top of these: every program asks every node, and on a busy machine each answer waits its turn


@dataclass(frozen=True)
class Subnetwork:
    """What a simulator and its manager are started with."""

    name: str  # of the subnet
    network: str  # as ibnetdiscover prints it
    files: Mapping[str, str]  # of the manager
    nodes: int
    switches: int


@cache
def library() -> str:
    """What is preloaded, "" where it is not installed."""
    return next((str(path) for pattern in LIBRARIES for path in sorted(Path("/").glob(pattern[1:]))), "")


def missing() -> str:
    """What is not installed, in words; "" for nothing."""
    lost = {package for program, package in PROGRAMS.items() if shutil.which(program) is None}
    lost |= set() if library() else {"ibsim-utils"}
    return f"{', '.join(sorted(lost))} not installed (Debian packages)" if lost else ""


@cache
def version() -> str:
    """`3.3.23`."""
    found = re.search(r"OpenSM (\S+)", run("opensm", "--version", check=False).stdout)
    return found[1] if found else "unknown"


class Simulator:
    """One subnet below a folder of the lab."""

    def __init__(self, site: str, folder: Path, name: str, nodes: int = 0) -> None:
        self.home = folder / "subnets" / name
        self.name, self.socket = name, f"{prefix(site)}{name}"
        self.patience_s = OF_A_NODE_S * nodes

    # --- up ---------------------------------------------------------------------------------------------------

    def start(self, its: Subnetwork) -> None:
        """The network, and its manager until it says that the subnet is up. Raises LabError."""
        self.home.mkdir(parents=True)
        (self.home / "network").write_text(its.network, encoding="utf-8")
        for name, text in its.files.items():
            own = FLUSHED if name == "opensm.conf" else ""
            (self.home / name).write_text(text.replace("/etc/opensm/", f"{self.home}/") + own, encoding="utf-8")
        os.mkfifo(self.home / "console")
        console = os.open(self.home / "console", os.O_RDWR)
        limits = ("-N", str(its.nodes + 64), "-S", str(its.switches + 16), "-P", str(16 * its.nodes + 80 * its.switches + 64))
        try:
            ibsim = self._spawn(["ibsim", "-s", *limits, str(self.home / "network")], "ibsim.log", console)
        finally:
            os.close(console)
        self._await("ibsim.log", "sim>", SOON_S, "the simulator does not take the network", _ended(ibsim))
        log = str(self.home / "opensm.log")
        dumps = ("--dump_files_dir", str(self.home))
        command = ["opensm", "-F", str(self.home / "opensm.conf"), "-f", log, "-e", "-D", LOG_FLAGS, *dumps]
        opensm = self._spawn(command, "opensm.out", subprocess.DEVNULL, preload=True)
        self._await("opensm.log", "SUBNET UP", SWEEP_S, "the subnet manager does not bring the subnet up", _ended(opensm))

    def _spawn(self, command: list[str], log: str, stdin: int, *, preload: bool = False) -> subprocess.Popen[bytes]:
        """A process that outlives this command."""
        with (self.home / log).open("wb") as out:
            return subprocess.Popen(
                command,
                stdin=stdin,
                stdout=out,
                stderr=out,
                env=self._environment(preload),
                start_new_session=True,
                cwd=self.home,
            )

    def _environment(self, preload: bool) -> dict[str, str]:
        own = {"IBSIM_SOCKNAME": self.socket, "OSM_CACHE_DIR": str(self.home), "OSM_TMP_DIR": str(self.home)}
        return {**os.environ, **own, **({"LD_PRELOAD": library()} if preload else {})}

    def _await(self, log: str, word: str, patience_s: float, failure: str, ended: Callable[[], bool], times: int = 1) -> None:
        deadline = time.monotonic() + patience_s + self.patience_s
        while self.log(log).count(word) < times:
            if ended() or time.monotonic() > deadline:
                last = self.log(log).strip().splitlines()[-1:] or ["no output"]
                raise LabError(f"subnet {self.name}: {failure}: {last[0]}")
            time.sleep(0.02)

    def log(self, name: str) -> str:
        try:
            return (self.home / name).read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return ""

    @property
    def shell(self) -> str:
        """What stands before a diagnostic program at a prompt."""
        return f"timeout -s KILL 60 env LD_PRELOAD={library()} IBSIM_SOCKNAME={self.socket}"

    # --- questions ---------------------------------------------------------------------------------------------

    def ask(self, *command: str, at: str = "") -> str:
        """The output of a diagnostic program. Raises LabError for one that does not end, or fails.

        Args:
            at: node that it is plugged in at, as the simulator names it; "" for the first.
        """
        if not any(name == "ibsim" for name in processes(self.socket).values()):
            raise LabError(f"subnet {self.name}: the simulator has ended")
        env = {**self._environment(preload=True), **({"SIM_HOST": at} if at else {})}
        try:
            done = subprocess.run(
                command,
                env=env,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=ANSWER_S + self.patience_s,
                check=False,
                cwd=self.home,
            )  # a timeout ends it by SIGKILL
        except subprocess.TimeoutExpired:
            raise LabError(f"subnet {self.name}: {command[0]} does not end") from None
        if done.returncode and not done.stdout:
            raise LabError(f"subnet {self.name}: {' '.join(command)}: {done.stderr.strip() or 'no output'}")
        return done.stdout

    def change(self, *lines: str) -> None:
        """Commands at the simulator's console, and the sweep of the manager that follows. Raises LabError."""
        before = self.log("opensm.log").count("SUBNET UP")
        with (self.home / "console").open("w", encoding="ascii") as console:
            console.write("".join(f"{line}\n" for line in lines))
        gone = partial(_none_runs, self.socket)
        self._await("opensm.log", "SUBNET UP", SWEEP_S, "the subnet manager does not sweep", gone, before + 1)
        settled = self.log("opensm.log").count("SUBNET UP")
        time.sleep(0.3)  # each end of a cable has a trap of its own
        if self.log("opensm.log").count("SUBNET UP") > settled:
            time.sleep(0.3)

    def engine(self) -> str:
        """The engine whose tables are configured, which need not be the one that was asked for."""
        found = re.findall(r": (\S+) tables configured on all switches", self.log("opensm.log"))
        return found[-1] if found else ""

    def dead(self) -> list[str]:
        alive = set(processes(self.socket).values())
        return [name for name in ("ibsim", "opensm") if name not in alive]


# --- what of a site there is, found by its name alone --------------------------------------------------------------


def prefix(site: str) -> str:
    return f"fabric-{site}."


def _ended(process: subprocess.Popen[bytes]) -> Callable[[], bool]:
    """Whether a process has ended: its environment, by which others are known, is readable only some time after its start."""
    return lambda: process.poll() is not None


def _none_runs(socket: str) -> bool:
    return not processes(socket)


def processes(socket: str) -> dict[int, str]:
    """Processes whose simulator's name begins so: number → program."""
    found = {}
    mark = f"IBSIM_SOCKNAME={socket}".encode()
    for number in _numbers():
        try:
            environment = Path(f"/proc/{number}/environ").read_bytes().split(b"\0")
            if any(entry.startswith(mark) for entry in environment):
                state = (
                    Path(f"/proc/{number}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()[0]
                )
                if state != "Z":
                    found[number] = Path(f"/proc/{number}/comm").read_text(encoding="ascii", errors="replace").strip()
        except OSError:
            continue
    return found


def _numbers() -> Iterator[int]:
    return (int(name) for name in os.listdir("/proc") if name.isdecimal() and int(name) != os.getpid())


def stop(site: str) -> int:
    """Ends all of a site; how many processes there were. Raises LabError for one that does not end."""
    running = processes(prefix(site))
    deadline = time.monotonic() + 10
    while left := processes(prefix(site)):
        if time.monotonic() > deadline:
            raise LabError(f"processes that do not end: {', '.join(map(str, left))}")
        for number in left:
            try:
                os.kill(number, signal.SIGKILL)
            except ProcessLookupError:
                continue
        time.sleep(0.02)
    return len(running)


def require() -> None:
    """Raises MissingError where a subnet cannot be simulated."""
    if lost := missing():
        raise MissingError(lost)
