"""What older releases of NCCL do to the groups of a training job; data/nccl.yaml has the sources."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from fabric.base.formats import yaml

DATA = Path(__file__).parent / "data" / "nccl.yaml"
RELEASE = re.compile(r"[0-9]{1,3}(\.[0-9]{1,3}){2}")  # as NCCL prints it: 2.18.5
OLDEST = "2.0.0"
BOTH = 0.5  # share of a NIC for each of two GPUs


def nic_share(release: str, gpu: str, gpus: int, nics: int) -> float:
    """Share of its NIC that a group with one GPU a server has while all groups call.

    Args:
        release: of NCCL; "" for one without known defects.
        gpu: name of the GPUs.
        gpus: of a server.
        nics: of a server.
    """
    defect = _defects()["shares_nic"]
    held = release and _number(release) < _number(defect["fixed_in"]) and gpu in defect["gpus"]
    return BOTH if held and gpus > 1 and nics >= gpus else 1.0


def fixed_in(gpu: str) -> str:
    """The first release without a defect on these GPUs; "" where none is known."""
    return max((item["fixed_in"] for item in _defects().values() if gpu in item["gpus"]), key=_number, default="")


def _number(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))


@cache
def _defects() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.read(DATA)
    return found
