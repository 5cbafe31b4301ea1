"""What is wrong with the cables, each thing once, and the moves that fix it."""

from __future__ import annotations

from dataclasses import dataclass, field

from fabric.base.text import counted

# Kinds, the ones that others may be a consequence of first; words that a person on the floor uses.
KINDS = {
    "swapped": "cables whose far ends are swapped",
    "wrong-port": "the planned device, but another port",
    "wrong-device": "another device than planned",
    "unknown-device": "a device that the plan does not have",
    "unexpected": "a neighbor where the plan has no cable",
    "duplicate-name": "two devices that send the same name",
    "contradiction": "a port that reports the neighbor of another port",
    "missing": "a planned cable that neither end reports",
    "silent-device": "a device that no neighbor reports on any of its cables",
    "port-down": "a planned cable whose port is shut",
    "one-way": "reported at one end only",
    "wrong-split": "a cage with another breakout than planned",
    "wrong-speed": "a port that runs at another speed than planned",
}
MAX_HINT_MOVES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class PortLocation:
    """Location of a port: device, label of the plan, name in the network OS, rack and rack unit."""

    device: str
    port: str = ""  # "" where only the device is known
    port_name: str = ""
    rack: str = ""
    ru: int = 0  # 0: unknown
    cage: str = ""  # place in a cage that several ports of a server share, `OSFP4P2`

    def __str__(self) -> str:
        return f"{self.device} port {self.label}" if self.port or self.port_name else self.device

    @property
    def label(self) -> str:
        """`5/1 (Ethernet32)`, `compute1 (enp24s0np0, OSFP4P2)`: the label of the plan, and how else to find the port."""
        shown = self.port or self.port_name
        others = ", ".join(name for name in (self.port_name, self.cage) if name not in ("", shown))
        return f"{shown} ({others})" if others else shown


@dataclass(frozen=True, slots=True)
class Move:
    """One thing to do with one's hands (`move`, `lay`, `remove`), or at one port (`check`, `set`, `split`)."""

    action: str
    text: str
    at: PortLocation  # where to go
    kept: PortLocation | None = None  # the end that stays plugged in
    to: PortLocation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CableFault:
    """One fault, its location, and the moves that fix it."""

    kind: str
    fabric: str
    message: str
    at: PortLocation
    moves: tuple[Move, ...]
    links: tuple[tuple[PortLocation, PortLocation], ...] = ()  # planned links that are not as planned because of it

    @property
    def hint(self) -> str:
        """The first moves."""
        return "; ".join(move.text for move in self.moves[:MAX_HINT_MOVES])


@dataclass(frozen=True, kw_only=True)
class CablingState:
    """The cabling of a site, judged."""

    site: str
    links: int
    as_planned: int
    not_reported: int
    by_device_only: int  # of those as planned: the neighbor did not say which of its ports it is
    files: int
    devices: int  # that reported
    findings: tuple[CableFault, ...]
    notes: tuple[str, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)
    intent: str = ""  # its file

    def sentence(self) -> str:
        """The last line of a report."""
        parts = [f"{self.as_planned:,} of {self.links:,} links as planned"]
        parts += [f"{number:,} {kind}" for kind in KINDS if (number := self.counts.get(kind))]
        moves = sum(len(finding.moves) for finding in self.findings)
        parts += [f"{counted(moves, 'move')} fix{'es' * (moves == 1)} everything"] if moves else []
        parts += [f"{self.not_reported:,} not reported"] if self.not_reported else []
        return "; ".join(parts)
