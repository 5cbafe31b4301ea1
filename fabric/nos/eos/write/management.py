"""Management of an Arista switch and the filter before its CPU, in EOS words.

EOS answers SSH in the default VRF unless that is shut, and in another VRF once it is opened there by name. What reaches the
CPU at all is one list a VRF; it replaces the switch's own `default-control-plane-acl`, which lets every service through.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fabric.model.plan import Management, SwitchView

ADMIN = "admin"
ALLOWED = "MANAGEMENT"  # standard lists, one of each family, of who may manage the switch
GNMI_PORT = 6030
HEREDOC = "EOF"  # the line that ends a banner


@dataclass(frozen=True, slots=True)
class AccessList:
    ip: str  # "ip" | "ipv6"
    name: str
    standard: bool
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Guard:
    """The list before the CPU in one VRF."""

    ip: str
    name: str
    vrf: str


@dataclass(frozen=True, slots=True)
class Access:
    vrf: str  # "" when the default VRF is the management VRF
    lists: tuple[AccessList, ...]
    guards: tuple[Guard, ...]
    restricted: bool  # the services answer to the standard lists only
    banner: str


def management_vrf(view: SwitchView) -> str:
    """`MGMT`, unless a tenant has taken that name."""
    if not view.management.vrf:
        return ""
    return "MGMT" if all(vrf.name != "MGMT" for vrf in view.vrfs) else "MGMT-OUT-OF-BAND"


def access(view: SwitchView) -> Access:
    manage, vrf = view.management, management_vrf(view)
    tables = ["default", *(tenant.name for tenant in view.vrfs)]
    lists: list[AccessList] = []
    if manage.allow:
        lists += [AccessList(ip, ALLOWED, True, tuple(_sources(ip, manage))) for ip in ("ip", "ipv6")]
    for ip in ("ip", "ipv6"):
        lists.append(AccessList(ip, "CP-FABRIC", False, tuple(_fabric(ip))))
        lists.append(AccessList(ip, "CP-MANAGEMENT", False, tuple(_management(ip, manage, fabric=not vrf))))
    guards = []
    for ip in ("ip", "ipv6"):
        shared = "" if vrf else "default"
        guards += [Guard(ip, "CP-MANAGEMENT" if name == shared else "CP-FABRIC", name) for name in tables]
        guards += [Guard(ip, "CP-MANAGEMENT", vrf)] if vrf else []
    used = {guard.name for guard in guards} | {ALLOWED}
    return Access(
        vrf=vrf,
        lists=tuple(prefix_list for prefix_list in lists if prefix_list.name in used),
        guards=tuple(guards),
        restricted=bool(manage.allow),
        banner=_banner(manage.banner),
    )


def _sources(ip: str, manage: Management) -> Iterable[str]:
    """Sources that may manage the switch, of one family; none when the intent names none of it."""
    return [f"permit {prefix}" for prefix in _of(ip, manage)] or ["deny any"]


def _of(ip: str, manage: Management) -> list[str]:
    return [prefix for prefix in manage.allow if (":" in prefix) == (ip == "ipv6")]


def _fabric(ip: str) -> Iterable[str]:
    """What routing lives on. `tracked`: answers to what the switch itself began, NTP and DNS included."""
    hops = "ttl" if ip == "ip" else "hop-limit"
    yield f"permit {'icmp' if ip == 'ip' else 'icmpv6'} any any"
    yield f"permit {ip} any any tracked"
    yield f"permit udp any any eq bfd {hops} eq 255"
    yield f"permit udp any any eq bfd-echo {hops} eq 254"
    yield "permit udp any any eq multihop-bfd micro-bfd sbfd"
    yield "permit tcp any any eq bgp"
    yield "permit tcp any eq bgp any"
    yield f"deny {ip} any any"


def _management(ip: str, manage: Management, *, fabric: bool) -> Iterable[str]:
    """The services that the intent asks for, from where it allows them; routing too where all share one VRF."""
    rules = list(_fabric(ip))
    yield from rules[:-1] if fabric else rules[:2]
    yield "permit udp any any eq ntp"
    for source in _of(ip, manage) if manage.allow else ["any"]:
        yield f"permit tcp {source} any eq ssh"
        if manage.gnmi:
            yield f"permit tcp {source} any eq {GNMI_PORT}"
        if manage.snmp_user:
            yield f"permit udp {source} any eq snmp"
    yield rules[-1]


def _banner(text: str) -> str:
    """One printable line; the one that would end the banner is left out."""
    return "" if text.strip() == HEREDOC else text
