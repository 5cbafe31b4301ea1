"""What the output of common commands says of a cause: ibstat, ibstatus, ibv_devinfo, nvidia-smi topo -m, and perftest.

Single lines of others (lspci, nvidia-smi nvlink, lsmod) are among the lines of causes.yaml.

Each reader finds its output anywhere in a text and gives findings; text of another kind gives none. A finding above 1 is how
much more often it is seen in runs with the cause than in others, below 1 how much less. Formats: infiniband-diags (ibstat,
ibstatus), nvidia-smi topo -m and its legend, linux-rdma/perftest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

NEAR = ("PIX", "PXB")  # from GPU to NIC without a host bridge: NCCL user guide, troubleshooting
SLOW, FULL = 0.7, 0.9  # of the line rate, as perftest measures it
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


def known(text: str) -> bool:
    """Whether a text has the output of one of the commands."""
    marks = any(pattern.search(text) for pattern in (_CA, _PERFTEST, _PCI))
    return marks or _matrix(text) is not None


def findings(text: str, nics: int, nic_gbps: float, nvlink: bool) -> list[Finding]:
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
    """The largest bandwidth of each perftest, on GPU and on host memory."""
    if not nic_gbps:
        return
    begin = 0
    for mark, block in _blocks(text, list(_PERFTEST.finditer(text))):
        before, begin = text[begin : mark.start()], mark.end()
        unit, results = _UNIT.search(block), _RESULT.findall(block)
        if unit is None or not results or unit[1] not in _Gbps:
            continue
        both = 2 if "Bidirectional" in mark[0] else 1
        gbps = max(map(float, results)) * _Gbps[unit[1]] / both
        yield from _judged(gbps, nic_gbps, gpu=bool(_CUDA.search(before)))


def _judged(gbps: float, nic_gbps: float, gpu: bool) -> Iterator[Finding]:
    """GPU memory through the NIC shows the path of both; host memory the NIC and the network alone."""
    text = f"perftest on {'GPU' if gpu else 'host'} memory: {gbps:.0f} of {nic_gbps:g} Gb/s"
    if gbps < SLOW * nic_gbps:
        yield from (
            (Finding("peer_dma", text, 10), Finding("pcie_path", text, 6))
            if gpu
            else (
                Finding("pcie_path", text, 10),
                Finding("slow_server", text, 6),
            )
        )
    elif gbps >= FULL * nic_gbps:
        for cause in ("peer_dma", "pcie_path") if gpu else ("pcie_path", "slow_server"):
            yield Finding(cause, "", 0.2)
