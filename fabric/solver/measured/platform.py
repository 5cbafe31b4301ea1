"""The platform of a measured table: GPUs, NVLink domain, network, and variables of NCCL in any text of a run."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Annotated, Any

from fabric.base.diagnostics import nearest, show
from fabric.base.inputs import LOWER, TEXT, OpenSection, Reading, Within

# --- variables ------------------------------------------------------------------------------------------------
# NCCL's variables in any text of a run: its log, the job script, a container's environment, a manifest.

_NAME = r"\bNCCL_([A-Z][A-Z0-9_]*)\b"
_VALUE = r"[\"']?(=?[\w^,:;./-]+)"
_SET = re.compile(
    rf"{_NAME}(?:"
    r"[\"']?\]?[ \t]{0,9}[=:][ \t]{0,9}"  # NAME=VALUE, "NAME": "VALUE", environ["NAME"] = "VALUE"
    r"|[ \t]+set (?:by environment )?to[ \t]+"  # a log of NCCL
    r"|[\"']?[ \t]{0,9}\r?\n[ \t]*value[ \t]{0,9}:[ \t]{0,9}"  # the next line of a manifest of Kubernetes
    rf"){_VALUE}"
)
_WORDS = re.compile(rf"^[ \t]*(?:ENV|setenv)[ \t]+{_NAME}[ \t]+{_VALUE}", re.MULTILINE)  # Dockerfile, csh
_UNSET = re.compile(rf"^[ \t]*unset(?:env)?[ \t]+{_NAME}", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*(?:#[ \t#]|#(?:export|NCCL)|//).*$", re.MULTILINE)  # a directive such as #SBATCH is none


def variables(text: str) -> dict[str, str]:
    """Variable without NCCL_ → value, the last one where it is set several times; not those of comments and unset ones."""
    if "NCCL_" not in text:
        return {}
    bare = _COMMENT.sub("", text)
    assignments = [
        (match.start(), match[1], match[2].rstrip(".")) for pattern in (_SET, _WORDS) for match in pattern.finditer(bare)
    ]
    assignments += [(match.start(), match[1], "") for match in _UNSET.finditer(bare)]
    last = {name: value for _, name, value in sorted(assignments)}
    return {name: value for name, value in last.items() if value}


# --- the platform ---------------------------------------------------------------------------------------------

ALGORITHMS = ("auto", "ring", "tree", "nvls", "nvls_tree", "collnet_direct", "collnet_chain", "pat")
PROTOCOLS = ("auto", "ll", "ll128", "simple")
_ALIASES = {"ib": "infiniband", "roce_v2": "roce", "rocev2": "roce", "": "none", "nvlink": "none"}


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredPlatform:
    """What a table was measured on. A node is a host; `nvlink_domain_gpus` may span several of them."""

    gpu: str
    gpus_per_node: int
    nodes: int
    nvlink_GBps_per_direction: float | None = None  # per GPU; None where it is not stated
    nvlink_domain_gpus: int = 8
    nics_per_node: int = 0
    nic_gbps: float = 0
    transport: str = "none"
    algorithm: str = "auto"  # of ALGORITHMS
    protocol: str = "auto"  # of PROTOCOLS
    nvls: bool | None = None
    min_ctas: int | None = None  # NCCL_MIN_CTAS or NCCL_MIN_NCHANNELS
    max_ctas: int | None = None  # NCCL_MAX_CTAS or NCCL_MAX_NCHANNELS
    qps_per_connection: int | None = None
    processes: str = ""
    gpu_ids: tuple[int, ...] = ()  # of a node that took part, from 0, where they are not the first ones
    communicators: int = 1  # that ran at the same time on other GPUs of the same nodes

    @property
    def ranks(self) -> int:
        return self.gpus_per_node * self.nodes

    @property
    def domain_ranks(self) -> int:
        """Ranks of the run in one NVLink domain. A domain as small as a server's board never joins two servers, however few
        of its GPUs run; a rack's does."""
        if joins_servers(self):
            return min(self.nvlink_domain_gpus, self.ranks)
        return min(self.nvlink_domain_gpus, self.gpus_per_node)

    def ctas(self, default: int) -> int:
        """CTAs of a ring: NCCL's default inside the limits of the run."""
        return min(max(default, self.min_ctas or 1), self.max_ctas or MAX_CTAS)

    @property
    def crosses_network(self) -> bool:
        """Whether the run uses the network: GPUs of one server reach each other over PCIe if not over NVLink."""
        return self.ranks > max(self.domain_ranks, self.gpus_per_node)


