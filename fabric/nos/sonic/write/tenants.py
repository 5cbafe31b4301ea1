"""Tenants in config_db.json: VRFs, VLANs and their anycast gateway, the VXLAN tunnel, bonds, and filters between tenants.

frr.conf has the same VRFs under the same names; route distinguishers, targets and Ethernet segments' routes are its part.
"""

from __future__ import annotations

from fabric.model.plan import Lag, Port, SwitchView
from fabric.nos.sonic.write.ports import Table, Tables, is_older, subinterface_name
from fabric.nos.target import CannotRender

LOOPBACK, VTEP_LOOPBACK = "Loopback0", "Loopback1"
TUNNEL, NVO = "vtep", "nvo"
PREFERRED, COMMON = 50_000, 32_767  # designated forwarder: the higher preference; frr.conf says the same

# ICMPv6 types of neighbor discovery, without router advertisements (134), which a server must not send.
NEIGHBOR_DISCOVERY = {"ROUTER-SOLICIT": 133, "NEIGHBOR-SOLICIT": 135, "NEIGHBOR-ADVERT": 136}
IPV4, FIRST_PRIORITY = "2048", 9000


def vrf_name(name: str) -> str:
    return f"Vrf-{name}"


def tenant_tables(view: SwitchView, names: list[str]) -> Tables:
    ports = dict(zip(names, view.ports, strict=True))
    return {
        "VRF": {vrf_name(vrf.name): {} if vrf.vni is None else {"vni": str(vrf.vni)} for vrf in view.vrfs},
        **routed_tables(view, ports),
        **vlan_tables(view, ports),
        **overlay_tables(view),
        **bond_tables(view, ports),
        **filter_tables(view, ports),
    }


# --- layer 3 -------------------------------------------------------------------------------------------------


def routed_tables(view: SwitchView, ports: dict[str, Port]) -> Tables:
    interfaces: Table = {}
    slices: Table = {}
    for name, port in ports.items():
        vrf = {"vrf_name": vrf_name(port.vrf)} if port.vrf else {}
        if port.link_local:
            interfaces[name] = {"ipv6_use_link_local_only": "enable", **vrf}
        elif port.address is not None and not port.closed:
            interfaces[name] = dict(vrf)
            interfaces[f"{name}|{port.address}"] = {}
        for part in port.subinterfaces:
            subinterface = subinterface_name(name, part.tag)
            row = {"admin_status": "up"} | ({"vrf_name": vrf_name(part.vrf)} if part.vrf else {})
            # SONiC reads port and VLAN from the row, as a short name contains neither.
            slices[subinterface] = row | ({} if subinterface.startswith(name) else {"vlan": str(part.tag)})
            slices[f"{subinterface}|{part.address}"] = {}
    loopbacks: Table = {LOOPBACK: {}}
    loopbacks |= {f"{LOOPBACK}|{address}": {} for address in (view.loopback, view.loopback6) if address}
    if view.overlay and view.overlay.vtep:
        loopbacks |= {VTEP_LOOPBACK: {}, f"{VTEP_LOOPBACK}|{view.overlay.vtep}/32": {}}
    return {"INTERFACE": interfaces, "VLAN_SUB_INTERFACE": slices, "LOOPBACK_INTERFACE": loopbacks}


# --- layer 2 and overlay -------------------------------------------------------------------------------------


def vlan_tables(view: SwitchView, ports: dict[str, Port]) -> Tables:
    """Tenants' VLANs; with an overlay also one per VRF, which carries its L3 VNI and has no port."""
    if not view.networks and (view.overlay is None or view.overlay.vtep is None):
        return {}
    mtu = view.overlay.mtu if view.overlay else view.underlay.mtu
    vlans: Table = {}
    interfaces: Table = {}
    for network in view.networks:
        name = f"Vlan{network.vlan}"
        vlans[name] = {"vlanid": str(network.vlan), "mtu": str(mtu)}
        if network.gateway is not None:
            interfaces[name] = {"vrf_name": vrf_name(network.vrf), "static_anycast_gateway": "true"}
            interfaces[f"{name}|{network.gateway}"] = {}
    for vrf in view.vrfs:
        if vrf.vni is not None:
            name = f"Vlan{vrf.vlan}"
            vlans[name] = {"vlanid": str(vrf.vlan), "mtu": str(mtu)}
            interfaces[name] = {"vrf_name": vrf_name(vrf.name)}
    members: Table = {}
    for name, port in ports.items():
        if not port.lag and port.bridged:
            members |= _members(name, port)
    for lag in view.lags:
        members |= _members(bond_name(lag), lag)
    gateways = any("static_anycast_gateway" in row for row in interfaces.values())
    if gateways:
        _refuse_older(view, "distributed anycast gateway")
    relays: Table = {f"Vlan{n.vlan}": {"dhcpv4_servers": list(n.relay)} for n in view.networks if n.relay}
    if relays:
        _refuse_older(view, "DHCP relay in a VRF")
    return {
        **({"DHCPV4_RELAY": relays} if relays else {}),
        "VLAN": vlans,
        "VLAN_MEMBER": members,
        "VLAN_INTERFACE": interfaces,
        "SAG": {"GLOBAL": {"gateway_mac": view.overlay.anycast_mac}} if gateways and view.overlay else {},
    }


