"""The file of a switch: startup.yaml of NVUE, built as data."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from fabric.model.plan import LoginMethod, Management, SwitchView
from fabric.nos.cumulus.write.interfaces import interfaces, qos
from fabric.nos.cumulus.write.routing import relays, routing, tenants
from fabric.nos.cumulus.write.tree import ENABLE, USUAL, Tree, addressed, bare, dump, family, keys, merged, release, spelled
from fabric.nos.target import Document, File

# --- Management access, telemetry and permitted services ------------------------------------------------------

USER = "cumulus"  # the account that the image comes with
CERTIFICATE, GNMI_PORT = "gnmi", 9339
TIMES = {"ldap": ("timeout-bind", "timeout-search")}
UTC = ("UTC", "Etc/UTC")  # the switch's own


def management_vrf(view: SwitchView) -> str:
    return "mgmt" if view.management.vrf else "default"


def system(view: SwitchView) -> Tree:
    manage, vrf = view.management, management_vrf(view)
    settings: Tree = {
        "hostname": view.device.name,
        "aaa": merged(accounts(manage), logins(manage, vrf)),
        "api": {"state": "enabled", "listening-address": keys(["localhost"])},
        "config": {"auto-save": {"state": "enabled"}},  # since 5.10, long before the other switches were renamed
        "control-plane": {"acl": {name: {"inbound": {}} for name in ("acl-default-dos", "acl-default-whitelist")}},
        "ssh-server": {"state": "enabled", "permit-root-login": "disabled", "vrf": keys([vrf])},
    }
    tree = merged(settings, servers(manage, vrf), snmp(manage, vrf), gnmi(manage))
    if manage.banner:
        tree["message"] = {"pre-login": manage.banner}
    if manage.timezone not in UTC:
        tree["date-time"] = {"timezone": manage.timezone}
    return merged({"system": tree, "interface": {"eth0": port(manage)}}, guard(manage))


def port(manage: Management) -> Tree:
    """eth0. Without an address it uses DHCP, which each dialect states differently."""
    vrf = {"vrf": "mgmt"} if manage.vrf else {}
    if manage.address is None:
        lease: Tree = {"ipv4": {"address": {"dhcp": {}}, "dhcp-client": {ENABLE: True}}}
        return merged({"type": "eth"}, vrf, lease)
    gateway: Tree = {family(manage.gateway): {"gateway": {manage.gateway: {}}}} if manage.gateway else {}
    return merged({"type": "eth"}, vrf, addressed(manage.address), gateway)


def accounts(manage: Management) -> Tree:
    """A replaced configuration forgets the roles that it does not name, so the switch's own are written out."""
    anywhere = {"action": "allow", "command-path": {"/": {"permission": "all"}}}
    return {
        "class": {
            "nvapply": anywhere,
            "nvshow": {"action": "allow", "command-path": {"/": {"permission": "ro"}}},
            "sudo": anywhere,
        },
        "role": {
            "nvue-admin": {"class": keys(["nvapply"])},
            "nvue-monitor": {"class": keys(["nvshow"])},
            "system-admin": {"class": keys(["nvapply", "sudo"])},
        },
        "user": {USER: {"full-name": "cumulus,,,", "role": "system-admin", "hashed-password": manage.admin_secret}},
    }


def logins(manage: Management, vrf: str) -> Tree:
    """Methods and their servers: the lowest priority is asked first. Earlier releases have the order as numbered keys."""
    aaa = manage.aaa
    if aaa is None:
        return {}
    ranks = {str(rank): name for rank, name in enumerate(aaa.order, 1)}
    tree: Tree = {"authentication": {"order": list(aaa.order)}, "authentication-order": ranks}
    return merged(tree, *({method.name: login_servers(manage, method, vrf)} for method in aaa.methods))


