"""State of EOS switches as a plan has it, in the form of eAPI: what a healthy site would print."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

from fabric.audit.verify.multihoming_faults import kind_of
from fabric.audit.verify.sessions import OVERLAY
from fabric.audit.verify.site import Site, Switch
from fabric.model.plan import Plan, SwitchView, Vrf

Outputs = dict[str, Any]  # name of a file → JSON value


def outputs(site: Site, switch: Switch, *, routes: bool) -> Outputs:
    """Every output of one switch."""
    names = [one.name for one in switch.ports.values()]
    errors = _zeros("fcsErrors", "inErrors", "outErrors", "symbolErrors", "alignmentErrors", "frameTooLongs")
    queue = {"dropPrecedences": {"DP0": {"droppedPackets": 0}}}
    queues = {"ucastQueues": {"trafficClasses": {f"TC{number}": deepcopy(queue) for number in range(8)}}}
    found: Outputs = {
        "bgp-summary": _bgp(site, switch),
        "interfaces-status": _status(switch),
        "lldp": _lldp(switch),
        "errors": {"interfaceErrorCounters": {name: dict(errors) for name in names}},
        "discards": {
            "inDiscardsTotal": 0,
            "outDiscardsTotal": 0,
            "interfaces": {name: _zeros("inDiscards", "outDiscards") for name in names},
        },
        "pfc": {"interfaceCounters": {name: {"rxFrames": 0, "txFrames": 0} for name in names}},
        "queue-drops": {"egressQueueCounters": {"interfaces": {name: deepcopy(queues) for name in names}}},
        "optics": {"interfaces": {name: _optic() for name in names}},
    }
    if routes:
        found["routes"] = _routes(site, switch)
    if switch.view.overlay and switch.view.overlay.vtep:
        found["vxlan"] = _vxlan(site, switch)
    if kind_of(switch.view):
        found["segments"] = _segments(site, switch)
    return found


def text(value: Any) -> str:
    return json.dumps(value)


def _zeros(*names: str) -> dict[str, int]:
    return dict.fromkeys(names, 0)


def _bgp(site: Site, switch: Switch) -> Any:
    """Prefixes accepted are those of all other switches: more than any session needs."""
    vrfs: dict[str, Any] = {}
    for end in switch.sessions:
        name = end.vrf or "default"
        head = {"vrf": name, "routerId": switch.view.router_id, "asn": str(switch.view.device.asn)}
        table = vrfs.setdefault(name, head | {"peers": {}})
        family = "l2VpnEvpn" if end.kind == OVERLAY else "ipv4Unicast"
        number = 4 * len(site.switches)
        table["peers"][end.peer] = {
            "peerState": "Established",
            "peerAsn": str(end.peer_asn),
            family: {"afiSafiState": "negotiated", "nlrisReceived": number, "nlrisAccepted": number},
        }
    return {"vrfs": vrfs}


def _status(switch: Switch) -> Any:
    rows = {
        one.name: {
            "description": f"{one.far_device} {one.far_port}",
            "vlanInformation": {"interfaceMode": "routed", "interfaceForwardingModel": "routed"},
            "linkStatus": "connected",
            "lineProtocolStatus": "up",
            "bandwidth": one.port.ref.speed_gbps * 10**9,
            "duplex": "duplexFull",
            "autoNegotiateActive": False,
            "interfaceType": "400GBASE-DR4",
        }
        for one in switch.ports.values()
    }
    return {"interfaceStatuses": rows}


def _lldp(switch: Switch) -> Any:
    rows = [
        {"port": one.name, "neighborDevice": one.far_device, "neighborPort": one.far_port, "ttl": 120}
        for one in switch.ports.values()
        if one.far_port
    ]
    return {"tablesLastChangeTime": 1.0, "lldpNeighbors": rows}


def _optic() -> Any:
    channels = {str(lane): -1.4 for lane in range(1, 5)}
    threshold = {"highAlarm": 4.0, "lowAlarm": -13.3}
    return {
        "displayName": "",
        "parameters": {
            "rxPower": {"unit": "dBm", "channels": channels, "threshold": threshold},
            "temperature": {"unit": "C", "channels": {"-": 41.2}, "threshold": {"highAlarm": 75.0}},
        },
    }


def _routes(site: Site, switch: Switch) -> Any:
    paths = site.paths[switch.view.fabric]
    row = paths.index[switch.name]
    ends = [end for end in switch.sessions if end.kind == "underlay"]
    table: dict[str, Any] = {
        prefix: {"routeType": "connected", "vias": [{"interface": "Loopback0"}]} for prefix in switch.originates
    }
    for other in site.fabrics[switch.view.fabric]:
        if other is switch:
            continue
        column = paths.index[other.name]
        vias = [
            {"nexthopAddr": end.peer, "interface": end.interface}
            for end in ends
            if paths.leads(row, paths.index[end.peer_node], column)
        ]
        for prefix in other.originates if vias else ():
            table[prefix] = {"hardwareProgrammed": True, "routeType": "eBGP", "routeAction": "forward", "vias": vias}
    vrfs: dict[str, Any] = {"default": {"routingDisabled": False, "routes": table}}
    leaves = [one for one in site.fabrics[switch.view.fabric] if one.view.overlay and one.view.overlay.vtep]
    for vrf in switch.view.vrfs:
        own = switch.connected(vrf)
        rows: dict[str, Any] = {prefix: {"routeType": "connected", "vias": [{"interface": "Vlan100"}]} for prefix in own}
        for far in leaves:
            if far is not switch and far.view.overlay:
                for prefix in far.connected(vrf):
                    if prefix not in own:
                        via = {"vtepAddr": far.view.overlay.vtep, "vni": vrf.vni, "routerMac": "00:1c:73:00:00:01"}
                        rows.setdefault(prefix, {"routeType": "eBGP", "vias": []})["vias"].append(via)
        rows |= _default(site, switch, vrf, leaves)
        vrfs[switch.vrf(vrf.name)] = {"routingDisabled": False, "routes": rows}
    return {"vrfs": vrfs}


def _default(site: Site, switch: Switch, vrf: Vrf, leaves: list[Switch]) -> dict[str, Any]:
    """The default route of a tenant: from the router outside, or over the VTEPs of the leaves that have it."""
    outside = {
        one.name: [way.peer_address for way in one.view.externals if way.vrf == vrf.name and "0.0.0.0/0" in way.accepts]
        for one in leaves
    }
    if outside[switch.name]:
        return {"0.0.0.0/0": {"routeType": "eBGP", "vias": [{"nexthopAddr": peer} for peer in outside[switch.name]]}}
    borders = [one for one in leaves if outside[one.name] and one.view.overlay]
    vias = [{"vtepAddr": one.view.overlay.vtep, "vni": vrf.vni} for one in borders if one.view.overlay]
    return {"0.0.0.0/0": {"routeType": "eBGP", "vias": vias}} if vias else {}


def _vxlan(site: Site, switch: Switch) -> Any:
    view = switch.view
    assert view.overlay is not None
    leaves = [
        one.view for one in site.fabrics[view.fabric] if one.view.overlay and one.view.overlay.vtep and one is not switch
    ]
    floods = {
        str(network.vlan): {
            "remoteVtepAddr": [
                far.overlay.vtep for far in leaves if far.overlay and network.vni in {other.vni for other in far.networks}
            ]
        }
        for network in view.networks
    }
    row = {
        "name": "Vxlan1",
        "hardware": "vxlan",
        "interfaceStatus": "connected",
        "lineProtocolStatus": "up",
        "srcIpAddr": view.overlay.vtep,
        "vlanToVniMap": {str(network.vlan): {"vni": network.vni, "source": ""} for network in view.networks},
        "vrfToVniMap": {switch.vrf(vrf.name): vrf.vni for vrf in view.vrfs},
        "vlanToVtepList": floods,
    }
    return {"interfaces": {"Vxlan1": row}}


def _segments(site: Site, switch: Switch) -> Any:
    """The segments of each network that they carry; the preferred leaf forwards."""
    assert switch.view.pair is not None
    far = site.switches[switch.view.pair.peer.name]
    own, other = _vtep(switch.view), _vtep(far.view)
    instances: dict[str, Any] = {}
    for network in switch.view.networks:
        rows = {
            lag.esi: {
                "intf": f"Port-Channel{lag.number}",
                "redundancyMode": "allActive",
                "state": "up",
                "dFElectionAlgorithm": "preference",
                "dFPeer": {"ip": own if lag.preferred else other},
                "nonDFPeers": [{"ip": other if lag.preferred else own}],
                "forwardingPeers": [],
            }
            for lag in switch.view.lags
            if network.vlan in (lag.untagged, *lag.tagged)
        }
        instances[f"VLAN {network.vlan}"] = {"rd": network.rd, "localVxlanIp": own, "ethernetSegments": rows}
    return {"bgpEvpnInstances": instances}


def _vtep(view: SwitchView) -> str:
    assert view.overlay is not None
    assert view.overlay.vtep is not None
    return view.overlay.vtep


def site_of(plan: Plan) -> Site:
    """A site without state, to make state from."""
    return Site(plan, {})
