"""What the commands of NX-OS mean to one another."""

from fabric.nos.dialect import COMMANDS, Dialect, Rules

RULES = Rules(
    single=(
        ((), r"(hostname|clock timezone|copp profile|ntp source-interface|bfd interval|ip load-sharing address) "),
        ((), r"(priority-flow-control watch-dog shutdown-multiplier) "),
        ((), r"((?:ip|ipv6) prefix-list \S+ seq \d+|ip community-list standard \S+ seq \d+) "),
        ((), r"(ip as-path access-list \S+ seq \d+) "),
        (
            ("interface ",),
            r"(description|mtu|vrf member|service-policy type qos input|encapsulation dot1q|source-interface) ",
        ),
        (("interface ",), r"(switchport access vlan|channel-group|vpc) "),
        (("interface ",), r"(ip address) \S+$"),
        (("interface ",), r"(shutdown|switchport)$"),
        (("vlan ",), r"(name|vn-segment) "),
        (("vpc domain ",), r"(role priority|system-mac|peer-keepalive|virtual peer-link|delay restore) "),
        (("vrf context ",), r"(vni|rd) "),
        (("ip access-list ",), r"(\d+) "),
        (("ipv6 access-list ",), r"(\d+) "),
        (("policy-map ", "class "), r"(set qos-group|mtu|pause pfc-cos|bandwidth remaining percent|random-detect) "),
        (("policy-map ", "class "), r"(priority level) "),
        (("system qos",), r"(service-policy type (?:network-qos|queuing output)) "),
        (("route-map ",), r"(set local-preference|match ip address prefix-list) "),
        (("line ",), r"(exec-timeout) "),
        (("router bgp ",), r"(router-id|graceful-restart restart-time) "),
        (("router bgp ", "neighbor "), r"(remote-as|description|inherit peer|timers) "),
        (("router bgp ", "template "), r"(timers|update-source|ebgp-multihop) "),
        (("router bgp ", "template ", "address-family "), r"(maximum-prefix) "),
        (("router bgp ", "address-family "), r"(maximum-paths) "),
        (("router bgp ", "vrf "), r"(router-id) "),
        (("router bgp ", "vrf ", "neighbor "), r"(remote-as|description|inherit peer|timers) "),
    ),
    removal=((r"no (interface (?:Ethernet|mgmt)[\d/]+)$", r"default \1"), (r"no (channel-group \d+) .*", r"no \1")),
    used=r"(feature .+|nv overlay evpn|vrf context \S+|interface port-channel\d+$|vpc domain \d+|fabric forwarding \S+|"
    r"(?:ip|ipv6) (?:prefix-list|access-list) \S+|ip community-list standard \S+|ip as-path access-list \S+|"
    r"route-map \S+|(?:class|policy)-map type .+)",
    owned=r"((?:ip|ipv6) address \S+/\d+|vni \d+|(?:ip|ipv6) prefix-list \S+) ?(?:seq \d+ (.+))?",
    stays=r"system qos|line \S+",
    forgets=r"(ip|ipv6) ",
    causes=r"vrf member ",
    step="  ",
)

DIALECT = Dialect({"startup-config": COMMANDS}, RULES, platform="CISCO_NXOS")
