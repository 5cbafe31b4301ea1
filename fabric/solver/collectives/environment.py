"""The variables of NCCL that come with a transport: its plugin's documentation sets them, and jobs run with them.

A network that NCCL reaches by a plugin has a profile: algorithms, protocols and channels that the plugin is made for.
Without them an estimate is of runs that are not made in practice. The data is `data/environments.yaml`; what a
user or a run states goes before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from fabric.base.formats import yaml
from fabric.solver import Bools
from fabric.solver.collectives.physics import DATA, transports

ALGORITHMS = {"Ring": "ring", "Tree": "tree", "NVLS": "nvls", "NVLSTree": "nvls_tree"}
MAX_CHANNELS = 64  # NCCL's MAXCHANNELS
PROTOCOLS = {"LL": "ll", "LL128": "ll128", "Simple": "simple"}


@dataclass(frozen=True)
class Environment:
    """What a transport's profile sets."""

    variables: Mapping[str, str]
    source: str = ""

    @property
    def text(self) -> str:
        """The variables as a shell sets them."""
        return " ".join(f"{key}={value}" for key, value in self.variables.items())

    def permits(self, key: tuple[str, str], algorithm: str, protocol: str) -> bool:
        """Whether NCCL may take (algorithm, protocol) `key`. A stated `algorithm` or `protocol` (`auto`: none) goes
        before the profile's."""
        name, kind = key
        if name == "p2p":
            return True
        algorithms, protocols = self._words("NCCL_ALGO", ALGORITHMS), self._words("NCCL_PROTO", PROTOCOLS)
        if algorithm == "auto":
            if algorithms and name not in algorithms:
                return False
            if self.variables.get("NCCL_NVLS_ENABLE") == "0" and name in ("nvls", "nvls_tree"):
                return False
        return protocol != "auto" or not protocols or kind in protocols

    def ctas(self, default: int) -> int:
        """CTAs of a ring: NCCL's default inside the profile's limits."""
        least, most = (int(self.variables.get(f"NCCL_{end}_NCHANNELS", 0)) for end in ("MIN", "MAX"))
        return min(max(default, least), most or MAX_CHANNELS)

    def _words(self, key: str, names: Mapping[str, str]) -> frozenset[str]:
        return frozenset(names[word] for word in self.variables.get(key, "").split(",") if word)


NONE = Environment({})


@cache
def environments() -> Mapping[str, Environment]:
    """Transport → its profile, of those that have one."""
    entries: dict[str, Any] = yaml.read(DATA / "environments.yaml")
    return {
        name: Environment({key: str(value) for key, value in entry["variables"].items()}, entry["source"])
        for name, entry in entries.items()
    }


def of(transport: str) -> Environment:
    """The profile of a transport of the data."""
    return environments().get(transport, NONE)


def permitted(transport: Any, key: tuple[str, str], algorithm: str, protocol: str) -> Bools:
    """`Environment.permits` by index of `physics.transports()`, of the shape of `transport`."""
    return np.asarray(_by_index(key, algorithm, protocol)[np.asarray(transport, dtype=np.int64)])


@cache
def _by_index(key: tuple[str, str], algorithm: str, protocol: str) -> Bools:
    return np.array([of(name).permits(key, algorithm, protocol) for name in transports()])
