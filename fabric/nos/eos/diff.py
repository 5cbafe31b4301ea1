"""What the commands of EOS mean to one another."""

from fabric.nos.dialect import BGP_FILTER, BGP_NEIGHBOR, COMMANDS, Dialect, Rules
from fabric.nos.eos.texts import LAYOUT

RULES = Rules(
    single=(
        ((), r"(hostname|clock timezone|logging vrf \S+ source-interface|ntp local-interface|vlan internal order) "),
        ((), r"(ip routing)(?: ipv6 interfaces)?$"),
        ((), r"(priority-flow-control pause watchdog default \S+|priority-flow-control pause watchdog action) "),
        ((), r"(ip virtual-router mac-address|ip route vrf \S+ \S+|qos map traffic-class \d+ to \S+) "),
        ((), r"(snmp-server user \S+) "),
        (("interface ",), r"(description|mtu|speed|vrf|service-profile|encapsulation dot1q vlan) "),
        (("interface ",), r"(switchport (?:mode|access vlan|trunk \S+ vlan)|lacp system-id|ip address virtual) "),
        (("interface ",), r"(ip address) \S+$"),
        (("interface ",), r"(vxlan (?:source-interface|udp-port)) "),
        (("interface ",), r"(shutdown|switchport)$"),
        (("interface ", "evpn "), r"(identifier|redundancy|designated-forwarder|route-target import) ?"),
        (("management ",), r"(idle-timeout) "),
        (("qos profile ", ""), r"(bandwidth(?: guaranteed)? percent|random-detect ecn minimum-threshold) "),
        (("route-map ",), r"(description|set local-preference|match ip address prefix-list) "),
        (("router bfd",), r"(interval) "),
        (("router bgp ",), r"(router-id|maximum-paths|graceful-restart restart-time|bgp asn notation) "),
        (("router bgp ",), BGP_NEIGHBOR),
        (("router bgp ",), BGP_FILTER),
        (("router bgp ", ""), BGP_NEIGHBOR),
        (("router bgp ", ""), BGP_FILTER),
        (("router bgp ", "vrf "), r"(router-id|maximum-paths) "),
    ),
    removal=(
        (r"no (interface (?:Ethernet|Management)[\d/]+)$", r"default \1"),
        (r"no (channel-group|description|mtu|speed|switchport trunk \S+ vlan) .*", r"no \1"),
        (r"no vxlan vlan (\d+ vni \d+)", r"vxlan vlan remove \1"),
    ),
    spelled=((r"vxlan vlan (\d+ vni \d+)", r"vxlan vlan add \1"),),
    used=r"(vrf instance \S+|ip routing vrf \S+|interface (?:Port-Channel|Loopback)\d+$|link tracking group \S+|"
    r"qos profile \S+|(?:ip|ipv6) (?:prefix-list|access-list(?: standard)?|community-list) \S+|route-map \S+|"
    r"neighbor [A-Z]\S* peer group$)",
    owned=r"(?:ip|ipv6) address (?:virtual )?(\S+/\d+)(?: secondary)?|vxlan (?:vlan|vrf) \S+ (vni \d+)|"
    r"(channel-group \d+) mode \S+",
    resets=((r"interface (?:Ethernet[\d/]+|Port-Channel\d+)", r"(?:no )?switchport$", ""),),
    stays=r"system control-plane",
    forgets=r"(ip|ipv6) (address|enable)",
    causes=r"vrf ",
)

DIALECT = Dialect({"startup-config": COMMANDS}, RULES, platform="ARISTA_EOS", layout=LAYOUT)
