"""Firewall filters: what may talk to the switch itself, and what a tenant's servers may send.

The routing engine answers its BGP neighbors and its management stations, and no other source.
"""

from __future__ import annotations

from dataclasses import dataclass

from fabric.model.plan import Acl, SwitchView
from fabric.nos.junos.write.words import DISCARD, Match, Named, Term, Terms, listed, term

GNMI_PORT = 32767
BFD_PORTS = (3784, 3785, 4784)  # control, echo, multihop
PROTECT = "PROTECT-RE"
LINK_LOCAL = "fe80::/10"


@dataclass(frozen=True, slots=True)
class Firewall:
    families: tuple[tuple[str, tuple[Terms, ...]], ...]  # ("inet", filters), …
    lists: tuple[Named, ...]


def firewall(view: SwitchView) -> Firewall:
    """Filters of IPv4, and of IPv6 where the switch speaks it."""
    lists: list[Named] = []
    families: list[tuple[str, tuple[Terms, ...]]] = []
    for family in ("inet", "inet6") if speaks_ipv6(view) else ("inet",):
        acls = tuple(_acl(acl, family) for acl in view.acls if any(port.acl == acl.name for port in view.ports))
        own = acls if (family == "inet6") == (view.underlay.family == "ipv6") else ()
        families.append((family, (_protect(view, family, lists), *own)))
    return Firewall(tuple(families), tuple(lists))


def speaks_ipv6(view: SwitchView) -> bool:
    addresses = [view.management.address or "", *(external.address for external in view.externals)]
    return view.underlay.family == "ipv6" or view.underlay.unnumbered or any(":" in text for text in addresses)


def _protect(view: SwitchView, family: str, lists: list[Named]) -> Terms:
    manage, protocol = view.management, "protocol" if family == "inet" else "next-header"

    def source(name: str, prefixes: list[str]) -> tuple[Match, ...] | None:
        """The match on a prefix list, created if it does not exist; None where this family has none of these."""
        members = tuple(dict.fromkeys(text for text in prefixes if (":" in text) == (family == "inet6")))
        if not members:
            return None
        lists.append(Named(name if family == "inet" else f"{name}6", members))
        return (Match("source-prefix-list", (lists[-1].name,)),)

    terms = []
    peers = source("BGP-PEERS", _peers(view))
    if peers:
        terms.append(term("bgp", (*peers, f"{protocol} tcp", "port bgp"), "accept"))
        if view.underlay.bfd:
            ports = listed(map(str, BFD_PORTS))
            terms.append(term("bfd", (*peers, f"{protocol} udp", f"destination-port {ports}"), "accept"))
    terms += _icmp(family)
    managers = source("MANAGEMENT", list(manage.allow)) if manage.allow else ()
    if managers is not None:
        terms.append(term("ssh", (*managers, f"{protocol} tcp", "destination-port [ ssh 830 ]"), "accept"))
        terms.append(term("replies", (*managers, f"{protocol} tcp", "tcp-established"), "accept"))
        if manage.snmp_user:
            terms.append(term("snmp", (*managers, f"{protocol} udp", "destination-port snmp"), "accept"))
        if manage.gnmi:
            terms.append(term("gnmi", (*managers, f"{protocol} tcp", f"destination-port {GNMI_PORT}"), "accept"))
    ntp, dns = source("NTP-SERVERS", _hosts(manage.ntp)), source("DNS-SERVERS", _hosts(manage.dns))
    if ntp:
        terms.append(term("ntp", (*ntp, f"{protocol} udp", "source-port ntp"), "accept"))
    if dns:
        terms.append(term("dns", (*dns, f"{protocol} [ tcp udp ]", "source-port domain"), "accept"))
    return Terms(PROTECT if family == "inet" else f"{PROTECT}6", (*terms, DISCARD))


def _icmp(family: str) -> list[Term]:
    if family == "inet":
        kinds = "icmp-type [ echo-request echo-reply unreachable time-exceeded ]"
        return [term("icmp", ("protocol icmp", kinds), "policer ICMP", "accept")]
    kinds = "icmp-type [ echo-request echo-reply destination-unreachable packet-too-big time-exceeded ]"
    return [
        _neighbor_discovery(),
        term("icmp", ("next-header icmp6", kinds), "policer ICMP", "accept"),
    ]


def _neighbor_discovery() -> Term:
    kinds = "icmp-type [ router-solicit router-advertisement neighbor-solicit neighbor-advertisement ]"
    return term("neighbor-discovery", ("next-header icmp6", kinds), "accept")


def _peers(view: SwitchView) -> list[str]:
    """Every address that a BGP session of this switch ends at."""
    sessions = [session.peer_address for session in view.sessions]
    sessions += [session.peer_address for vrf in view.vrfs for session in vrf.sessions]
    sessions += [session.peer_address for session in (view.overlay.sessions if view.overlay else ())]
    sessions += [external.peer_address for external in view.externals]
    link_local = [LINK_LOCAL] if view.underlay.unnumbered else []
    return _hosts(tuple(text for text in sessions if text)) + link_local


def _hosts(addresses: tuple[str, ...]) -> list[str]:
    return [f"{text}/{128 if ':' in text else 32}" for text in addresses]


def _acl(acl: Acl, family: str) -> Terms:
    """ARP is not IP and passes; IPv6 finds its neighbors by ICMP, which must."""
    terms = [_neighbor_discovery()] if family == "inet6" else []
    permits = tuple(prefix for prefix in acl.permits if (":" in prefix) == (family == "inet6"))
    if permits:
        terms.append(term("own", (Match("destination-address", permits),), "accept"))
    return Terms(f"ACL-{acl.name}", (*terms, DISCARD))
