"""What everything of a lab is called: one prefix per site, so that it can be found again after any accident."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

RUN = Path("/run/fabric-lab")  # sockets, states and the journal of host limits; nothing survives a reboot


@dataclass(frozen=True, slots=True)
class Names:
    """Names of the lab of one site."""

    site: str

    @property
    def prefix(self) -> str:
        """Of every namespace, as `ip netns` lists them."""
        return f"fabric-{self.site}."

    @property
    def folder(self) -> Path:
        """Of the state, and of a folder for each node."""
        return RUN / self.site

    @property
    def state(self) -> Path:
        return self.folder / "state.json"

    def home(self, node: str) -> Path:
        """Configs, sockets and logs of one node."""
        return self.folder / "nodes" / node

    def namespace(self, node: str, vrf: str = "") -> str:
        """`fabric-dc1.backend-leaf001`; of a VRF that is a namespace of its own `fabric-dc1.backend-leaf001.vrf-red`."""
        return f"{self.prefix}{node}.{vrf}" if vrf else f"{self.prefix}{node}"
