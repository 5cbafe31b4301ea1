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
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

DAEMONS = Path("/usr/lib/frr")
NAMESPACES = ("unshare", "-n", "-m", "-p", "-f", "-u", "--kill-child", "--mount-proc")
Line: TypeAlias = tuple[tuple[str, ...], str]  # the blocks it stands in, outermost first, and itself

# bgpd prints this for every file with graceful restart, and vtysh of FRR 10 prints its progress; no other output is expected.
NOTICES = re.compile(
    r"Graceful restart configuration changed, reset all peers to take effect"
    r"|\[\d+\|\w+\] (sending configuration|done)|Waiting for children to finish applying config\.\.\."
)

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
    output: str  # of the load, both streams
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


# start FOLDER COMMAND OPTION: the daemons with their sockets in a folder, each by way of a command; zebra with an option.
START = """
start() {
  for daemon in mgmtd zebra staticd bgpd bfdd; do  # staticd runs wherever zebra does
    own=
    case $daemon in
      mgmtd) test -x $daemons/mgmtd || continue ;;  # since FRR 9
      zebra) own="-M dplane_fpm_nl $3" ;;  # SONiC's routes go through it
      bfdd) $daemons/bfdd --help | grep -q bfdctl && own="--bfdctl $1/bfdd.sock" ;;  # newer ones have no such option
    esac
    $2 $daemons/$daemon -d --vty_socket $1 -z $1/zserv.api -i $1/$daemon.pid -u frr -g frr -P 0 $own \\
      > /dev/null 2>&1 || return 9
  done
}
"""

PREPARE = (
    f"daemons={DAEMONS}{START}"
    + r"""
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
start "$home" "" || exit 9
"""
)
SCRIPT = (
    PREPARE
    + r"""
vtysh --vty_socket $home --config_dir $home -b > $home/output 2>&1
echo $?
echo ---
cat $home/output
echo ---
vtysh --vty_socket $home --config_dir $home -c 'show running-config'
"""
)

CHANGES = r"""
for change in "$4"/*; do
  echo "--- changed"
  vtysh --vty_socket $home --config_dir $home -f "$change" > /dev/null 2>&1
  vtysh --vty_socket $home --config_dir $home -c 'show running-config'
done
"""


def load(path: Path, scratch: Path) -> Loaded:
    """Loads one frr.conf as at boot and reads the running configuration of the daemons."""
    code, output, running = _run(path, scratch, SCRIPT).split("---\n", 2)
    return Loaded(int(code), output, running)


def changed(path: Path, scratch: Path, changes: Sequence[str]) -> list[str]:
    """Loads one frr.conf, then enters commands; returns the running configuration after each entry."""
    folder = scratch / "changes"
    folder.mkdir()
    for number, commands in enumerate(changes):
        (folder / f"{number:03}").write_text(f"{commands}\n", encoding="utf-8")
    return _run(path, scratch, SCRIPT + CHANGES, str(folder)).split("--- changed\n")[1:]


def _run(path: Path, scratch: Path, script: str, *arguments: str) -> str:
    text = path.read_text(encoding="utf-8")
    links = scratch / "links"
    links.write_text("".join(f"{line}\n" for line in devices(text)), encoding="utf-8")
    name = re.search(r"^hostname (\S+)", text, re.MULTILINE)
    done = subprocess.run(
        [*NAMESPACES, "sh", "-c", script, "sh", str(path), name[1] if name else "switch", str(links), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def devices(text: str) -> list[str]:
    """iproute2 batch lines for what the file names: a veth per port, a bridge and a vxlan device per L2 VNI.

    Not every kernel has VRFs and bonds, and FRR keeps their configuration until they appear; it would reject a veth in
    place of a bond.
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


def unexpected(loaded: Loaded) -> set[str]:
    """Lines of output that a clean load does not print."""
    return {line for line in loaded.output.splitlines() if line.strip() and not NOTICES.fullmatch(line)}


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
    """`fd00::0` in its usual form; any other word as it is."""
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


# Nodes joined by veths, each a namespace with daemons of its own. $1: a folder with, per node, NODE/frr.conf, NODE/links
# (iproute2 lines) and NODE/tenants (commands), and `cables`; $2: the node that is asked; $3: what its answer to $4 must hold
# before it is asked all questions from $4 on. A VRF is a namespace within the node's, for kernels that have no VRF devices.
FABRIC_SCRIPT = (
    f"daemons={DAEMONS}{START}"
    + r"""
mount -t tmpfs tmpfs /var/tmp
mount -t tmpfs tmpfs /run
mkdir -p /var/tmp/frr
chown frr:frr /var/tmp/frr
cd "$1"
for node in */; do ip netns add "${node%/}"; done
ip -batch cables || exit 8
for node in */; do
  node=${node%/}
  home=/var/tmp/$node
  mkdir $home
  cp $node/frr.conf $home/
  : > $home/vtysh.conf
  chown -R frr:frr $home
  ip -n $node -batch $node/links || exit 8
  cat > $home/enter <<'END'
mount -t tmpfs tmpfs /run/netns
echo 1 > /proc/sys/net/ipv4/ip_forward
echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter
. "$1"
: > "$2"
exec sleep 3600
END
  ip netns exec $node sh -e $home/enter "$PWD/$node/tenants" $home/entered &
  echo $! > $home/inside
done
for node in */; do
  home=/var/tmp/${node%/}
  until [ -e $home/entered ]; do kill -0 $(cat $home/inside) || exit 9; sleep 0.1; done  # it has its tenants
  start $home "nsenter -n -m -t $(cat $home/inside)" -n || exit 9
  vtysh --vty_socket $home --config_dir $home -b > /dev/null 2>&1
done
home=/var/tmp/$2
until=$3
shift 3
for try in $(seq 3000); do
  vtysh --vty_socket $home --config_dir $home -c "$1" 2>&1 | grep -q "$until" && break
  sleep 0.2
done
sleep 1  # what came with it is in the tables too
for question in "$@"; do
  echo "--- $question"
  vtysh --vty_socket $home --config_dir $home -c "$question" 2>&1
done
"""
)


def ask_fabric(folder: Path, node: str, until: str, questions: list[str]) -> list[str]:
    """Starts every node of a folder, waits until one of them answers the first question so, and returns all its answers."""
    done = subprocess.run(
        [*NAMESPACES, "sh", "-c", FABRIC_SCRIPT, "sh", str(folder), node, until, *questions],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split("--- ")[1:]
