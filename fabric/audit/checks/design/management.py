"""How the switches are reached, and what they report to."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address, ip_network

from fabric.audit.checks import ERROR, NOTE, WARNING, Design, Finding
from fabric.audit.checks.design.family import FabricCheck, Path, named, pinned
from fabric.model.plan import FabricPlan
from fabric.model.settings.services import Management

TIME_SERVERS = 2
WIDEST = {4: 8, 6: 16}  # shortest prefix that may be one site's own: 10.0.0.0/8, fd00::/16


class ManagementCheck(FabricCheck):
    """Whose findings stand at the management of a fabric, or at the site's, which the first fabric that has it speaks for."""

    def request(self, design: Design) -> Management:
        return design.fabric.spec.management

    def spoken_for(self, design: Design) -> list[FabricPlan]:
        """The fabrics whose management this one's is; none where another fabric has spoken."""
        if design.fabric.spec.own_management:
            return [design.fabric]
        shared = [f for f in design.plan.fabrics.values() if f.spec.ethernet and not f.spec.own_management]
        return shared if shared[0] is design.fabric else []

    def about(self, design: Design, key: str, text: str, severity: str = "") -> Finding:
        """A finding at a key of management, or at the whole of it."""
        own = design.fabric.spec.own_management
        path: Path = ("fabrics", design.fabric.name, "management") if own else ("management",)
        what = f"management.{key}" if key else "management"
        return self.at(design.plan.at(*path, key), f"{what}: {text}", severity=severity)


class ManagementApart(ManagementCheck):
    """Tests the VRF, gateway and addresses of management ports.

    A broken fabric is repaired over the management network, which must not depend on the fabric: no addresses from the
    fabric's pools, a gateway in the same subnet, and a VRF that fabric routes cannot enter.
    """

    id = "FAB238"
    title = "Management has its own addresses and VRF"
    severity = WARNING
    example = "`management: {vrf: false}`"
    remediation = "set `management: {vrf: true}`, and `pools: {management: …}` to a separate prefix that contains the gateway"

    def check(self, design: Design) -> Iterator[Finding]:
        fabric, request = design.fabric, self.request(design)
        if not request.vrf and self.spoken_for(design):
            yield self.about(design, "vrf", "expected the management VRF, got the default VRF")
        nets = [ip_network(prefix) for prefix in fabric.prefixes["management"]]
        if request.gateway and not any(ip_address(request.gateway) in net for net in nets):
            pool = ", ".join(map(str, nets))
            text = f"{request.gateway} is outside the pool 'management' ({pool}) of fabric '{fabric.name}'"
            yield self.about(design, "gateway", text, ERROR)
        numbers = {device.index: int(fabric.management[device.index]) for device in fabric.switches}
        bare = [switch for switch, number in numbers.items() if number < 0]
        if bare:
            text = f"no management address on {named(fabric, bare)}"
            yield self.finding(design, ("pools", "management"), text, severity=ERROR)
        for kind, prefixes in sorted(fabric.prefixes.items()):
            for net in map(ip_network, prefixes if kind != "management" else ()):
                first, last = int(net.network_address), int(net.broadcast_address)
                inside = [switch for switch, number in numbers.items() if first <= number <= last]
                if inside:
                    path = pinned(design, fabric.devices[inside[0]], "management", ("pools", "management"))
                    text = f"management address in the pool '{kind}' ({net}) on {named(fabric, inside)}"
                    yield self.finding(design, path, text, severity=ERROR)


class TimeAndLogs(ManagementCheck):
    """Counts the NTP and syslog servers of the intent.

    The order of events is known only when all clocks agree, and a single wrong NTP server goes unnoticed. Logs that are
    kept only on a switch are lost with it.
    """

    id = "FAB239"
    title = "Switches have at least two NTP servers and a syslog server"
    severity = NOTE
    example = "`management: {ntp: [192.0.2.10]}` and no `syslog`"
    remediation = "set `management: {ntp: [192.0.2.10, 192.0.2.11], syslog: 192.0.2.20}` with the addresses of your servers"

    def check(self, design: Design) -> Iterator[Finding]:
        if not self.spoken_for(design):
            return
        request = self.request(design)
        if len(request.ntp) < TIME_SERVERS or not request.syslog:
            text = f"expected at least {TIME_SERVERS} NTP servers and 1 syslog server"
            yield self.about(design, "", f"{text}, got {len(request.ntp)} and {len(request.syslog)}")


class Reach(ManagementCheck):
    """Tests the prefixes of `management.allow` for their size and for overlap with server addresses.

    Only the prefixes of `allow` reach SSH, SNMP and gNMI. A prefix that is larger than a site, or that contains server
    addresses, lets every server try to log in to every switch.
    """

    id = "FAB240"
    title = "Management access is restricted to known prefixes"
    severity = WARNING
    example = "`management: {allow: [10.0.0.0/8]}` with the default server pool, 10.128.0.0/9"
    remediation = "set `management.allow` to the prefixes of operators and collectors (default: the management pool)"

    def check(self, design: Design) -> Iterator[Finding]:
        pools = {prefix for fabric in self.spoken_for(design) for prefix in fabric.prefixes["servers"]}
        for text in (self.request(design).allow or ()) if pools else ():
            net = ip_network(text)
            if net.prefixlen < WIDEST[net.version]:
                yield self.about(design, "allow", f"expected a prefix length of /{WIDEST[net.version]} or longer, got {text}")
            for pool in sorted(pools):
                if net.overlaps(ip_network(pool)):
                    yield self.about(design, "allow", f"{text} overlaps the pool 'servers' ({pool})")