def login_servers(manage: Management, method: LoginMethod, vrf: str) -> Tree:
    own, accounts_here = bare(manage.address or ""), manage.aaa is not None and manage.aaa.accounting == method.name
    shared: Tree = {"vrf": vrf}
    each: Tree = {} if method.name == "ldap" else {"secret": method.secret}
    if method.port:
        (shared if method.name == "ldap" else each)["port"] = method.port
    if method.timeout_s:
        shared |= dict.fromkeys(TIMES.get(method.name, ("timeout",)), method.timeout_s)
    if method.name == "tacacs":
        shared |= {"source-ip": own} if own and family(own) == "ipv4" else {}
        shared["accounting"] = {ENABLE: accounts_here}  # on by default
    elif method.name == "radius":
        shared |= {f"source-{family(own)}": own} if own else {}
        shared |= {"accounting": {"state": "enabled"}} if accounts_here else {}  # so in both dialects
    else:
        shared |= {"base-dn": method.base_dn, "bind-dn": method.bind_dn, "secret": method.secret}
    six = {"prefer-ip-version": 6} if method.name == "tacacs" else {}
    shared["server"] = {
        server: {"priority": rank, **each, **(six if ":" in server else {})} for rank, server in enumerate(method.servers, 1)
    }
    return shared


def servers(manage: Management, vrf: str) -> Tree:
    tree: Tree = {}
    if manage.ntp:
        tree["ntp"] = {"server": {server: {"iburst": True} for server in manage.ntp}, "vrf": vrf}
    if manage.dns:
        tree["dns"] = {"server": {server: {"vrf": vrf} for server in manage.dns}}
    if manage.syslog:
        tree["syslog"] = {"server": {server: {"vrf": vrf} for server in manage.syslog}}
    return tree


def snmp(manage: Management, vrf: str) -> Tree:
    """SNMPv3 with SHA and AES; NVUE takes the two pass phrases as keys of the tree."""
    if not manage.snmp_user:
        return {}
    secret: Tree = {"auth-sha": {manage.snmp_auth_secret: {"encrypt-aes": {manage.snmp_priv_secret: {}}}}}
    address = bare(manage.address) if manage.address else "all"
    return {
        "snmp-server": {
            "state": "enabled",
            "listening-address": {address: {"vrf": vrf} if manage.vrf else {}},
            "username": {manage.snmp_user: secret},
        }
    }


def gnmi(manage: Management) -> Tree:
    if not manage.gnmi:
        return {}
    address = bare(manage.address) if manage.address else "0.0.0.0"
    own = {"state": "enabled", "listening-address": keys([address]), "port": GNMI_PORT, "certificate": CERTIFICATE}
    return {"gnmi-server": own}


# --- what the CPU answers -----------------------------------------------------------------------------------


def guard(manage: Management) -> Tree:
    """Only the allowed prefixes reach the management services.

    Rules name those services and deny nothing else: a rule that denies all cuts the switch's own processes from each other.
    """
    if not manage.allow:
        return {}
    acls = {f"MANAGEMENT-{version.upper()}": guarded(manage, version) for version in ("ipv4", "ipv6")}
    return {"acl": acls, "system": {"control-plane": {"acl": {name: {"inbound": {}} for name in acls}}}}


def guarded(manage: Management, version: str) -> Tree:
    services = [("tcp", 22), *([("udp", 161)] if manage.snmp_user else []), *([("tcp", GNMI_PORT)] if manage.gnmi else [])]
    allowed = [prefix for prefix in manage.allow if family(prefix) == version]
    rules: list[Tree] = []
    for protocol, number in services:
        match: Tree = {"protocol": protocol, protocol: {"dest-port": keys([number])}}
        rules += [{"match": {"ip": match | {"source-ip": prefix}}, "action": keys(["permit"])} for prefix in allowed]
        rules.append({"match": {"ip": match}, "action": keys(["deny"])})
    return {"type": version, "rule": {str(10 * n): rule for n, rule in enumerate(rules, 1)}}


# --- The file -------------------------------------------------------------------------------------------------

FILE = "startup.yaml"


def tree(view: SwitchView) -> Tree:
    """The whole configuration of one switch, in the words of its release."""
    neutral = merged(interfaces(view), routing(view), tenants(view), relays(view), qos(view), system(view))
    return spelled(neutral, release(view.release), management_vrf(view))


def serialized(data: Mapping[str, Any], head: str) -> str:
    """A list of one entry: what to set."""
    return f"{head}\n- set:\n{dump(data, indent=2)}"


def files(view: SwitchView) -> list[File]:
    head = f"# {view.device.name} ({view.device.model}), Cumulus Linux {view.release or USUAL}"
    return [Document(FILE, tree(view), partial(serialized, head=head))]
