"""FRR of one node: start, load a frr.conf as a booting switch does, ask over its socket, stop; faults of FRR by release.

Each node's daemons see a host name, a /run/netns and a /var/tmp of their own: zebra adopts every namespace that it finds
under /run/netns as a VRF, and every daemon leaves a folder under /var/tmp.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

from fabric.lab.blueprint import Blueprint
from fabric.lab.machine.namespaces import NETNS, LabError, run

# --- vty ------------------------------------------------------------------------------------------------------
# Asks an FRR daemon over its own socket: a hundred times faster than starting vtysh for every question.

TIMEOUT_S = 20.0


class Silent(LabError):
    """A daemon that does not answer."""


class Vty:
    """A conversation with one daemon, `zebra`, `bgpd` or `bfdd`. Raises Silent if it does not answer."""

    def __init__(self, home: Path, daemon: str) -> None:
        self.name = f"{home.name}: {daemon}"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(TIMEOUT_S)
        try:
            self.socket.connect(str(home / f"{daemon}.vty"))
        except OSError as error:
            self.socket.close()
            raise Silent(f"{self.name} does not answer: {error.strerror or error}") from None

    def __enter__(self) -> Vty:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.socket.close()

    def ask(self, command: str) -> str:
        """The answer's text. A reply ends with three zeros and a code."""
        parts: list[bytes] = []
        tail = b""
        try:
            self.socket.sendall(command.encode() + b"\0")
            while tail[-4:-1] != b"\0\0\0":
                part = self.socket.recv(1 << 18)
                if not part:
                    raise Silent(f"{self.name} closed the connection at '{command}'")
                parts.append(part)
                tail = (tail + part)[-4:]
        except OSError as error:
            raise Silent(f"{self.name} does not answer '{command}': {error}") from None
        return b"".join(parts)[:-4].decode("utf-8", "replace")

    def json(self, command: str) -> Any:
        """The answer to a command that ends in `json`, {} where there is none."""
        text = self.ask(command)
        try:
            return json.loads(text) if text.strip() else {}
        except ValueError:
            raise Silent(f"{self.name}: '{command}' returned no JSON: {text.strip()[:200]}") from None

    def configure(self, *lines: str) -> None:
        """Enters configuration lines. Raises LabError for a line that is refused."""
        self.ask("enable")
        self.ask("configure terminal")
        for line in lines:
            reply = self.ask(line).strip()
            if reply.startswith("%"):
                raise LabError(f"{self.name} rejects '{line}': {reply}")
        self.ask("end")


# --- start and stop -------------------------------------------------------------------------------------------

FOLDERS = ("/usr/lib/frr", "/usr/libexec/frr")  # Debian and what comes from it; Fedora and what comes from it
FPM_MODULE = "*/frr/modules/dplane_fpm_nl.so"  # below /usr/lib
USER = "frr"
NICE = -15  # other programs of a busy machine must not take a link down: BFD waits for less than a second
ROUTING = ("zebra", "bgpd")

# $1 host name, $2 home of the node, then VRF=NAMESPACE …, --, and a command line for each daemon.
_SCRIPT = """
set -e
hostname "$1"; home=$2; shift 2
mount -t tmpfs none /var/tmp
mkdir -p /var/tmp/frr && chown $OWNER /var/tmp/frr
mkdir -p "$home/netns"
while [ "$1" != -- ]; do
  : > "$home/netns/${1%%=*}"
  mount --bind "$NETNS/${1#*=}" "$home/netns/${1%%=*}"
  shift
done
shift
mount --rbind "$home/netns" "$NETNS"
for daemon in "$@"; do $daemon; done
"""

NETNS_LINE = re.compile(r" +netns \S+\n")  # of a VRF that is a namespace, where the kernel has no VRF devices

# What vtysh says of files that are fine: graceful restart is noted, and FRR 10 tells how far it is.
_NOTICES = re.compile(
    r"Graceful restart configuration changed, reset all peers to take effect"
    r"|\[\d+\|\w+\] (sending configuration|done)|Waiting for children to finish applying config\.\.\.|"
)


def programs() -> Path | None:
    """The folder of FRR's daemons, None when there is none."""
    return next((Path(folder) for folder in FOLDERS if os.access(f"{folder}/zebra", os.X_OK)), None)


@cache
def version() -> str:
    """`8.4.4`."""
    folder = programs()
    output = run(str(folder / "zebra"), "--version").stdout if folder else ""
    found = re.search(r"version (\S+)", output)
    return found[1] if found else "unknown"


@cache
def _takes_bfdctl(folder: Path) -> bool:
    """Newer bfdd have no socket of their own to tell."""
    return "--bfdctl" in run(str(folder / "bfdd"), "--help", check=False).stdout


def asks_for_bfd(frr_conf: str) -> bool:
    return re.search(r"^bfd$|^ *neighbor \S+ bfd", frr_conf, re.MULTILINE) is not None


