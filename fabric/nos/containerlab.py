"""How containerlab runs a network OS. Source: https://containerlab.dev, the page of each kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

ANY_NAME = r"[A-Za-z0-9][A-Za-z0-9_.:@-]{0,14}"  # of an interface that Linux takes, IFNAMSIZ less one


@dataclass(frozen=True, kw_only=True)
class Kind:
    """How containerlab runs a network OS."""

    name: str
    image: str
    own: str = ""  # pattern of the switch's own port names that this kind has; {0}, {1} below are its groups
    endpoint: str = ""  # the port as the kind names it; "": by position, eth1, eth2, …
    startup: str = ""  # file that it starts with
    binds: Mapping[str, str] = field(default_factory=dict)  # file → place in the container
    first_eth: int = 1  # N of the first data port's ethN …
    zero: int = 1  # … and its number in the switch's own name
    note: str = ""  # what is not as on the switch, or left to the user
    mapping: str = ""  # place of a file with the names of its ports: Linux interface → interface of the network OS
    mapped_management: str = ""  # … and the name of its eth0 there
