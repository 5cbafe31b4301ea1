"""Static routes as EOS, NX-OS and FRR write them: `ip route 10.0.0.0/8 10.1.0.1`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from fabric.model.facts import Route
from fabric.nos.reading.words import is_address, prefix

PORT = re.compile(
    r"[A-Za-z](?:[^\W\d]|[/.:-])*\d[\w/.:-]*"
)  # a next hop behind an interface is reached over it, whatever its subnets


def static_route(
    words: Sequence[str],
    place: tuple[int, str],
    vrf: str,
    name: Callable[[str], str],
    *,
    own: str = "",
    other: str = "",
) -> Iterator[Route]:
    """The route of a statement; none where its prefix cannot be read.

    Args:
        words: what follows `ip route`.
        place: line and file.
        vrf: of the section that it is in.
        name: makes the name of a VRF in facts out of that in configs.
        own: word in front of the VRF of the route.
        other: word in front of the VRF of the next hop.
    """
    rest, named = list(words), dict[str, str]()
    for key in (own, other):
        if key and key in rest[:-1]:
            at = rest.index(key)
            named[key] = name(rest[at + 1])
            del rest[at : at + 2]
    destination = prefix(" ".join(rest[:2]))
    if destination is None:
        return
    vrf = named.get(own, vrf)
    hop, *options = rest[1 if "/" in rest[0] else 2 :] or [""]
    over_port = "onlink" in options or bool(options and PORT.fullmatch(options[0]))
    via = hop if is_address(hop) and not over_port else ""
    line, file = place
    yield Route(vrf=vrf, prefix=destination, via=via, table=named.get(other, vrf), line=line, file=file)