def command_lines(home: Path, frr_conf: str, namespaces: bool, bfd: bool) -> list[str]:
    """The daemons of a node, in the order of their start.

    Args:
        bfd: bfdd is one of them.
        namespaces: VRFs are namespaces, not devices.
    """
    # SONiC's routes go to the ASIC by a module of zebra; without it zebra does not know the words.
    module = re.search(r"^(no )?fpm ", frr_conf, re.MULTILINE) and any(Path("/usr/lib").glob(FPM_MODULE))
    folder = programs()
    assert folder is not None
    common = f"-d --vty_socket {home} -z {home}/zserv.api -u {USER} -g {USER} -P 0 --log file:{home}/frr.log"
    names = [*(["mgmtd"] if (folder / "mgmtd").exists() else []), *ROUTING, *(["bfdd"] if bfd else [])]  # mgmtd: since FRR 9
    zebra = (" -n" if namespaces else "") + (" -M dplane_fpm_nl" if module else "")
    options = {"zebra": zebra, "bfdd": f" --bfdctl {home}/bfdd.sock" if _takes_bfdctl(folder) else ""}
    return [f"{folder}/{name} {common} -i {home}/{name}.pid{options.get(name, '')}" for name in names]


def start(hostname: str, namespace: str, home: Path, vrfs: Mapping[str, str], commands: Sequence[str]) -> None:
    """Starts the daemons of one node. Raises CommandError with their output.

    Args:
        vrfs: VRF → namespace that it is; empty where VRFs are devices.
    """
    names = [Path(line.split()[0]).name for line in commands]
    (home / "daemons").write_text("\n".join(names) + "\n", encoding="ascii")
    command = ["nice", "-n", str(NICE), "nsenter", f"--net={NETNS / namespace}"]
    command += ["unshare", "--mount", "--uts", "--propagation", "private"]
    command += ["env", f"NETNS={NETNS}", f"OWNER={USER}:{USER}", "sh", "-c", _SCRIPT, "sh", hostname, str(home)]
    run(*command, *(f"{vrf}={name}" for vrf, name in vrfs.items()), "--", *commands)


def load(home: Path) -> list[str]:
    """Loads frr.conf into the running daemons; their messages about it, [] if they accept all of it."""
    done = run("vtysh", "--vty_socket", str(home), "--config_dir", str(home), "-b", check=False)
    lines = [line.strip() for line in (done.stdout + done.stderr).splitlines()]
    found = [line for line in lines if not _NOTICES.fullmatch(line)]
    return found or ([f"vtysh ended with {done.returncode}"] if done.returncode else [])


def running_config(home: Path, loaded: str) -> str:
    """What the daemons have, without what the lab itself entered.

    Args:
        loaded: the config that they have loaded.
    """
    text = run(
        *("nsenter", f"--uts=/proc/{alive(home)[ROUTING[0]]}/ns/uts"),  # vtysh prints the host name that it runs under
        *("vtysh", "--vty_socket", str(home), "--config_dir", str(home), "-c", "show running-config"),
    ).stdout
    if needs_own_hops(loaded):
        text = text.replace(f"{OWN_HOPS}\n", "")
    return NETNS_LINE.sub("", text)


def prepare(home: Path, frr_conf: str) -> None:
    """The folder of a node, as the daemons find it; folders of other programs stay."""
    home.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(home / "netns", ignore_errors=True)
    for path in home.iterdir():
        if not path.is_dir():
            path.unlink()
    (home / "frr.conf").write_text(frr_conf, encoding="utf-8")
    (home / "vtysh.conf").touch()
    (home / "frr.log").touch()
    for path in (home, *(path for path in home.iterdir() if not path.is_dir())):
        shutil.chown(path, USER, USER)


def started(home: Path) -> list[str]:
    """Names of the daemons that a node is to have."""
    try:
        return (home / "daemons").read_text(encoding="ascii").split()
    except OSError:
        return []


def alive(home: Path) -> dict[str, int]:
    """Daemon → its process, of those that are running."""
    process_of = {}
    for path in sorted(home.glob("*.pid")):
        try:
            number = int(path.read_text(encoding="ascii"))
            stat = Path(f"/proc/{number}/stat").read_text(encoding="utf-8", errors="replace")
        except (OSError, ValueError):
            continue
        name, _, state = stat.partition("(")[2].rpartition(") ")
        if name == path.stem and state[:1] not in "ZX":  # another program after a restart; a zombie
            process_of[path.stem] = number
    return process_of


def kill(home: Path) -> None:
    """The daemons' sudden end, as when power fails."""
    for number in alive(home).values():
        try:
            os.kill(number, signal.SIGKILL)
        except ProcessLookupError:
            continue
    for path in home.glob("*.pid"):
        path.unlink()


