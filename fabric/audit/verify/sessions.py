"""The BGP sessions that a plan gives to a switch, in the names of its network OS."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fabric.model.plan import External, SwitchView
from fabric.nos.target import target

UNDERLAY, OVERLAY, TENANT, OUTSIDE = "underlay", "overlay", "tenant", "outside"


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One end of a session."""

    kind: str
    node: str
    vrf: str  # by its name on the device, "" for the default one
    peer: str  # address, or interface of an unnumbered session
    peer_node: str
    asn: int
    peer_asn: int
    interface: str = ""  # that it runs over, "" between loopbacks
    address: str = ""  # planned for that interface, with its length
    peer_interface: str = ""  # planned at the other end, "" where it is no switch's

    @property
    def shown(self) -> str:
        """How a person speaks of it: `session with backend-spine001 (10.254.0.1)`."""
        vrf = f" in {self.vrf}" if self.vrf else ""
        evpn = "EVPN session" if self.kind == OVERLAY else "session"
        return f"{evpn} with {self.peer_node} ({self.peer}){vrf}"


def router(external: External) -> str:
    """Name of a router outside."""
    return external.port.peer.device.name if external.port.peer else external.peer


def sessions_of(view: SwitchView, outside: Callable[[External], str] = router) -> Iterator[Planned]:
    """Every planned session end of a switch, in the order of the plan.

    Args:
        outside: how the far end of an external session is called.
    """
    nos, device = target(view.device.nos), view.device
    table = nos.idiom.vrf if nos.idiom is not None else "{}"

    def port(ref: object) -> str:
        return nos.port_name(view.model, ref, device.model)  # type: ignore[arg-type]

    tables = [("", view.sessions), *((table.format(vrf.name), vrf.sessions) for vrf in view.vrfs)]
    for vrf, entries in tables:
        for session in entries:
            name = port(session.port.ref) + (f".{session.tag}" if session.tag else "")
            parts = [part.address for part in session.port.subinterfaces if part.tag == session.tag]
            address = parts[0] if session.tag and parts else session.port.address or ""
            kind = TENANT if vrf else UNDERLAY
            peer = session.peer_address or name
            far = session.port.peer
            far_port = ""
            if far is not None and far.port is not None and far.model is not None:
                far_port = target(far.device.nos).port_name(far.model, far.port, far.device.model)
                far_port += f".{session.tag}" if session.tag else ""
            local_asn, other = device.asn, session.peer_asn
            yield Planned(
                kind=kind,
                node=device.name,
                vrf=vrf,
                peer=peer,
                peer_node=session.peer.name,
                asn=local_asn,
                peer_asn=other,
                interface=name,
                address=address,
                peer_interface=far_port,
            )
    for item in view.overlay.sessions if view.overlay else ():
        node = device.name
        asn = device.asn
        yield Planned(
            kind=OVERLAY, node=node, vrf="", peer=item.peer_address, peer_node=item.peer.name, asn=asn, peer_asn=item.peer_asn
        )
    for external in view.externals:
        vrf = table.format(external.vrf) if external.vrf else ""
        name = port(external.port.ref) + (f".{external.tag}" if external.tag else "")
        yield Planned(
            kind=OUTSIDE,
            node=device.name,
            vrf=vrf,
            peer=external.peer_address,
            peer_node=outside(external),
            asn=device.asn,
            peer_asn=external.peer_asn,
            interface=name,
            address=external.address,
        )
