"""Programs of a switch that a network namespace has not: what stands in for them in a shell of the lab.

    python -m fabric.lab.machine.stand_ins DISK PROGRAM WORD…

They do to the namespaces and daemons of one switch what the programs do to a switch. A service manager is a machine's own;
interfaces are made as the lab makes them, because not every kernel has VRFs and VLAN-aware bridges.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from fabric.lab.blueprint import PORT, Node
from fabric.lab.machine import daemons
from fabric.lab.machine.disk import DAEMONS_FILE, ROUTING_FILE, Disk
from fabric.lab.machine.namespaces import LabError, run
from fabric.lab.machine.nodes import ip
from fabric.lab.machine.reload import Reload
from fabric.lab.up_down import start

BOOT_S = 1.0  # without power
UNITS = {"s": 1.0, "sec": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0}
ROUTING_SERVICE = ROUTING_FILE.partition(".")[0]
OTHER_SERVICES = ("chrony", "lldpd", "nftables", "rsyslog", "snmpd", "ssh", "sshd")  # no lab runs them
NOT_LOADED, FAILED = 5, 1


def main(words: Sequence[str]) -> int:
    """Runs one; its messages on stderr, as the program has them."""
    disk = Disk(Path(words[0]))
    kept = (folder for folder in os.environ["PATH"].split(os.pathsep) if folder != f"{disk.folder}/bin")
    os.environ["PATH"] = os.pathsep.join(kept)  # from here on programs are those of the machine
    try:
        return STAND_INS[words[1]](disk, list(words[2:]))
    except (LabError, OSError) as error:
        return _fail(f"{words[1]}: {error}")


def _fail(text: str, code: int = FAILED) -> int:
    print(text, file=sys.stderr)
    return code


# --- interfaces, kernel settings, filters -----------------------------------------------------------------------


def ifreload(disk: Disk, words: list[str]) -> int:
    """Interfaces as /etc/network/interfaces has them; those that are so already stay as they are."""
    if words != ["-a"]:
        return _fail(f"ifreload: expected -a, got {' '.join(words)}")
    node = disk.node(saved=not daemons.alive(disk.home))
    Reload(disk.spaces, disk.loaded, node).run()
    disk.keep(node)
    return 0


def sysctl(disk: Disk, words: list[str]) -> int:
    """The settings of /etc/sysctl.d that namespaces have."""
    if words != ["--system"]:
        return _fail(f"sysctl: expected --system, got {' '.join(words)}")
    disk.spaces.settings(disk.node())
    return 0


def nft(disk: Disk, words: list[str]) -> int:
    """The real program; a file is loaded in every VRF that is a namespace, with what lets the flows of a probe in."""
    loads = "-f" in words and "-c" not in words
    done = subprocess.run(["nft", *(["-c"] if loads else []), *words], stdin=subprocess.DEVNULL, check=False)
    if done.returncode or not loads:
        return done.returncode
    node = disk.node()
    for space in disk.spaces.spaces(node):
        disk.spaces.load_filters(node, space)
    return 0


# --- timers -----------------------------------------------------------------------------------------------------


def systemd_run(disk: Disk, words: list[str]) -> int:
    """A timer that types its lines unless it is stopped before."""
    options: dict[str, str] = {}
    while words and words[0].startswith("--"):
        name, _, value = words.pop(0)[2:].partition("=")
        options[name] = value
    unit, after = options.get("unit", ""), _seconds(options.get("on-active", ""), disk.described.minute_s)
    if not unit or after is None or not words:
        return _fail("systemd-run: expected --unit=NAME --on-active=TIME PROGRAM")
    if _timer(disk, unit) is not None:
        return _fail(f"Failed to start transient timer unit: Unit {unit}.timer was already loaded")
    place = disk.timers / unit
    script = f'sleep {after:g}; rm -f "$1"; shift; exec "$@"'
    with (disk.timers / f"{unit}.log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(
            ["/bin/sh", "-c", script, "sh", str(place), *words],
            cwd=options.get("working-directory") or None,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    place.write_text(str(process.pid), encoding="ascii")
    print(f"Running timer as unit: {unit}.timer", file=sys.stderr)
    return 0


def _seconds(text: str, minute_s: float) -> float | None:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(s|sec|min|m|h)", text)
    return float(found[1]) * UNITS[found[2]] * minute_s / 60 if found else None


def _timer(disk: Disk, unit: str) -> int | None:
    """The process of a timer that waits."""
    try:
        number = int((disk.timers / unit).read_text(encoding="ascii"))
        os.kill(number, 0)
    except (OSError, ValueError):
        return None
    return number


def _stop_timer(disk: Disk, unit: str) -> int:
    number = _timer(disk, unit)
    if number is None:
        return _fail(f"Failed to stop {unit}.timer: Unit {unit}.timer not loaded.", NOT_LOADED)
    (disk.timers / unit).unlink(missing_ok=True)
    with suppress(ProcessLookupError):
        os.killpg(number, signal.SIGKILL)
    return 0


# --- services, reboot -------------------------------------------------------------------------------------------


def systemctl(disk: Disk, words: list[str]) -> int:
    """`stop NAME.timer`, `restart SERVICE`, `reboot`."""
    verb, name = (words[0] if words else ""), (words[1] if len(words) > 1 else "").removesuffix(".service")
    if verb == "stop" and name.endswith(".timer"):
        return _stop_timer(disk, name.removesuffix(".timer"))
    if verb == "restart" and name == ROUTING_SERVICE:
        return _restart(disk)
    if verb == "restart" and name in OTHER_SERVICES:
        return 0
    if verb == "reboot" and not name:
        disk.booting.touch()
        _spawn(disk, "boot")
        return 0
    if verb in ("stop", "restart"):
        return _fail(f"Failed to {verb} {name}: Unit {name} not found.", NOT_LOADED)
    return _fail(f"systemctl: no stand-in for {' '.join(words)}")


def _spawn(disk: Disk, program: str) -> None:
    """Runs on when the shell has ended."""
    with (disk.folder / f"{program}.log").open("w", encoding="utf-8") as log:
        subprocess.Popen(
            [sys.executable, "-m", "fabric.lab.machine.stand_ins", str(disk.folder), program],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def _restart(disk: Disk) -> int:
    """The daemons end, and start again with the config that is saved."""
    daemons.stop(disk.home)
    return _load(disk, disk.node())


def _load(disk: Disk, node: Node) -> int:
    bfd = re.search(r"^bfdd=yes", disk.files.get(DAEMONS_FILE, ""), re.MULTILINE) is not None
    start(node, disk.spaces, bfd)
    refused = daemons.load(disk.home)
    return _fail("\n".join(refused)) if refused else 0


def boot(disk: Disk, words: list[str]) -> int:
    """Power goes, and comes again: what is not on the disk is lost. Timers are among it."""
    spaces, was = disk.spaces, disk.loaded
    for place in disk.timers.glob("*"):
        _stop_timer(disk, place.name)
    daemons.kill(disk.home)
    for own in (own for own in was.interfaces if own.kind == PORT):
        run("ip", "-n", spaces.namespace(was.name, own.vrf), "link", "set", own.name, "down", check=False)
    time.sleep(BOOT_S)
    node = disk.node()
    Reload(spaces, was, node).run()
    disk.keep(node)
    down = [own for own in node.interfaces if own.kind == PORT]
    for own in down:  # those that the files bring up wait for the daemons
        run("ip", "-n", spaces.namespace(node.name, own.vrf), "link", "set", own.name, "down", check=False)
    spaces.settings(node)
    if node.filters:
        for space in spaces.spaces(node):
            spaces.load_filters(node, space)
    spaces.forget(node)
    code = _load(disk, node)
    for own in down:
        if own.up:
            ip(spaces.namespace(node.name, own.vrf), [f"link set {own.name} up"])
    disk.booting.unlink(missing_ok=True)
    return code


def apt_get(disk: Disk, words: list[str]) -> int:
    """Nothing is installed: every switch of a lab runs the daemons of the machine."""
    print(f"lab: not installed, FRR {daemons.version()} of the machine stays: {' '.join(words)}")
    return 0


STAND_INS: Mapping[str, Callable[[Disk, list[str]], int]] = {
    "apt-get": apt_get,
    "boot": boot,
    "ifreload": ifreload,
    "nft": nft,
    "sysctl": sysctl,
    "systemctl": systemctl,
    "systemd-run": systemd_run,
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