def remove(home: Path) -> None:
    """Nothing of the node is left."""
    shutil.rmtree(home, ignore_errors=True)


def stop(home: Path, patience_s: float = 5.0) -> None:
    """The daemons' end as a service manager asks for it: they take their routes away."""
    for number in reversed(alive(home).values()):
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGTERM)
    deadline = time.monotonic() + patience_s
    while alive(home) and time.monotonic() < deadline:
        time.sleep(0.05)
    kill(home)


def adopt(home: Path, vrf: str, namespace: str) -> None:
    """Zebra takes a namespace for a VRF: it watches the folder that its mount namespace has them in."""
    script = ': > "$1" && mount --bind /proc/$$/ns/net "$1"'
    _beside(home, script, str(NETNS / vrf), f"--net={NETNS / namespace}")


def wait_for_vrf(home: Path, vrf: str, patience_s: float = 10.0) -> None:
    """Until zebra has taken it: what it sees of interfaces before that, it does not connect with the VRF."""
    deadline = time.monotonic() + patience_s
    with Vty(home, ROUTING[0]) as vty:
        while not re.search(rf"^vrf {re.escape(vrf)} id ", vty.ask("show vrf"), re.MULTILINE):
            if time.monotonic() > deadline:
                raise LabError(f"{home.name}: {ROUTING[0]} does not take VRF {vrf}")
            time.sleep(0.05)


def abandon(home: Path, vrf: str) -> None:
    """A VRF is no more."""
    twice = (
        f'umount -l "$1"; umount -l "{home}/netns/{vrf}"'  # those of the start are mounted in both places; zebra has it open
    )
    _beside(home, f'( {twice} ) 2> /dev/null; rm "$1"', str(NETNS / vrf))


def _beside(home: Path, script: str, place: str, *entered: str) -> None:
    """Runs a script with the mounts of the daemons."""
    zebra = alive(home)[ROUTING[0]]
    run("nsenter", f"--mount=/proc/{zebra}/ns/mnt", *entered, "sh", "-c", script, "sh", place)


def missing() -> str:
    """What FRR lacks on this machine, "" when it is whole."""
    folder = programs()
    if folder is None:
        return f"FRR is not installed: no zebra in {' or '.join(FOLDERS)} (Debian: apt-get install frr)"
    lost = [name for name in (*ROUTING, "bfdd") if not os.access(folder / name, os.X_OK)]
    if lost:
        return f"FRR is incomplete: no {', '.join(lost)} in {folder}"
    return "" if shutil.which("vtysh") else "FRR is incomplete: no vtysh"


# --- frr defects ----------------------------------------------------------------------------------------------
# Faults of the daemons themselves, by release: what a lab on this machine cannot show because of them.
#
# A fault of a daemon must not pass for one of the design, nor be hidden.


@dataclass(frozen=True, slots=True)
class FrrDefect:
    """A fault that some releases have."""

    since: tuple[int, ...]
    fixed: tuple[tuple[int, ...], ...]  # the first release of each branch without it
    what: str
    source: str

    def in_(self, version: str) -> bool:
        """Whether a release has it."""
        own = tuple(int(part) for part in re.findall(r"\d+", version)[:3])
        own += (0,) * (3 - len(own)) if own else ()
        if not own or own < self.since:
            return False
        same = [release for release in self.fixed if release[:2] == own[:2]]
        return own < same[0] if same else own < max(self.fixed)


# bgpd withdraws and announces again when the best path of a type-5 route moves; zebra runs the announcement first.
FORGETS_ROUTER_MACS = FrrDefect(
    (8, 4, 0),
    ((8, 4, 5), (8, 5, 3), (9, 0, 1)),
    "forgets router MACs when the best path of a type-5 route moves to another spine; routed traffic of tenants then stops",
    "https://github.com/FRRouting/frr/issues/12391",
)

# The kernel takes a port that goes down out of its next-hop groups, and zebra takes a group that it kept for whole.
LOSES_NEXT_HOPS = FrrDefect(
    (7, 3, 0),
    ((9, 0, 0),),
    "leaves a path out of the kernel's table after its link came back",
    "https://github.com/FRRouting/frr/pull/13413",
)
OWN_HOPS = "no zebra nexthop kernel enable"  # each route with its own next hops, which zebra then installs again


def needs_own_hops(frr_conf: str) -> bool:
    """Whether zebra needs the command, which the file lacks: the real switch forwards by an ASIC, not by kernel tables."""
    return OWN_HOPS not in frr_conf.splitlines() and LOSES_NEXT_HOPS.in_(version())


def forgets(lab: Blueprint, fabric: str = "") -> bool:
    """Whether the daemons here lose routed tenant traffic of a lab, or of one fabric of it, of their own doing."""
    views = (view for view in lab.views.values() if fabric in ("", view.fabric))
    return any(view.vrfs and view.overlay for view in views) and FORGETS_ROUTER_MACS.in_(version())
