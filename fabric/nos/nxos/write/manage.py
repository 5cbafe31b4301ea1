"""How a Nexus is reached. mgmt0 is always in the VRF `management`: the switch has no other option."""

from __future__ import annotations

from dataclasses import dataclass

from fabric.model.plan import Management, SwitchView

VRF = "management"
SSH, SNMP, GNMI = "22", "161", "50051"
DELIMITERS = "^#|~@%*"


@dataclass(frozen=True, slots=True)
class Filter:
    """An access list; its lines are numbered."""

    family: str  # "ip" | "ipv6"
    name: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Banner:
    delimiter: str
    text: str


def context(view: SwitchView) -> dict[str, object]:
    manage = view.management
    six = ":" in (manage.address or "")
    gateway = manage.gateway or ""
    access_list = _own_filter(manage, "ipv6" if six else "ip")
    return {
        "banner": banner(manage.banner),
        "admin_secret": manage.admin_secret,
        "dns": manage.dns,
        "ntp": manage.ntp,
        "syslog": manage.syslog,
        "timezone": "" if manage.timezone == "UTC" else manage.timezone,
        "management_vrf": VRF,
        "manage_ip": "ipv6" if six else "ip",
        "manage_address": manage.address or "",
        "manage_route": f"{'ipv6 route ::/0' if ':' in gateway else 'ip route 0.0.0.0/0'} {gateway}" if gateway else "",
        "manage_filters": [*([access_list] if access_list else []), *_login_filters(manage)],
        "manage_access": f"{'ipv6 traffic-filter' if six else 'ip access-group'} {access_list.name} in"
        if access_list
        else "",
        "restricted": bool(manage.allow),
        "snmp_user": manage.snmp_user,
        "snmp_auth_secret": manage.snmp_auth_secret,
        "snmp_priv_secret": manage.snmp_priv_secret,
        "gnmi": manage.gnmi,
    }


def banner(text: str) -> Banner | None:
    """The first delimiter that the text has not; a text with all of them loses the first."""
    if not text:
        return None
    delimiter = next((mark for mark in DELIMITERS if mark not in text), DELIMITERS[0])
    return Banner(delimiter, text.replace(delimiter, ""))


def numbered(lines: list[str]) -> tuple[str, ...]:
    return tuple(f"{10 * n} {line}" for n, line in enumerate(lines, 1))


def _allowed(manage: Management, family: str) -> list[str]:
    return [prefix for prefix in manage.allow if (":" in prefix) == (family == "ipv6")]


def _own_filter(manage: Management, family: str) -> Filter | None:
    """On mgmt0: services from the allowed prefixes only, all else (answers of NTP, DNS, …) may come back."""
    if not manage.allow or not manage.address:
        return None
    services = [("tcp", SSH)]
    services += [("udp", SNMP)] if manage.snmp_user else []
    services += [("tcp", GNMI)] if manage.gnmi else []
    lines = [f"permit {kind} {prefix} any eq {port}" for kind, port in services for prefix in _allowed(manage, family)]
    lines += [f"deny {kind} any any eq {port}" for kind, port in services]
    name = "MANAGEMENT6" if family == "ipv6" else "MANAGEMENT"
    return Filter(family, name, numbered([*lines, f"permit {family} any any"]))


def _login_filters(manage: Management) -> list[Filter]:
    """On the terminal lines and SNMP, which answer in every VRF; a family without allowed prefixes is shut."""
    if not manage.allow:
        return []
    found = []
    for family, name in (("ip", "LOGIN"), ("ipv6", "LOGIN6")):
        lines = [f"permit {family} {prefix} any" for prefix in _allowed(manage, family)]
        found.append(Filter(family, name, numbered([*lines, f"deny {family} any any"])))
    return found
