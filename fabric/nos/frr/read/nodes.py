"""Where FRR reads the lines below `router bgp`: by the commands of each node, whatever the indentation.

An `exit` outside any section ends the configuration. A command that an address family does not have, and `router bgp` has,
ends the address family. A command that the section of a VNI has stays in it until `exit-vni`, whatever its margin. (FRR
lib/command.c, command_config_read_one_line; commands by `list` of vtysh 8.4.4 in each node, and the `install_element` of
bgpd up to FRR 10.5.)
"""

from __future__ import annotations

import re
from dataclasses import dataclass

PROCESS, FAMILY, VNI = 1, 2, 3  # margins of the lines of `router bgp`, of an address family, of a VNI
NOWHERE = -1
STRAY = "exit of no section"  # in place of an `exit` that leaves the configuration, with lines below it
HEAD = re.compile(r"(?:address-family|address|addr) (?P<family>.*)")
CLOSING = re.compile(r"exit|quit|exit-address-family|exit-vni")
OTHER = re.compile(r"(?:segment-routing|bmp targets|vnc|vrf-policy|rfp)\b.*")  # sections that are left as they are
NEIGHBOR = r"neigh\w* \S+"
OF_VNI = re.compile(r"(?:no )?(?:rd|route-target|advertise-(?:svi-ip|default-gw|subnet)|flooding)\b.*")
TOP_HEAD = re.compile(  # heads of sections, which may be empty
    r"(?:interface|vrf|router|route-map|bfd|line|key chain|pbr-map|segment-routing|nexthop-group|l2vpn|mpls ldp|rpki|bmp)\b"
)
OF_TOP = re.compile(r"(?:no )?vni \d")  # the VNI of the default VRF, outside an address family
OF_EVPN = re.compile(
    r"(?:no )?(?:advertise|autort|default-originate|disable-ead|dup-addr-detection|ead-es|enable-resolve|flooding|mac-vrf|rd|"
    rf"route-target|use-es-l3nhg|vni|network \S+ rd|{NEIGHBOR} (?:activate|soft-reconfiguration|attribute-unchanged|"
    r"next-hop-self|route-reflector-client|route-server-client|disable-addpath-rx|addpath-tx|route-map|maximum-prefix|"
    r"allowas-in|soo|encap|send-community)).*"
)
OF_UNICAST = re.compile(  # in `router bgp` they are those of IPv4 unicast
    r"(?:no )?(?:aggregate-address|bgp dampening|distance|network|redistribute|maximum-paths|table-map|rd vpn|rt|"
    rf"route-target|(?:label|import|export|nexthop|sid) (?:vpn|vrf)|{NEIGHBOR} (?:activate|addpath-|advertise-map|allowas-in|"
    r"as-override|attribute-unchanged|capability|default-originate|disable-addpath-rx|distribute-list|filter-list|"
    r"maximum-prefix|next-hop-self|prefix-list|remove-private-AS|route-map|route-reflector-client|route-server-client|"
    r"send-community|soft-reconfiguration|soo|unsuppress-map|weight))\b.*"
)
OF_PROCESS = re.compile(
    r"(?:no )?(?:auto-summary|bgp (?!dampening|as-path access-list |(?:\w+)?community-list )|bmp|coalesce-time|read-quanta|"
    r"synchronization|timers|update-delay|"
    rf"write-quanta|{NEIGHBOR}(?: (?:advertisement-interval|bfd|description|disable-connected-check|"
    r"disable-link-bw-encoding-ieee|dont-capability-negotiate|ebgp-multihop|enforce-|extended-optional-parameters|"
    r"graceful-|interface|ip-transparent|local-as|local-role|override-capability|passive|password|path-attribute|peer-group|"
    r"port|remote-as|sender-as-path|shutdown|solo|strict-capability-match|tcp-mss|timers|ttl-security|update-source)|$)).*"
)