def _members(name: str, of: Port | Lag) -> Table:
    rows: Table = {f"Vlan{of.untagged}|{name}": {"tagging_mode": "untagged"}} if of.untagged else {}
    return rows | {f"Vlan{vlan}|{name}": {"tagging_mode": "tagged"} for vlan in of.tagged if vlan != of.untagged}


def overlay_tables(view: SwitchView) -> Tables:
    """VLAN to VNI, of networks and of VRFs. A spine has no tunnel: it only passes routes on."""
    if view.overlay is None or view.overlay.vtep is None:
        return {}
    pairs = [(network.vlan, network.vni) for network in view.networks]
    pairs += [(vrf.vlan, vrf.vni) for vrf in view.vrfs if vrf.vni is not None]
    return {
        "VXLAN_TUNNEL": {TUNNEL: {"src_ip": view.overlay.vtep}},
        "VXLAN_EVPN_NVO": {NVO: {"source_vtep": TUNNEL}},
        "VXLAN_TUNNEL_MAP": {
            f"{TUNNEL}|map_{vni}_Vlan{vlan}": {"vlan": f"Vlan{vlan}", "vni": str(vni)} for vlan, vni in pairs
        },
    }


# --- bonds ---------------------------------------------------------------------------------------------------


def bond_name(lag: Lag) -> str:
    return f"PortChannel{lag.number}"


def bond_tables(view: SwitchView, ports: dict[str, Port]) -> Tables:
    """A bond's number and system MAC are the same on both leaves: key, LACP system and segment id all come from them."""
    if not view.lags:
        return {}
    shared = view.pair is not None and view.overlay is not None
    if shared:
        _refuse_older(view, "Ethernet segments, so no bond over two leaves")
    mtu = view.overlay.mtu if view.overlay else view.underlay.mtu
    name_of = {port.ref: name for name, port in ports.items()}
    channels: Table = {}
    members: Table = {}
    for lag in view.lags:
        channels[bond_name(lag)] = {
            "admin_status": "up",
            "mtu": str(mtu),
            "min_links": "1",
            "lacp_key": "auto",  # the bond's number
            "description": lag.description,
            **({"system_mac": lag.system_mac} if shared else {}),
        }
        members |= {f"{bond_name(lag)}|{name_of[ref]}": {} for ref in lag.ports}
    tables: Tables = {"PORTCHANNEL": channels, "PORTCHANNEL_MEMBER": members}
    if shared:
        # Type 3: made of the bond's system MAC and number, as frr.conf makes it.
        tables["EVPN_ETHERNET_SEGMENT"] = {
            bond_name(lag): {
                "esi": "AUTO",
                "type": "TYPE_3_MAC_BASED",
                "df_pref": str(PREFERRED if lag.preferred else COMMON),
            }
            for lag in view.lags
        }
    return tables


def _refuse_older(view: SwitchView, what: str) -> None:
    if is_older(view):
        raise CannotRender(f"{view.device.name}: SONiC {view.release} has no {what}: it takes master of August 2026 or later")


# --- filters -------------------------------------------------------------------------------------------------


def filter_tables(view: SwitchView, ports: dict[str, Port]) -> Tables:
    """What a tenant's servers may send: to their own tenant, and nothing else of the routed family. ARP is not IP."""
    tables: Table = {}
    rules: Table = {}
    for acl in view.acls:
        bound = [name for name, port in ports.items() if port.acl == acl.name]
        for six in (False, True):
            permits = tuple(prefix for prefix in acl.permits if (":" in prefix) == six)
            if not bound or not (permits or six == (view.underlay.family == "ipv6")):
                continue
            table = f"TENANT-{acl.name}-{'V6' if six else 'V4'}"
            tables[table] = {
                "type": "L3V6" if six else "L3",
                "stage": "ingress",
                "policy_desc": f"What servers of {acl.name} may send",
                "ports": bound,
            }
            rules |= {f"{table}|{rule}": row for rule, row in _rules(permits, six=six).items()}
    return {"ACL_TABLE": tables, "ACL_RULE": rules}


def _rules(permits: tuple[str, ...], *, six: bool) -> Table:
    """In order of priority, the highest first."""
    rules: Table = {}
    if six and permits:
        for name, kind in NEIGHBOR_DISCOVERY.items():
            rules[name] = {"IP_PROTOCOL": "58", "ICMPV6_TYPE": str(kind)}
    for n, prefix in enumerate(permits, 1):
        rules[f"PERMIT-{n}"] = {"DST_IPV6" if six else "DST_IP": prefix}
    for n, row in enumerate(rules.values()):
        row |= {"PRIORITY": str(FIRST_PRIORITY - n), "PACKET_ACTION": "FORWARD"}
    last = {"IP_TYPE": "IPV6ANY"} if six else {"ETHER_TYPE": IPV4}
    rules["DEFAULT_RULE"] = {"PRIORITY": "1", "PACKET_ACTION": "DROP", **last}
    return rules
