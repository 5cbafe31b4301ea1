"""What NCCL_DEBUG=INFO says of a cause where one line does not tell: connections, channels, and the topology that NCCL found.

Lines that tell by themselves are in causes.yaml. Formats: NVIDIA/nccl 2.10.3 to 2.28.9, init.cc, graph/{topo,search}.cc,
transport/{net,p2p,shm,net_ib}.cc. A finding is as in `outputs`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fabric.base.text import plural
from fabric.solver.doctor.outputs import FIGURE, Finding

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
LIMITED, FULL = 0.6, 0.9  # of the bandwidth of the NICs that NCCL's rings use
UNREAL_GBps = 1.0  # PCIe of one lane of the first generation, as virtual machines show it
GBps = 0.125  # of one Gb/s


@dataclass(frozen=True)
class Design:
    """What the log is compared with."""

    nics: int = 0  # of a server, 0: not known
    nic_gbps: float = 0.0  # of one port, 0: not known
    nvlink: bool = False  # between the GPUs of a server
    crosses: bool = False  # the run uses the network


def findings(text: str, design: Design) -> list[Finding]:
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
    elif pcie and max(pcie) < LIMITED * nic:
        yield Finding("pcie_path", f"NCCL sees PCIe of {max(pcie):g} GB/s for NICs of {nic:g}", 10)
    if ports and max(ports) < FULL * nic:
        yield Finding("slow_server", f"NCCL sees ports of {max(ports):g} GB/s instead of {nic:g}", 10)
    rings = [int(channels) * float(bw) for channels, bw in _GRAPH.findall(text)]
    share = max(rings, default=0.0) / (design.nics * nic)
    if rings and share < LIMITED:
        noted = f"rings of NCCL for {max(rings):g} of {design.nics * nic:g} GB/s"
        yield from (Finding(cause, noted, 5) for cause in ("wrong_topology", "pcie_path"))
    elif rings and share >= FULL:
        yield Finding("wrong_topology", "", 1 / 3)


def _numbers(pattern: re.Pattern[str], text: str) -> list[float]:
    return [float(item) for item in pattern.findall(text)]