def joins_servers(platform: MeasuredPlatform) -> bool:
    """Whether NVLink reaches beyond a node of the run."""
    return platform.nodes > 1 and (platform.nvlink_domain_gpus > BOARD_GPUS or platform.gpu in RACK_SCALE)


def nics_beside(gpus: Iterable[int], of: int, nics: int) -> list[int]:
    """The NICs, from 0, that are the nearest to some GPUs, numbered from 0, of a server with `of` GPUs and so many NICs.

    GPU i is beside NIC i where there are as many of them, beside NIC i // 2 of half as many, 2i and 2i + 1 of twice as many.
    """
    beside = {nic for gpu in gpus for nic in range(gpu * nics // of, max(gpu * nics // of + 1, (gpu + 1) * nics // of))}
    return sorted(nic for nic in beside if nic < nics)


def part_of(whole: MeasuredPlatform, gpus: int, nodes: int, ids: tuple[int, ...] = ()) -> MeasuredPlatform:
    """The platform of a run on so many GPUs of each node of a cluster, with the NICs beside them alone."""
    if gpus >= whole.gpus_per_node:
        return replace(whole, gpus_per_node=gpus, nodes=nodes)
    known = ids if len(ids) == gpus and max(ids) < whole.gpus_per_node else ()
    nics = len(nics_beside(known or range(gpus), whole.gpus_per_node, whole.nics_per_node))
    return replace(whole, gpus_per_node=gpus, nodes=nodes, nics_per_node=nics, gpu_ids=known)


BOARD_GPUS = 8
MAX_CTAS = 64  # NCCL user guide, environment variables, NCCL_MAX_CTAS
RACK_SCALE = ("gb200", "gb300")  # NVLink reaches beyond the host
NOT_STATED = MeasuredPlatform(gpu="", gpus_per_node=0, nodes=0, nvlink_domain_gpus=0)
"""The platform of a table that names none; such a table is not scored."""


@dataclass(frozen=True, kw_only=True)
class PlatformBlock(OpenSection):
    """A `platform:` block; keys it does not know are left alone. None: not stated."""

    gpu: Annotated[str | None, LOWER] = None
    gpus_per_node: Annotated[int | None, Within(1, 1024)] = None
    nodes: Annotated[int | None, Within(1, 1_000_000)] = None
    nvlink_domain_gpus: Annotated[int | None, Within(1, 100_000)] = None
    nvlink_GBps_per_direction: Annotated[float | None, Within(0, 1e5)] = None
    nics_per_node: Annotated[int | None, Within(0, 1024)] = None
    nic_gbps: Annotated[float | None, Within(0, 12_800)] = None
    transport: Annotated[str | None, LOWER] = None
    algorithm: Annotated[str | None, TEXT] = None
    protocol: Annotated[str | None, TEXT] = None
    nvls: bool | None = None
    min_ctas: Annotated[int | None, Within(1, MAX_CTAS)] = None
    max_ctas: Annotated[int | None, Within(1, MAX_CTAS)] = None
    qps_per_connection: Annotated[int | None, Within(1, 1024)] = None
    processes: Annotated[str | None, TEXT] = None


def read_platform(
    block: PlatformBlock, text: Reading[Any], known: MeasuredPlatform = NOT_STATED, hint: str = ""
) -> MeasuredPlatform:
    """The platform of a block. `known` gives what is not written in it; mistakes go to the report of the text."""
    stated = {key: value for key, value in vars(block).items() if value is not None}
    for key in ("gpu", "gpus_per_node", "nodes"):
        if key not in stated and not getattr(known, key):
            text.error(("platform", key), "missing key", hint or header_hint())
    gpus = stated.setdefault("gpus_per_node", known.gpus_per_node or 8)
    stated.setdefault("nodes", known.nodes or 1)
    domain = stated.setdefault("nvlink_domain_gpus", known.nvlink_domain_gpus or gpus)
    stated["nvlink_GBps_per_direction"] = stated.get("nvlink_GBps_per_direction", known.nvlink_GBps_per_direction) or None
    stated["transport"] = transport_named(stated.get("transport", known.transport))
    for key, words in (("algorithm", ALGORITHMS), ("protocol", PROTOCOLS)):
        if key in stated:
            stated[key] = _tuning(stated[key], words, text, key)
    platform = replace(known, **stated)
    if max(domain, gpus) % min(domain, gpus) and (domain < gpus or joins_servers(platform)):
        whole = "an equal part of them" if domain < gpus else "whole nodes"
        reason = "ranks of one NVLink domain: all GPUs of a node, 2 or 4 that a bridge joins, or 72 of a rack"
        text.error(("platform", "nvlink_domain_gpus"), f"expected {whole} of {gpus} GPUs, got {domain}", reason)
    for key in missing(platform):
        value = getattr(block, key)
        problem = f"expected the {_NETWORK[key]}" + (", it is missing" if value is None else f", got {show(value)}")
        reason = f"{platform.ranks} GPUs on {platform.nodes} nodes are more than one NVLink domain: the network counts"
        text.error(("platform", key), problem, hint or reason)
    return platform


_NETWORK = {
    "nics_per_node": "network adapters of a node",
    "nic_gbps": "speed of one of them in Gb/s",
    "transport": "transport",
}


def missing(platform: MeasuredPlatform) -> list[str]:
    """Keys of the network that a platform of more than one NVLink domain needs and does not have."""
    if not platform.crosses_network:
        return []
    return [key for key in _NETWORK if getattr(platform, key) in (0, "", "none")]


def transport_named(word: str) -> str:
    """The usual name of a transport: infiniband, roce, efa, tcpxo, slingshot, …; none inside one NVLink domain."""
    return _ALIASES.get(word.lower(), word.lower())


def header_hint() -> str:
    """The block that says what was measured."""
    return "the platform of your cluster, such as\n" + HEADER


HEADER = """\
    platform:
      gpu: h100
      gpus_per_node: 8
      nodes: 2
      nvlink_GBps_per_direction: 450
      nvlink_domain_gpus: 8
      nics_per_node: 8
      nic_gbps: 400
      transport: roce"""


def _tuning(word: str, known: tuple[str, ...], text: Reading[Any], key: str) -> str:
    """What was forced by NCCL_ALGO or NCCL_PROTO; free text counts as nothing forced, with a warning."""
    named = tuning_named(word, known)
    if not named:
        text.warn(("platform", key), f"expected {', '.join(known)}, got {show(word)}; read as auto", nearest(word, known))
    return named or "auto"


def tuning_named(word: str, known: tuple[str, ...]) -> str:
    """`Ring`, `NVLSTree` in the names of ALGORITHMS or PROTOCOLS, `Ring,Tree` and `^Tree` with commas between what is
    left; "" for anything else."""
    bare = {name.replace("_", ""): name for name in known}
    words = [bare.get(re.sub(r"[^a-z0-9]", "", part.lower()), "") for part in word.split(",")]
    if not all(words):
        return ""
    if word.startswith("^"):
        words = [name for name in known if name not in ("auto", *words)]
    return ",".join(dict.fromkeys(words)) if "auto" not in words else "auto"
