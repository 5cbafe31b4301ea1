"""What the commands of FRR mean to one another."""

from fabric.nos.dialect import BGP_FILTER, BGP_NEIGHBOR, COMMANDS, Dialect, Rules

RULES = Rules(
    single=(
        ((), r"(frr defaults|hostname|log syslog|log facility|fpm address|(?:ip|ipv6) protocol bgp) "),
        ((), r"((?:ip|ipv6) prefix-list \S+ seq \d+) "),
        (("bfd", "profile "), r"(detect-multiplier|receive-interval|transmit-interval) "),
        (("route-map ",), r"(set src|set local-preference|match ip address prefix-list|description) "),
        (("router bgp ",), r"(bgp router-id|bgp graceful-restart restart-time) "),
        (("router bgp ",), BGP_NEIGHBOR),
        (("router bgp ", "address-family "), r"(maximum-paths|rd|neighbor \S+ maximum-prefix) "),
        (("router bgp ", "address-family "), BGP_FILTER),
    ),
    used=r"((?:ip|ipv6) (?:prefix-list|access-list) \S+|bgp (?:community-list|as-path access-list) \S+|route-map \S+)",
    owned=r"(vni \d+|(?:ip|ipv6) prefix-list \S+) ?(?:seq \d+ (.+))?",
    stays=r"vrf \S+|address-family .+",
    step=" ",
)

DIALECT = Dialect({"frr.conf": COMMANDS}, RULES)
