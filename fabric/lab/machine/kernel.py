"""What this machine lacks for a lab, and what its kernel can do; asked by trying, in a namespace that is gone afterwards."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from functools import cache
from platform import release

from fabric.base.diagnostics import MissingError
from fabric.lab.machine import daemons
from fabric.lab.machine.run import run

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


def require(overlay: bool) -> Kernel:
    """The kernel, when all that a lab cannot do without is there. Raises MissingError naming what is not.

    Args:
        overlay: bridges and tunnels are needed too.
    """
    if os.geteuid() != 0:
        raise MissingError("fabric lab needs root: it creates network namespaces (use `sudo fabric lab …`)")
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
