"""The machine of a lab: what it lacks, what its kernel can do, and the limits that are raised while labs are up."""

from __future__ import annotations

import fcntl
import json
import os
import resource
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from platform import release

from fabric.base.diagnostics import MissingError
from fabric.base.formats import json_text, write_file
from fabric.lab.blueprint import RUN
from fabric.lab.machine import daemons
from fabric.lab.machine.namespaces import run

PROGRAMS = {"ip": "iproute2", "nsenter": "util-linux", "unshare": "util-linux"}  # program → Debian package

# Name → what is tried in an empty namespace.
TRIED = {
    "veth": "ip link add t0 type veth peer name t1",
    "vrf": "ip link add t2 type vrf table 10",
    "bridge": "ip link add t3 type bridge",
    "vxlan": "ip link add t4 type vxlan id 5 local 127.0.0.1 dstport 4789 nolearning",
    "suppress": "ip link set t4 master t3 && bridge link set dev t4 neigh_suppress on",
    "hashing": "echo 1 > /proc/sys/net/ipv4/fib_multipath_hash_policy",
    "seed": "echo 7 > /proc/sys/net/ipv4/fib_multipath_hash_seed",
    "filter": "nft add table inet t",
    "ingress": "nft 'add table netdev t; add chain netdev t c { type filter hook ingress device lo priority 0; }'",
}


@dataclass(frozen=True, slots=True)
class Kernel:
    """What can be used here."""

    release: str
    can: frozenset[str]  # keys of TRIED

    @property
    def vrf_devices(self) -> bool:
        """Else every VRF is a namespace, which zebra takes for one."""
        return "vrf" in self.can

    @property
    def vrfs(self) -> str:
        return "devices" if self.vrf_devices else "namespaces"


@cache
def kernel() -> Kernel:
    """Tries everything once. Raises MissingError for a machine that gives no namespaces at all."""
    script = "\n".join(f"( {command} ) > /dev/null 2>&1 && echo {name}" for name, command in TRIED.items())
    done = run("unshare", "--net", "--mount", "sh", "-c", f"ip link set lo up\n{script}\necho done", check=False)
    words = done.stdout.split()
    if "done" not in words:
        raise MissingError(f"network namespaces are not available: {done.stderr.strip() or 'unshare --net failed'}")
    return Kernel(release(), frozenset(words) & TRIED.keys())


def require_root() -> None:
    """Raises MissingError without it."""
    if os.geteuid() != 0:
        raise MissingError("fabric lab needs root: it creates network namespaces (use `sudo fabric lab …`)")


def require(overlay: bool) -> Kernel:
    """The kernel, when all that a lab cannot do without is there. Raises MissingError naming what is not.

    Args:
        overlay: bridges and tunnels are needed too.
    """
    require_root()
    for program, package in PROGRAMS.items():
        if shutil.which(program) is None:
            raise MissingError(f"{program} is not installed (Debian package {package})")
    if lost := daemons.missing():
        raise MissingError(lost)
    running = kernel()
    needed = ["veth", *(["bridge", "vxlan"] if overlay else [])]
    if lost := ", ".join(name for name in needed if name not in running.can):
        raise MissingError(f"the kernel {running.release} has no {lost}")
    return running


# --- limits ---------------------------------------------------------------------------------------------------
# Limits of the whole host that a lab needs raised, and put back by the last lab that goes.
#
# The neighbor tables are counted over all namespaces together: 1,024 entries by default, about 120 unnumbered links. What was
# there before is written down first, so that it can be put back after any accident.

JOURNAL = RUN / "limits.json"
NEEDED = {
    f"net/{family}/neigh/default/gc_thresh{number}": value
    for family in ("ipv4", "ipv6")
    for number, value in ((1, 32_768), (2, 65_536), (3, 131_072))
}
SYSCTL = Path("/proc/sys")


def raise_limits() -> None:
    """Raises what is lower than needed; the journal keeps what a lab found before it."""
    with _alone():
        before = _read()
        for key, needed in reversed(NEEDED.items()):  # the upper thresholds first: none may exceed the next
            path = SYSCTL / key
            try:
                value = int(path.read_text(encoding="ascii"))
            except (OSError, ValueError):
                continue  # no such limit here
            if value >= needed:
                continue
            if key not in before:
                before[key] = value
                _write(before)
            path.write_text(str(needed), encoding="ascii")


def restore_limits(needed: Callable[[], bool] = lambda: False) -> None:
    """Restores values that no lab needs any more; a value that was changed since stays."""
    with _alone():
        if needed():
            return
        for key, value in _read().items():
            path = SYSCTL / key
            if path.exists() and path.read_text(encoding="ascii").strip() == str(NEEDED.get(key)):
                path.write_text(str(value), encoding="ascii")
        JOURNAL.unlink(missing_ok=True)


@contextmanager
def _alone() -> Iterator[None]:
    """Labs of two sites may come and go at the same time."""
    RUN.mkdir(parents=True, exist_ok=True)
    folder = os.open(RUN, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def raise_open_files() -> None:
    """This process may hold a socket for every node and flow."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _read() -> dict[str, int]:
    try:
        found = json.loads(JOURNAL.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {key: value for key, value in found.items() if isinstance(value, int)} if isinstance(found, dict) else {}


def _write(values: dict[str, int]) -> None:
    JOURNAL.parent.mkdir(parents=True, exist_ok=True)
    write_file(JOURNAL, f"{json_text(values)}\n".encode())
