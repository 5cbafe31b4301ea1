"""FRR's own daemons in a network namespace of their own: load a frr.conf, read back what they understood.

Grammar checkers and return codes say little. bgpd takes `rd 10.0.0.1:70000`, keeps `10.0.0.1:4464` and returns 0; only its
running-config tells. Everything happens in throw-away namespaces (network, mounts, processes, host name) and on a tmpfs.
"""

from __future__ import annotations

import ipaddress
import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

DAEMONS = Path("/usr/lib/frr")
NAMESPACES = ("unshare", "-n", "-m", "-p", "-f", "-u", "--kill-child", "--mount-proc")
Line: TypeAlias = tuple[tuple[str, ...], str]  # the blocks it stands in, outermost first, and itself

# bgpd says this of every file with graceful restart; nothing else may be said while a file loads.
NOTICES = {"Graceful restart configuration changed, reset all peers to take effect"}

# What we write out though FRR has it so anyway, and leaves out when it prints.
DEFAULTS = {
    "service integrated-vtysh-config",
    "detect-multiplier 3",
    "receive-interval 300",
    "transmit-interval 300",
    "bgp graceful-restart restart-time 120",
}
# What FRR prints of its own accord.
ADDED = re.compile(r"frr version \S+|vni \d+")  # a live VNI in the default table is listed at the top


@dataclass(frozen=True, slots=True)
class Loaded:
    code: int
    said: str  # while it loaded, on either stream
    running: str  # `show running-config`


@cache
def why_not() -> str:
    """Why FRR cannot be run here, "" when it can."""
    if os.geteuid() != 0:
        return "not root: no namespaces to run FRR in"
    for program in ("vtysh", "unshare", "ip"):
        if shutil.which(program) is None:
            return f"{program} is not installed (Debian packages frr, util-linux, iproute2)"
    if not all((DAEMONS / name).exists() for name in ("zebra", "bgpd", "bfdd")):
        return f"no zebra, bgpd and bfdd in {DAEMONS}"
    if subprocess.run([*NAMESPACES, "true"], capture_output=True, check=False).returncode:
        return "this machine gives no namespaces"
    return ""


SCRIPT = r"""
mount -t tmpfs tmpfs /var/tmp
home=/var/tmp/live
mkdir -p $home /var/tmp/frr
cp "$1" $home/frr.conf
: > $home/vtysh.conf
chown -R frr:frr $home /var/tmp/frr
echo "$2" > /proc/sys/kernel/hostname
echo 1 > /proc/sys/net/ipv4/ip_forward
echo 1 > /proc/sys/net/ipv6/conf/all/forwarding
ip -batch "$3" -force
for daemon in zebra bgpd bfdd; do
  case $daemon in
    zebra) own="-M dplane_fpm_nl" ;;  # SONiC's routes go through it
    bfdd) own="--bfdctl $home/bfdd.sock" ;;
    *) own= ;;
  esac
  %(daemons)s/$daemon -d --vty_socket $home -z $home/zserv.api -i $home/$daemon.pid -u frr -g frr -P 0 $own || exit 9
done > /dev/null 2>&1
vtysh --vty_socket $home --config_dir $home -b > $home/said 2>&1
echo $?
echo ---
cat $home/said
echo ---
vtysh --vty_socket $home --config_dir $home -c 'show running-config'
"""