def by_node(text: str) -> str:
    """The text with the margins that FRR prints below each `router bgp`, and STRAY in its line. Lines keep their numbers."""
    nodes, shown, stray = _Nodes(), list[str](), -1
    for number, raw in enumerate(text.splitlines(keepends=True)):
        line = raw.strip()
        if line and line[0] not in "!#":
            if stray >= 0:
                shown[stray], stray = f"{STRAY}\n", -1
            margin = len(raw) - len(raw.lstrip())
            at = nodes.margin(line, margin)
            if at == NOWHERE:
                stray = number
            elif at != margin:
                raw = " " * at + raw.lstrip()
        shown.append(raw)
    return "".join(shown)


@dataclass(slots=True, kw_only=True)
class _Nodes:
    """The node that the next line is read in.

    Attributes:
        at: margin of its lines; 0 outside `router bgp`.
        is_evpn: whether the address family is that of EVPN.
        other: margin of the head of a section that is left as it is; -1 in none.
        unknown: margin of the first of the lines above that FRR does not know; -1 behind any other.
        has_top: whether another section than `router bgp` is open.
        below_top: whether no line has closed the last one of the top.
    """

    at: int = 0
    is_evpn: bool = False
    other: int = -1
    unknown: int = -1
    has_top: bool = False
    below_top: bool = False

    def margin(self, line: str, margin: int) -> int:
        """The margin of the next line, which may open or close a node; NOWHERE if it leaves the configuration."""
        if not margin and line.startswith("router bgp"):
            self.at, self.other = PROCESS, -1
            return margin
        if not self.at:
            return self._of_top(line, margin)
        if margin > self.other >= 0:
            return margin
        was_other, self.other = self.other >= 0, -1
        if was_other and CLOSING.fullmatch(line):
            return PROCESS
        if (at := self._known(line, margin)) >= 0:
            self.unknown = -1
            return at
        if margin > self.unknown >= 0:
            return margin
        self.unknown = margin
        return self.at  # FRR stays where it is

    def _known(self, line: str, margin: int) -> int:
        """The margin of a line that a node has, or that ends all; -1 of another one."""
        if CLOSING.fullmatch(line):
            return self._closed(line)
        if not margin and OF_TOP.match(line):
            self.at = 0
            return self._of_top(line, margin)
        if self.at == VNI and OF_VNI.match(line):
            return VNI
        if self.at >= FAMILY and (OF_EVPN if self.is_evpn else OF_UNICAST).match(line):
            self.at = VNI if self.is_evpn and line.startswith("vni ") else FAMILY
            return FAMILY
        if head := HEAD.fullmatch(line):
            self.at, self.is_evpn = FAMILY, "evpn" in head["family"]
            return PROCESS
        if margin and OTHER.match(line):
            self.at, self.other = PROCESS, margin
            return PROCESS
        if OF_PROCESS.match(line) or OF_UNICAST.match(line):
            self.at = PROCESS
            return PROCESS
        if not margin or OF_TOP.match(line):
            self.at = 0
            return self._of_top(line, 0)
        return -1

    def _closed(self, line: str) -> int:
        """The margin of a line that closes a node, so that it closes nothing else."""
        if (line == "exit-vni" and self.at != VNI) or (line == "exit-address-family" and self.at < FAMILY):
            return self.at + 1  # FRR does not know it there
        self.at = PROCESS if line == "exit-address-family" else self.at - 1
        return self.at

    def _of_top(self, line: str, margin: int) -> int:
        """The same outside `router bgp`."""
        if line in ("exit", "quit") or line.startswith("exit-"):
            if not margin:
                was_open, self.has_top, self.below_top = self.has_top, False, False
                return margin if was_open or line.startswith("exit-") else NOWHERE
        elif margin:
            self.has_top |= self.below_top
        else:
            self.has_top, self.below_top = TOP_HEAD.match(line) is not None, True
        return margin
