"""What the commands of NX-OS mean to one another."""

from fabric.nos.dialect import COMMANDS, Dialect, Rules
from fabric.nos.nxos.interactive_commands import LAYOUT

RULES = Rules(
    single=(
        ((), r"(hostname|clock timezone|copp profile|ntp source-interface|bfd interval|ip load-sharing address) "),
        ((), r"(priority-flow-control watch-dog shutdown-multiplier) "),
        ((), r"(ip community-list standard \S+ seq \d+) "),
        (("interface ",), r"(description|mtu|vrf member|encapsulation dot1q|source-interface) "),
        (("interface ",), r"(switchport (?:mode|access vlan|trunk \S+ vlan)) "),
        (("interface ",), r"(ip address) \S+$"),
        (("interface ",), r"(shutdown|switchport)$"),
        (("vlan ",), r"(name) "),
        (("vpc domain ",), r"(role priority|system-mac|peer-keepalive|delay restore) "),
        (("vrf context ",), r"(rd) "),
        (("policy-map ", "class "), r"(set qos-group|mtu|pause pfc-cos|random-detect) "),
        (("policy-map ", "class "), r"(priority level) "),
        (("route-map ",), r"(set local-preference|match ip address prefix-list) "),
        (("line ",), r"(exec-timeout) "),
        (("router bgp ",), r"(router-id|graceful-restart restart-time) "),
        (("router bgp ", "neighbor "), r"(remote-as|description|timers) "),
        (("router bgp ", "neighbor ", "address-family "), r"(maximum-prefix) |(route-map) \S+ (in|out)$"),
        (("router bgp ", "template "), r"(remote-as|description|timers|update-source|ebgp-multihop) "),
        (("router bgp ", "template ", "address-family "), r"(maximum-prefix) |(route-map) \S+ (in|out)$"),
        (("router bgp ", "address-family "), r"(maximum-paths) "),
        (("router bgp ", "vrf "), r"(router-id) "),
        (("router bgp ", "vrf ", "neighbor "), r"(remote-as|description|timers) "),
        (("router bgp ", "vrf ", "neighbor ", "address-family "), r"(maximum-prefix) |(route-map) \S+ (in|out)$"),
        (("evpn", "vni "), r"(rd) "),
    ),
    removal=(
        (r"no (interface (?:Ethernet|mgmt)[\d/]+)$", r"default \1"),
        (r"no (channel-group \d+) .*", r"no \1"),
        (r"no (vn-segment|description|mtu) .*", r"no \1"),
    ),
    used=r"(feature .+|nv overlay evpn|vrf context \S+|interface (?:port-channel|loopback)\d+$|vpc domain|"
    r"fabric forwarding \S+|(?:ip|ipv6) (?:prefix-list|access-list) \S+|ip community-list standard \S+|"
    r"ip as-path access-list \S+|route-map \S+|(?:class|policy)-map type .+|template peer \S+)",
    owned=r"(?:ip|ipv6) address (\S+/\d+)(?: secondary)?|(vni \d+|vn-segment \d+|vpc \S+|channel-group \d+)(?: mode \S+)?|"
    r"((?:ip|ipv6) prefix-list \S+) seq \d+ (.+)",
    first=r"member vni \d+ associate-vrf|bandwidth remaining percent .*",
    resets=(
        (r"interface (?:Ethernet[\d/]+|port-channel\d+)", r"(?:no )?switchport$|channel-group ", ""),
        (r"interface Ethernet[\d/]+", r"switchport |mtu |spanning-tree |service-policy ", r"channel-group "),
    ),
    inherits=((r"channel-group (\d+) .*", r"interface port-channel\1", r"switchport |mtu "),),
    takes=((r"interface breakout module (\d+) port (\d+) map \S+", r"interface Ethernet\1/\2/[0-9].*"),),
    rests=((r"interface nve1", r"source-interface |host-reachability |advertise ", "shutdown"),),
    users=(
        (r"policy-map type network-qos (\S+)", r"service-policy type network-qos \1", True),
        (r"vni (\d+)", r"member vni \1 associate-vrf", False),
        (r"vpc domain \d+", r"vpc (?!domain ).+", False),
    ),
    default=r"interface (?:loopback|mgmt)\d+ / no shutdown",
    stays=r"system qos|line \S+",
    forgets=r"(ip|ipv6|bfd|fabric forwarding) ",
    causes=r"vrf member ",
    step="  ",
)

DIALECT = Dialect({"startup-config": COMMANDS}, RULES, platform="CISCO_NXOS", layout=LAYOUT)