def load(path: Path, scratch: Path) -> Loaded:
    """Loads one frr.conf as a booting box does and asks the daemons what they have."""
    text = path.read_text(encoding="utf-8")
    links = scratch / "links"
    links.write_text("".join(f"{line}\n" for line in devices(text)), encoding="utf-8")
    name = re.search(r"^hostname (\S+)", text, re.MULTILINE)
    done = subprocess.run(
        [*NAMESPACES, "sh", "-c", SCRIPT % {"daemons": DAEMONS}, "sh", str(path), name[1] if name else "box", str(links)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    code, said, running = done.stdout.split("---\n", 2)
    return Loaded(int(code), said, running)


def devices(text: str) -> list[str]:
    """iproute2 batch lines for what the file names: a veth per port, a bridge and a vxlan device per L2 VNI.

    Not every kernel has VRFs and bonds, and FRR keeps what it is told of them until they come; a veth in the place of a
    bond it would refuse.
    """
    ports = re.findall(r"^interface (\S+)\n evpn mh uplink", text, re.MULTILINE)
    ports += re.findall(r"neighbor (\S+) interface ", text)
    lines = [f"link add {name} type veth peer name far{n}" for n, name in enumerate(dict.fromkeys(ports))]
    for vni in re.findall(r"^  vni (\d+)", text, re.MULTILINE):
        lines += [
            f"link add br{vni} up type bridge",
            f"link add vni{vni} up master br{vni} type vxlan id {vni} local 10.2.0.1 dstport 4789 nolearning",
        ]
    return lines


def said(loaded: Loaded) -> set[str]:
    """Words that a clean load does not have."""
    return {line for line in loaded.said.splitlines() if line.strip()} - NOTICES


def lines(text: str) -> list[Line]:
    """Every line with the blocks around it, by FRR's own indentation; ends of blocks and comments are left out."""
    found: list[Line] = []
    blocks: list[tuple[int, str]] = []
    for raw in text.splitlines():
        line = raw.strip()
        if not line or line.startswith("!") or line == "end" or re.fullmatch(r"exit(-\S+)?", line):
            continue
        depth = len(raw) - len(raw.lstrip())
        while blocks and blocks[-1][0] >= depth:
            blocks.pop()
        line = " ".join(_canonical(word) for word in line.split())
        found.append((tuple(block for _, block in blocks), line))
        blocks.append((depth, line))
    return found


def _canonical(word: str) -> str:
    """`fd00::0` as everybody writes it; any other word as it is."""
    if "::" not in word:
        return word
    address, slash, length = word.partition("/")
    try:
        return f"{ipaddress.ip_address(address)}{slash}{length}"
    except ValueError:
        return word


def differences(meant: str, running: str) -> list[str]:
    """What was meant and is not there (`-`), and what is there and was not meant (`+`)."""
    running = running.partition("Current configuration:\n")[2]
    wanted, got = lines(meant), lines(running)
    missing = [line for line in wanted if line not in set(got) and line[1] not in DEFAULTS]
    extra = [line for line in got if line not in set(wanted) and not (not line[0] and ADDED.fullmatch(line[1]))]
    return [*_shown("-", missing), *_shown("+", extra), *_shown("twice", _repeated(wanted))]


def _repeated(wanted: list[Line]) -> list[Line]:
    return [line for n, line in enumerate(wanted) if line in wanted[:n] and not line[1].startswith("address-family")]


def _shown(sign: str, found: Iterable[Line]) -> list[str]:
    return [f"{sign} {' / '.join((*blocks, line))}" for blocks, line in found]


# Nodes joined by veths, each a namespace with daemons of its own. $1: a folder with NODE/frr.conf and NODE/links per node,
# and `cables` with iproute2 lines; $2: the node that is asked; $3: what; $4: what the answer must hold before it is shown.
FABRIC_SCRIPT = r"""
mount -t tmpfs tmpfs /var/tmp
mount -t tmpfs tmpfs /run
mkdir -p /var/tmp/frr
chown frr:frr /var/tmp/frr
cd "$1"
for node in */; do ip netns add "${node%%/}"; done
ip -batch cables || exit 8
for node in */; do
  node=${node%%/}
  home=/var/tmp/$node
  mkdir $home
  cp $node/frr.conf $home/
  : > $home/vtysh.conf
  chown -R frr:frr $home
  ip -n $node -batch $node/links || exit 8
  ip netns exec $node sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward; echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
  for daemon in zebra bgpd bfdd; do
    test $daemon = bfdd && own="--bfdctl $home/bfdd.sock" || own=
    ip netns exec $node %(daemons)s/$daemon -d --vty_socket $home -z $home/zserv.api -i $home/$daemon.pid \
      -u frr -g frr -P 0 $own > /dev/null 2>&1 || exit 9
  done
  ip netns exec $node vtysh --vty_socket $home --config_dir $home -b > /dev/null 2>&1
done
for try in $(seq 100); do
  vtysh --vty_socket "/var/tmp/$2" --config_dir "/var/tmp/$2" -c "$3" > /var/tmp/answer 2>&1
  grep -q "$4" /var/tmp/answer && break
  sleep 0.2
done
cat /var/tmp/answer
"""


def ask_fabric(folder: Path, node: str, question: str, until: str) -> str:
    """Starts every node of a folder and asks one of them again and again until the answer holds what is waited for."""
    done = subprocess.run(
        [*NAMESPACES, "sh", "-c", FABRIC_SCRIPT % {"daemons": DAEMONS}, "sh", str(folder), node, question, until],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
