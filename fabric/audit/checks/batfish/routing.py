"""Do the switches speak as the plan says: addresses and sessions?"""

from __future__ import annotations

from collections.abc import Iterator

from fabric.audit.checks import ERROR, Finding
from fabric.audit.checks.batfish.checks import Asked, BatfishCheck, Judged, name_of
from fabric.audit.checks.batfish.client import Row
from fabric.audit.checks.batfish.expect import Session
from fabric.audit.checks.batfish.visibility import vrf_name

Key = tuple[str, str, str]  # node, VRF, address or interface of the far end


class Owners(BatfishCheck):
    """Looks for addresses that Batfish finds on two devices of a VRF.

    Two owners of one address receive each other's packets. Anycast gateways and the shared VTEP of a pair are exempt.
    """

    id = "FAB304"
    title = "No address is configured on two interfaces of a VRF"
    severity = ERROR
    example = "10.64.0.5 on leaf001 Ethernet1/1 and on leaf007 Ethernet1/1"
    remediation = "search overrides and pins for the address, and change the address on one of the interfaces"

    def check(self, asked: Asked) -> Iterator[Finding]:
        shared = set(_shared(asked))
        owners: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for row in asked.answers.owners():
            table = _tenant(asked, name_of(row["Node"]), row["VRF"])
            if row["IP"] not in shared and not row["IP"].startswith("127."):
                owners.setdefault((table, row["IP"]), []).append((name_of(row["Node"]), str(row["Interface"])))
        for (_, address), found in sorted(owners.items()):
            for node, interface in sorted(found) if len(found) > 1 else ():
                others = ", ".join(f"{name} {port}" for name, port in sorted(found) if (name, port) != (node, interface))
                yield from self.at_switch(
                    asked, node, f"{interface}: {address} is also the address of {others}", *spelled(address)
                )


def spelled(address: str) -> Iterator[str]:
    """An address as files write it, with the lengths that are in use; where an interface has it before a list."""
    for word in ("address ", ""):
        yield from (f"{word}{address}/{length}" for length in (31, 32, 24))


def _shared(asked: Asked) -> Iterator[str]:
    for views in asked.snapshot.views.values():
        for view in views.values():
            yield from (network.gateway.partition("/")[0] for network in view.networks if network.gateway)
            if view.pair and view.pair.shared_vtep:
                yield view.pair.shared_vtep


def _tenant(asked: Asked, node: str, table: str) -> str:
    """A table by a name that is the same on every target."""
    for session in asked.snapshot.views.values():
        if node in session:
            view = session[node]
            for vrf in view.vrfs:
                if table == vrf_name(view.device.nos, vrf.name):
                    return f"{view.fabric}/{vrf.name}"
    return table


class Sessions(BatfishCheck):
    """Compares the sessions that Batfish brings up with the planned ones.

    Batfish evaluates addresses, AS numbers, families and reachability of both ends. A session that stays down removes its
    routes; one that is not planned lets routes in.
    """

    id = "FAB305"
    title = "All planned BGP sessions come up, and there are no others"
    severity = ERROR
    example = "session with spine001 (10.64.0.1): not compatible"
    remediation = "compare neighbor address, AS number and address families at both ends"

    def judged(self, asked: Asked) -> Judged:
        return Judged(len(asked.expected.sessions), len(asked.expected.planned_sessions), "session end")

    def check(self, asked: Asked) -> Iterator[Finding]:
        # The status, not the compatibility: that says NO_LOCAL_IP of every Junos session without `local-address`.
        rows = {_key(row): row for row in asked.answers.sessions()}
        planned = {(one.device, one.vrf, one.peer): one for one in asked.expected.planned_sessions}
        routed = {node for name, views in asked.snapshot.views.items() if asked.expected.routed(name) for node in views}
        for key, session in planned.items():
            if session.judged:
                yield from self._planned(asked, session, rows.get(key))
        for key in sorted(rows.keys() - planned.keys()):
            if key[0] in routed:
                message = f"{_where(key[1])}unplanned session with {key[2]}"
                yield from self.at_switch(asked, key[0], message, *_neighbor(key[2]))

    def _planned(self, asked: Asked, session: Session, row: Row | None) -> Iterator[Finding]:
        status = row["Established_Status"] if row else "not configured"
        if status == "ESTABLISHED":
            return
        words = status.replace("_", " ").lower()
        if row and str(row["Remote_AS"]) != str(session.asn):
            words += f"; remote AS: expected {session.asn}, got {row['Remote_AS']}"
        message = f"{_where(session.vrf)}session with {session.name} ({session.peer}): {words}"
        yield from self.at_switch(asked, session.device, message, *_neighbor(session.peer))


def _neighbor(peer: str) -> tuple[str, ...]:
    """A session as files write it; the best place first."""
    return f"neighbor {peer} remote-as", f"neighbor {peer}", peer


def _key(row: Row) -> Key:
    remote = row["Remote_IP"]
    peer = remote["value"] if isinstance(remote, dict) else remote
    interface = row["Local_Interface"]
    if not peer and isinstance(interface, dict):
        peer = interface["interface"]
    return name_of(row["Node"]), row["VRF"], str(peer)


def _where(vrf: str) -> str:
    return "" if vrf == "default" else f"VRF {vrf}: "
