"""What the texts of a run state: output of common commands, lines of NCCL_DEBUG=INFO, variables of NCCL and its release."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from fabric.base.text import plural
from fabric.solver.doctor.causes import NEEDS, Cause, Release, releases, version
from fabric.solver.measured.platform import variables

# --- outputs --------------------------------------------------------------------------------------------------
# What the output of common commands says of a cause: ibstat, ibstatus, ibv_devinfo, nvidia-smi topo -m, and perftest.
#
# Single lines of others (lspci, nvidia-smi nvlink, lsmod) are among the lines of causes.yaml.
#
# Each reader finds its output anywhere in a text and gives findings; text of another kind gives none. A finding above 1 is
# how much more often it is seen in runs with the cause than in others, below 1 how much less. Formats: infiniband-diags
# (ibstat, ibstatus), nvidia-smi topo -m and its legend, linux-rdma/perftest.

NEAR = ("PIX", "PXB")  # from GPU to NIC without a host bridge: NCCL user guide, troubleshooting
SLOW_PORT, FULL_PORT = 0.7, 0.9  # of the line rate, as perftest measures it
FIGURE = r"\d{1,9}(?:\.\d+)?"  # as tools print a bandwidth
_CA = re.compile(r"^CA '([\w.-]+)'|^Infiniband device '([\w.-]+)'|^[ \t]*hca_id:\s*([\w.-]+)", re.MULTILINE)
_STATE = re.compile(r"^[ \t]*[Ss]tate:\s*(?:\d{1,9}:\s*|PORT_)?(\w+)", re.MULTILINE)
_RATE = re.compile(r"^[ \t]*[Rr]ate:\s*(\d{1,9})", re.MULTILINE)
_PCI = re.compile(r"^[ \t]*(?:LnkSta|ACSCtl):|^[ \t]*Link \d+: (?:<inactive>|[\d.]+ GB/s)|^nvidia_peermem\s", re.MULTILINE)
_HEAD = re.compile(r"^[ \t]*(GPU0\s.*)$", re.MULTILINE)
_PERFTEST = re.compile(r"^[ \t]*(?:RDMA_(?:Write|Read)|Send) (?:Bidirectional )?BW Test", re.MULTILINE)
_UNIT = re.compile(r"BW average\[(\w+)/sec\]")
_RESULT = re.compile(rf"^[ \t]*\d+[ \t]+\d+[ \t]+[\d.]+[ \t]+({FIGURE})[ \t]+[\d.]+[ \t\r]*$", re.MULTILINE)
_CUDA = re.compile(r"initializing CUDA|Picking device No|--use_(?:cuda|rocm)", re.IGNORECASE)
_Gbps = {"Gb": 1.0, "MB": 8 * 1.048576e-3, "MiB": 8 * 1.048576e-3}  # perftest counts a MB as 2^20 bytes


@dataclass(frozen=True)
class Finding:
    """What an output says of one cause."""

    cause: str
    text: str
    weight: float


def is_known_output(text: str) -> bool:
    """Whether a text has the output of one of the commands."""
    marks = any(pattern.search(text) for pattern in (_CA, _PERFTEST, _PCI))
    return marks or _matrix(text) is not None


def output_findings(text: str, nics: int, nic_gbps: float, nvlink: bool) -> list[Finding]:
    """All findings; `nics` and `nic_gbps` of a server of the design, 0: not known, `nvlink` between its GPUs."""
    return [*_ports(text, nics, nic_gbps), *_distances(text, nvlink), *_bandwidths(text, nic_gbps)]


def _ports(text: str, nics: int, nic_gbps: float) -> Iterator[Finding]:
    """Fewer ports at the speed of the design than it has NICs; ports of other networks may be slower."""
    marks = list(_CA.finditer(text))
    if not marks or not nics or not nic_gbps:
        return
    slow, good = list[str](), 0
    for mark, block in _blocks(text, marks):
        name = mark[1] or mark[2] or mark[3]
        state, rate = _STATE.search(block), _RATE.search(block)
        if state is None:
            continue
        if state[1].lower() == "active" and (rate is None or float(rate[1]) >= nic_gbps):  # ibv_devinfo has no rate
            good += 1
        else:
            slow.append(f"{name} {state[1].lower()}" + (f" {rate[1]} Gb/s" if rate else ""))
    if slow and good < nics:
        yield Finding("slow_server", f"{good} of {nics} ports at {nic_gbps:g} Gb/s: {', '.join(slow)}", 30)


def _blocks(text: str, marks: Sequence[re.Match[str]]) -> Iterator[tuple[re.Match[str], str]]:
    """Each mark with the text up to the next."""
    ends = [*(item.start() for item in marks[1:]), len(text)]
    for mark, end in zip(marks, ends, strict=False):
        yield mark, text[mark.start() : end]


def _matrix(text: str) -> tuple[list[str], list[list[str]]] | None:
    """(columns, rows with their name first) of nvidia-smi topo -m, None where there is none."""
    head = _HEAD.search(text)
    if head is None:
        return None
    columns = re.findall(r"(?:GPU|NIC)\d+|\bmlx5_\w+|\bhns_\w+|\birdma\d+", head[1])
    rows = []
    for line in text[head.end() :].splitlines():
        words = line.split()
        if re.fullmatch(r"GPU\d+", words[0] if words else "") and len(words) > len(columns):
            rows.append(words[: len(columns) + 1])
    return (columns, rows) if rows else None


def _distances(text: str, nvlink: bool) -> Iterator[Finding]:
    matrix = _matrix(text)
    if matrix is None:
        return
    columns, rows = matrix
    gpus = [at for at, name in enumerate(columns, 1) if name.startswith("GPU")]
    nics = [at for at in range(1, len(columns) + 1) if at not in gpus]
    if nics:
        near = sum(any(row[at] in NEAR for at in nics) for row in rows)
        if near == 0:
            yield Finding("pcie_path", "nvidia-smi topo -m: no GPU has a NIC at PIX or PXB", 6)
        elif near == len(rows):
            yield Finding("pcie_path", "", 0.5)
    for row in rows if nvlink else ():
        for at in gpus:
            if row[at] != "X" and not row[at].startswith("NV"):
                yield Finding("p2p_off", f"nvidia-smi topo -m: {row[0]} to {columns[at - 1]} {row[at]}, not NVLink", 20)
                return


def _bandwidths(text: str, nic_gbps: float) -> Iterator[Finding]:
    """What the bandwidth of each perftest says, on GPU and on host memory."""
    for gbps, gpu in perftest_gbps(text) if nic_gbps else ():
        yield from _judged(gbps, nic_gbps, gpu)


def perftest_gbps(text: str) -> Iterator[tuple[float, bool]]:
    """(largest bandwidth in Gb/s of one direction, whether GPU memory was read) of each perftest of a text."""
    begin = 0
    for mark, block in _blocks(text, list(_PERFTEST.finditer(text))):
        before, begin = text[begin : mark.start()], mark.end()
        unit, results = _UNIT.search(block), _RESULT.findall(block)
        if unit is None or not results or unit[1] not in _Gbps:
            continue
        both = 2 if "Bidirectional" in mark[0] else 1
        gbps = max(map(float, results)) * _Gbps[unit[1]] / both
        yield gbps, bool(_CUDA.search(before))


def _judged(gbps: float, nic_gbps: float, gpu: bool) -> Iterator[Finding]:
    """GPU memory through the NIC shows the path of both; host memory the NIC and the network alone."""
    text = f"perftest on {'GPU' if gpu else 'host'} memory: {gbps:.0f} of {nic_gbps:g} Gb/s"
    if gbps < SLOW_PORT * nic_gbps:
        yield from (
            (Finding("peer_dma", text, 10), Finding("pcie_path", text, 6))
            if gpu
            else (Finding("pcie_path", text, 10), Finding("slow_server", text, 6))
        )
    elif gbps >= FULL_PORT * nic_gbps:
        for cause in ("peer_dma", "pcie_path") if gpu else ("pcie_path", "slow_server"):
            yield Finding(cause, "", 0.2)


# --- logs -----------------------------------------------------------------------------------------------------
# What NCCL_DEBUG=INFO says of a cause where one line does not tell: connections, channels, and the topology that NCCL found.
#
# Lines that tell by themselves are in causes.yaml. Formats: NVIDIA/nccl 2.10.3 to 2.28.9, init.cc, graph/{topo,search}.cc,
# transport/{net,p2p,shm,net_ib}.cc. A finding is as in `outputs`.

# Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0(1)/GDRDMA(PCI)/Shared
_NET = re.compile(
    r"\[(send|receive)\] via NET/((?!Socket)[\w .-]{1,80}?)/(\d{1,9})(?:\(\d{1,9}\))?((?:/[\w()]+)*)[ \t\r]*$", re.MULTILINE
)
_CHANNEL = re.compile(
    r"Channel (\d{1,9})(?:/\d+)? : \d+\[\w+\] -> \d+\[\w+\] \[send\] via NET/[\w .-]{1,80}?/(\d{1,9})", re.MULTILINE
)
# GPU Direct RDMA Disabled for GPU 1b000 / HCA 3 (distance 8 > 5): of distant pairs of healthy runs too
_PAIR = re.compile(r"GPU Direct RDMA (Enabled|Disabled) for GPU (\w+) / HCA")
_HOST = re.compile(r"via (?:SHM|direct shared memory)\b")
_PEER = re.compile(r"via P2P/")
_DEVICES = re.compile(r"NET/IB ?: Using (.*)")
_FOUND = re.compile(r"NET/IB ?: Using \[\d")  # newer releases print the line without a device too
_SOCKETS = re.compile(r"NET/Socket ?: Using")
_DEVICE = re.compile(r"(?<![\w.-])([\w.-]+):\d+/(IB|RoCE)\b")
_CHANNELS = re.compile(r"\b(\d{1,9}) coll channels")
_GRAPH = re.compile(rf"Pattern 4, crossNic \d, nChannels (\d{{1,9}}), (?:bw|speed) [\d.]+/({FIGURE})")  # 4: ring
_BRIDGE = re.compile(rf"\+ PCI\[({FIGURE})\] - PCI/")
_NIC = re.compile(rf"\+ PCI\[({FIGURE})\] - NIC/")
_SOCKET = re.compile(r"Using network Socket|via NET/Socket")
_LINK = re.compile(rf"\+ NET\[({FIGURE})\] - NET/")
_WHOLE = re.compile(r"coll channels")
_HIDDEN = re.compile(r"NCCL_DEBUG_SUBSYS(?:\s*[=:]\s*|\s+set by environment to\s+)(?![\w,]*(?:ALL|ENV))", re.IGNORECASE)
SEVERAL = 0.1  # share of connections from which on their kind counts
LIMITED_RINGS, FULL_RINGS = 0.6, 0.9  # of the bandwidth of the NICs that NCCL's rings use
UNREAL_GBps = 1.0  # PCIe of one lane of the first generation, as virtual machines show it
GBps = 0.125  # of one Gb/s


@dataclass(frozen=True)
class Design:
    """What the log is compared with."""

    nics: int = 0  # of a server, 0: not known
    nic_gbps: float = 0.0  # of one port, 0: not known
    nvlink: bool = False  # between the GPUs of a server
    crosses: bool = False  # the run uses the network


def log_findings(text: str, design: Design) -> list[Finding]:
    """All findings of a log."""
    network = [*_gpudirect(text), *_far(text), *_sockets(text), *_devices(text), *_topology(text, design)]
    return [*network, *_inside(text, design), *_few_channels(text, design)]


def whole(text: str) -> bool:
    """Whether a log is of all of the start of NCCL and prints the variables that are set (release 2.16 or later)."""
    return _WHOLE.search(text) is not None and _HIDDEN.search(text) is None and "Connected all" in text


def named_nics(text: str) -> int:
    """NICs that NCCL finds in a server, 0 where the text does not state them; merged ports count one by one."""
    return max((len(_DEVICE.findall(line)) for line in _DEVICES.findall(text)), default=0)


def used_nics(text: str) -> int:
    """NICs that the channels of a server send on, 0 where the log does not have all of its channels."""
    channels = [(int(number), nic) for number, nic in _CHANNEL.findall(text)]
    count = max((int(number) for number in _CHANNELS.findall(text)), default=0)
    if not count or len({number for number, _ in channels if number < count}) < count:
        return 0
    return len({nic for _, nic in channels})


def _gpudirect(text: str) -> Iterator[Finding]:
    """Connections through the network with and without GPUDirect RDMA."""
    kinds = ["/GDRDMA" in kind for *_, kind in _NET.findall(text)]
    if not kinds:
        return
    without = kinds.count(False)
    if without > SEVERAL * len(kinds):
        noted = f"{without} of {len(kinds)} connections `via NET` without /GDRDMA"
        yield Finding("peer_dma", noted, 30)
        yield Finding("pcie_path", noted, 10)  # NCCL does without GPUDirect RDMA where the NIC is far
    else:  # NCCL prints it with ACS on or an IOMMU that translates too
        yield Finding("peer_dma", "", 1 / 3)


def _far(text: str) -> Iterator[Finding]:
    """GPUs for which NCCL does without GPUDirect RDMA with every NIC that it names, as all of them are too far."""
    pairs = _PAIR.findall(text)
    every, near = ({gpu for state, gpu in pairs if state in states} for states in (("Enabled", "Disabled"), ("Enabled",)))
    if every - near:
        noted = f"GPU Direct RDMA Disabled with all NICs named for {len(every - near)} of {plural(len(every), 'GPU')}"
        yield from (Finding(cause, noted, 10) for cause in ("peer_dma", "pcie_path"))


def _sockets(text: str) -> Iterator[Finding]:
    """NCCL tries InfiniBand first; releases before 2.7 print the sockets of the start in every run."""
    if _FOUND.search(text):
        yield Finding("socket", "", 1 / 30)
    elif found := _SOCKETS.search(text):
        yield Finding("socket", found[0], 30)


def _inside(text: str, design: Design) -> Iterator[Finding]:
    """GPUs of a server without NVLink use host memory by default where a host bridge is between them."""
    host, peer = len(_HOST.findall(text)), len(_PEER.findall(text))
    if _NET.search(text) and design.nvlink and not design.crosses:
        yield from (Finding(cause, "GPUs of one NVLink domain via NET", 20) for cause in ("p2p_off", "nvlink_down"))
    if host > SEVERAL * (host + peer):
        yield Finding("p2p_off", f"{host} of {host + peer} connections in a server via SHM", 30 if design.nvlink else 3)
    elif peer:
        yield Finding("p2p_off", "", 1 / 10)


def _devices(text: str) -> Iterator[Finding]:
    """Kind and names of the NICs."""
    found = [item for line in _DEVICES.findall(text) for item in _DEVICE.findall(line)]
    if found and all(kind == "IB" for _, kind in found):
        yield Finding("packet_loss", "", 1 / 20)
        yield Finding("one_queue_pair", "", 1 / 5)
    elif found and not any("bond" in name for name, _ in found):
        yield Finding("one_queue_pair", "", 1 / 3)


def _few_channels(text: str, design: Design) -> Iterator[Finding]:
    """Fewer channels than NICs, or than the least on NVLink inside a server (12 on V100)."""
    counts = [int(number) for number in _CHANNELS.findall(text)]
    least = design.nics if design.crosses else (8 if design.nvlink else 0)
    if counts and max(counts) < least:
        noted = f"{max(counts)} channels" + (f" for {design.nics} NICs" if design.crosses else "")
        yield Finding("few_channels", noted, 10)
        yield Finding("wrong_topology", noted, 5)


def _topology(text: str, design: Design) -> Iterator[Finding]:
    """NCCL_DEBUG_SUBSYS=GRAPH: links of the NICs, and the bandwidth of the rings that NCCL found."""
    if not design.crosses or not design.nics or not design.nic_gbps or _SOCKET.search(text):
        return
    nic = design.nic_gbps * GBps
    pcie, ports = _numbers(_NIC, text), _numbers(_LINK, text)
    lowest = min([*_numbers(_BRIDGE, text), *pcie], default=nic)
    if lowest < UNREAL_GBps:
        yield Finding("wrong_topology", f"NCCL sees PCIe of {lowest:g} GB/s", 10)
    elif pcie and max(pcie) < LIMITED_RINGS * nic:
        yield Finding("pcie_path", f"NCCL sees PCIe of {max(pcie):g} GB/s for NICs of {nic:g}", 10)
    if ports and max(ports) < FULL_RINGS * nic:
        yield Finding("slow_server", f"NCCL sees ports of {max(ports):g} GB/s instead of {nic:g}", 10)
    rings = [int(channels) * float(bw) for channels, bw in _GRAPH.findall(text)]
    share = max(rings, default=0.0) / (design.nics * nic)
    if rings and share < LIMITED_RINGS:
        noted = f"rings of NCCL for {max(rings):g} of {design.nics * nic:g} GB/s"
        yield from (Finding(cause, noted, 5) for cause in ("wrong_topology", "pcie_path"))
    elif rings and share >= FULL_RINGS:
        yield Finding("wrong_topology", "", 1 / 3)


def _numbers(pattern: re.Pattern[str], text: str) -> list[float]:
    return [float(item) for item in pattern.findall(text)]


# --- all texts of a run ---------------------------------------------------------------------------------------

_RELEASE = re.compile(r"NCCL version (\d+\.\d+\.\d+)|nccl-library=(\d{5})\b")
_NAMED = re.compile(r"(?!mlx\d$)[a-z][\w.-]*\d(?::\d+)?")  # a device of NCCL_IB_HCA; a name without digits is a prefix
FIRST_WITH_VARIABLES = (2, 16)  # release whose NCCL_DEBUG=INFO prints them
MAX_LINE_CHARACTERS = 90  # characters of a line


@dataclass(frozen=True)
class Evidence:
    """The text of a run and of its NCCL_DEBUG log, "" for none."""

    text: str = ""

    @cached_property
    def environment(self) -> dict[str, str]:
        """NCCL's variables without NCCL_."""
        return variables(self.text)

    @cached_property
    def release(self) -> str:
        """The release of NCCL, "" where the text does not state it."""
        found = _RELEASE.search(self.text)
        if found is None:
            return ""
        if found[1]:
            return found[1]
        number = int(found[2])
        return f"{number // 10000}.{number // 100 % 100}.{number % 100}"

    @cached_property
    def nics(self) -> int:
        """NICs that NCCL uses in a server, 0 where the text does not state them."""
        devices = self.environment.get("IB_HCA", "").removeprefix("=").split(",")
        chosen = len(devices) if all(_NAMED.fullmatch(name) for name in devices) else 0
        return min((count for count in (chosen, named_nics(self.text)) if count), default=0)

    def nics_with(self, gpus_for_all: bool) -> int:
        """The same, also by what the channels send on, where a server runs a GPU for each NIC."""
        used = used_nics(self.text) if gpus_for_all else 0
        return min(self.nics or used, used) if used else self.nics

    @cached_property
    def whole(self) -> bool:
        """Whether the text has every variable that NCCL read."""
        return bool(self.release) and version(self.release) >= FIRST_WITH_VARIABLES and whole(self.text)

    def points_to(self, cause: Cause, has: Container[str] = NEEDS) -> str:
        """The line or variable that points most to a cause, "" for none; `has`: what the design has."""
        return self.sign(cause, has)[0]

    def sign(self, cause: Cause, has: Container[str] = NEEDS) -> tuple[str, float]:
        """(line or variable that points most to a cause, its weight), ("", 1) for none."""
        return max(self._signs(cause, has), key=lambda item: item[1], default=("", 1.0))

    def _signs(self, cause: Cause, has: Container[str]) -> Iterator[tuple[str, float]]:
        for sign in cause.log:
            if (not sign.where or sign.where in has) and (found := sign.pattern.search(self.text)):
                yield _line(self.text, found.start()), sign.weight
        for sign in cause.env:
            if sign.where and sign.where not in has:
                continue
            for key, value in self.environment.items():
                if sign.pattern.match(f"{key}={value}"):
                    yield f"NCCL_{key}={value}", sign.weight

    def excludes(self, cause: Cause) -> float:
        """The weight of what speaks most against a cause, 1 for nothing."""
        silent = cause.silent if self.whole and not self.points_to(cause) else 1.0
        return max((sign.weight for sign in cause.excludes if sign.pattern.search(self.text)), default=silent)

    def defect(self, collective: str) -> Release | None:
        """The known loss of speed of the release, for a collective."""
        if not self.release:
            return None
        mine = version(self.release)
        return next((item for item in releases() if item.first <= mine <= item.last and collective in item.collectives), None)


def _line(text: str, position: int) -> str:
    """The line at a position, without the host and the process that NCCL prints first."""
    line = text[text.rfind("\n", 0, position) + 1 :].split("\n", 1)[0].strip()
    return line.split("NCCL INFO ")[-1].split("NCCL WARN ")[-1][:MAX_LINE_CHARACTERS]
