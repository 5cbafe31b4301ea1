"""The paths of NVUE's tree that are known: those that are read, and those that tell no check anything.

`*` is any one key, `a|b` either, `**` everything below. What a path names may have one value. Both dialects are here: that
of 5.15, and the older one with its `ip`, `enable` and `service`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, TypeAlias

from fabric.nos.reading import Branch

Known: TypeAlias = dict[str, Any]

READ = """
acl/*
bridge/domain/*/vlan/*/vni/*
evpn/state|enable
evpn/vni/*/rd
evpn/vni/*/route-target/import|export|both/*
interface/*/acl/*
interface/*/base-interface
interface/*/bond/member/*
interface/*/bond/mode|lacp-bypass
interface/*/bridge/domain/*/access|untagged
interface/*/bridge/domain/*/vlan/*
interface/*/description
interface/*/evpn/multihoming/segment/identifier|local-id|mac-address|state|enable
interface/*/ip|ipv4|ipv6/address/*
interface/*/ip|ipv4|ipv6/vrr/address/*
interface/*/ip|ipv4|ipv6/vrr/state|enable
interface/*/ip|ipv4|ipv6/vrrp/virtual-router/*/address/*
interface/*/ip/vrf
interface/*/link/mtu
interface/*/link/speed
interface/*/link/state/up|down
interface/*/qos/congestion-control|egress-queue-mapping|egress-scheduler|mapping|pfc/profile
interface/*/qos/pfc-watchdog/state|enable
interface/*/type
interface/*/vlan
interface/*/vrf
nve/vxlan/source/address
nve/vxlan/state|enable
qos/congestion-control/*/traffic-class/*/ecn|min-threshold|max-threshold|probability
qos/egress-queue-mapping/*/switch-priority/*/traffic-class
qos/egress-scheduler/*/traffic-class/*/bw-percent|mode
qos/mapping/*/dscp/*/switch-priority
qos/mapping/*/trust
qos/pfc/*/cable-length|port-buffer|rx|tx|xoff-threshold
qos/pfc/*/switch-priority/*
qos/pfc-watchdog/polling-interval|robustness
qos/roce/cable-length
qos/roce/mode
qos/roce/state|enable
router/bfd/profile/*
router/bgp/autonomous-system
router/bgp/router-id
router/bgp/state|enable
service/dns|ntp|syslog/*/server/*
service/snmp-server/readonly-community|readonly-community-v6/*
system/aaa/user/*/hashed-password|password
system/control-plane/acl/*/inbound|outbound
system/dns|ntp|syslog/server/*
system/forwarding/hash-seed
system/global/fabric-mac|fabric-id|anycast-mac
system/hostname
system/lldp/state|enable
system/snmp-server/readonly-community|readonly-community-v6/*
vrf/*/evpn/state|enable
vrf/*/evpn/vlan
vrf/*/evpn/vni/*
vrf/*/loopback/ip|ipv4|ipv6/address/*
vrf/*/router/bgp/address-family/*/multipaths/ebgp
vrf/*/router/bgp/address-family/*/route-export/to-evpn/route-map
vrf/*/router/bgp/address-family/*/route-import/from-vrf/list/*
vrf/*/router/bgp/address-family/*/route-import/from-vrf/route-map
vrf/*/router/bgp/address-family/*/route-import/from-vrf/state|enable
vrf/*/router/bgp/address-family/*/state|enable
vrf/*/router/bgp/autonomous-system
vrf/*/router/bgp/dynamic-neighbor/listen-range/*/peer-group
vrf/*/router/bgp/neighbor|peer/*/peer-group
vrf/*/router/bgp/neighbor|peer/*/type
vrf/*/router/bgp/neighbor|peer|peer-group/*/address-family/*/aspath/allow-my-asn/occurrences|state|enable
vrf/*/router/bgp/neighbor|peer|peer-group/*/address-family/*/policy/inbound|outbound/*
vrf/*/router/bgp/neighbor|peer|peer-group/*/address-family/*/prefix-limits/inbound/maximum
vrf/*/router/bgp/neighbor|peer|peer-group/*/address-family/*/state|enable
vrf/*/router/bgp/neighbor|peer|peer-group/*/bfd/state|enable
vrf/*/router/bgp/neighbor|peer|peer-group/*/bfd/profile
vrf/*/router/bgp/neighbor|peer|peer-group/*/description
vrf/*/router/bgp/neighbor|peer|peer-group/*/local-as/asn|state|enable
vrf/*/router/bgp/neighbor|peer|peer-group/*/multihop-ttl
vrf/*/router/bgp/neighbor|peer|peer-group/*/password
vrf/*/router/bgp/neighbor|peer|peer-group/*/remote-as
vrf/*/router/bgp/neighbor|peer|peer-group/*/shutdown|enable
vrf/*/router/bgp/neighbor|peer|peer-group/*/timers/hold|keepalive
vrf/*/router/bgp/neighbor|peer|peer-group/*/update-source
vrf/*/router/bgp/path-selection/multipath/aspath-ignore
vrf/*/router/bgp/rd
vrf/*/router/bgp/route-export/to-evpn/route-target/*
vrf/*/router/bgp/route-import/from-evpn/route-target/*
vrf/*/router/bgp/router-id
vrf/*/router/bgp/state|enable
"""
PASSED = """
acl/*/rule|type/**
bridge/domain/*/ageing|encap|mac-address|mac-ageing|mac-ageing-time|mdb|multicast|stp|svi-force-up|type|untagged|vlan-vni-offset/**
bridge/domain/*/vlan/*/multicast|ptp|svi-force-up/**
bridge/domain/*/vlan/*/vni/*/flooding|mac-learning/**
evpn/dad|df-election|evi|ipmr|mac-vrf-soo|multihoming|route-advertise|vxlan/**
evpn/vni/*/host|route-advertise/**
interface/*/acl/*/inbound|outbound/**
interface/*/bond/down-delay|lacp-rate|min-links|mlag|transmit-hash-policy|up-delay/**
interface/*/bridge/domain/*/bpdu|learning|ptp|stp|svi-force-up/**
interface/*/counters|dot1x|lldp|pluggable|port-security|ptp|router|sflow|storm-control|synce|telemetry|tunnel/**
interface/*/evpn/multihoming/segment/df-preference|redundancy-mode/**
interface/*/evpn/multihoming/uplink
interface/*/ip|ipv4|ipv6/arp|dhcp-client|enable|forward|gateway|igmp|neighbor|neighbor-discovery|proxy-arp|state/**
interface/*/ip|ipv4|ipv6/vrr/mac-address|mac-id|vrr-state/**
interface/*/ip|ipv4|ipv6/vrrp/enable|state|virtual-router/**
interface/*/ip/ipv4|ipv6/**
interface/*/link/auto-negotiate|breakout|debounce|dot1x|duplex|fast-linkup|fec|lanes|mac-address|protodown|stats/**
interface/*/parent
interface/*/qos/buffer|egress-shaper|link-pause|remark|roce/**
mlag/**
nve/vxlan/arp-nd-suppress|decapsulation|encapsulation|flooding|mac-learning|mlag|mtu|port|source/**
platform/**
qos/advance-buffer-config|buffer|egress-shaper|link-pause|remark|traffic-pool/**
qos/congestion-control/*/traffic-class/*/red|trimming/**
qos/mapping/*/pcp|port-default-sp/**
qos/pfc/*/xon-threshold
router/adaptive-routing|igmp|nexthop|nexthop-group|ospf|ospf6|password-obfuscation|pbr|pim|ptm|segment-routing|vrr|vrrp/**
router/bfd/enable|offload|profile|state/**
router/bgp/convergence-wait|graceful-restart|graceful-shutdown|policy-update-timer|queue-limit|wait-for-install/**
router/policy/as-path-list|community-list|ext-community-list|large-community-list|prefix-list|route-map/*/rule|type/**
service/control-plane|dhcp-relay|dhcp-relay6|dhcp-server|dhcp-server6|lldp|ptp|synce|telemetry/**
service/snmp-server/enable|listening-address|mibs|state|system-contact|system-location|system-name|trap-destination|username/**
service/snmp-server/trap-authentication|trap-cpu-load-average|trap-link-down|trap-link-up|trap-snmp-auth-failures|viewname/**
service/dns/*/domain|search/**
service/ntp/*/dhcp|keys|listen|pool|server/**
service/syslog/*/server/**
system/aaa|acl|api|cli|config|cpld|date-time|docker|eventd|factory-default|fips|firmware|gnmi-server|grpc-tunnel/**
system/control-plane/acl|policer|trap/**
system/counter/**
system/dns/domain|search|server|vrf/**
system/forwarding/ecmp-hash|ecmp-weight-normalisation|host-route-preference|lag-hash|packet-trim|programming|profile/**
system/global/anycast-id|arp|l3svd|nd|reserved|svd|system-mac|vrr/**
system/image|link|log|maintenance|message|nat|packages|packet-trim|password-hardening|port-mirror|ptp|reboot|security|sflow/**
system/lldp/dot1-tlv|dot3-tlv|lldp-med-inventory-tlv|mode|tx-hold-multiplier|tx-interval/**
system/ntp/auth|dhcp|enable|keys|listen|pool|server|state|vrf/**
system/snmp-server/enable|listening-address|mibs|state|system-contact|system-location|system-name|trap-destination|username/**
system/snmp-server/trap-authentication|trap-cpu-load-average|trap-link-down|trap-link-up|trap-snmp-auth-failures|viewname/**
system/ssh-server|stats|synce|syslog|tech-support|telemetry|timezone|watchdog|wjh|ztp/**
vrf/*/evpn/maximum-routes|prefix-routes-only|vni/**
vrf/*/forwarding|ptp|table|description/**
vrf/*/router/bgp/address-family/*/advertise-frr-default-originate|aggregate-route|admin-distance|administrative-distance|network/**
vrf/*/router/bgp/address-family/*/advertise-svi-ip|evpn|multipaths|nexthop-lookup|redistribute|rib-filter|route-export|route-import/**
vrf/*/router/bgp/address-family/*/soft-reconfiguration|soo-source-ip|label-allocation|convergence-wait|additional-paths/**
vrf/*/router/bgp/cluster-id|confederation|dynamic-neighbor|graceful-restart|graceful-shutdown|path-selection|route-reflection/**
vrf/*/router/bgp/administrative-distance|soft-reconfiguration|timers|policy-update-timer|bestpath/**
vrf/*/router/bgp/neighbor|peer|peer-group/*/address-family/*/add-path-tx|as-path|aspath|attribute-mod|community-advertise/**
vrf/*/router/bgp/neighbor|peer|peer-group/*/address-family/*/conditional-advertise|default-route-origination|graceful-shutdown/**
vrf/*/router/bgp/neighbor|peer|peer-group/*/address-family/*/nexthop-setting|policy|prefix-limits|route-reflector-client/**
vrf/*/router/bgp/neighbor|peer|peer-group/*/address-family/*/route-server-client|server-client|soft-reconfiguration|soo|weight/**
vrf/*/router/bgp/neighbor|peer|peer-group/*/bfd|capabilities|enforce-first-as|graceful-restart|graceful-shutdown|local-as/**
vrf/*/router/bgp/neighbor|peer|peer-group/*/nexthop-connected-check|passive-mode|timers|ttl-security/**
vrf/*/router/bgp/route-export/to-evpn/default-gateway-ip|route-target|soo/**
vrf/*/router/bgp/route-import/from-evpn/route-target/**
vrf/*/router/eigrp|igmp|nexthop-tracking|ospf|ospf6|pim|rib|static/**
"""


def unread(tree: Branch) -> Iterator[tuple[str, int]]:
    """(path, line) of every leaf that no pattern knows, in the order of the file."""
    waiting: list[tuple[Branch, Known | None, tuple[str, ...]]] = [(tree, known(), ())]
    while waiting:
        branch, node, path = waiting.pop()
        if node is None and not branch.parts:
            yield " ".join(path), branch.line
            continue
        deeper: list[tuple[Branch, Known | None, tuple[str, ...]]] = []
        for key, part in branch.parts.items():
            below = None if node is None else node.get(key, node.get("*"))
            if node is not None and ("**" in node or (below is None and "" in node and not part.parts)):
                continue
            deeper.append((part, below, (*path, key)))
        waiting += reversed(deeper)


@lru_cache(maxsize=1)
def known() -> Known:
    """The patterns as a tree: `""` marks the end of one, `"**"` that everything below is known."""
    root: Known = {}
    for pattern in (READ + PASSED).split():
        for path in _each(pattern.split("/")):
            node = root
            for step in path:
                node = node.setdefault(step, {})
            if "**" not in path:
                node[""] = {}
    return root


def _each(steps: list[str]) -> Iterator[list[str]]:
    if not steps:
        yield []
        return
    for rest in _each(steps[1:]):
        for word in steps[0].split("|"):
            yield [word, *rest]
