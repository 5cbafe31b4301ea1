"""A folder of configs as a survey."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from fabric.audit.checks import Network
from fabric.audit.checks.ends import subnet_of
from fabric.audit.checks.files.duplicates import OneOwner
from fabric.audit.checks.files.interfaces import Cabling, PointToPoint
from fabric.audit.checks.files.reading import Unreadable
from fabric.audit.checks.files.services import HostNames
from fabric.audit.checks.finding import ERROR, SEVERITIES, WARNING, Finding
from fabric.audit.checks.network import planes
from fabric.deliver.brownfield.survey.cabling import LLDP, TOPOLOGY, Port, Wire, Wiring, wiring
from fabric.deliver.brownfield.survey.coordinates import Coordinates, coordinates
from fabric.deliver.brownfield.survey.devices import Found, found
from fabric.deliver.brownfield.survey.fabrics import fabrics, names, routers, routers_by_name
from fabric.deliver.brownfield.survey.hosts import HostPort, Hosts, hosts, nics, without
from fabric.deliver.brownfield.survey.ports import natural
from fabric.deliver.brownfield.survey.records import Cable, Host, Inference, Survey, Switch
from fabric.deliver.brownfield.survey.roles import ROLES, Seen, Tiers, aside, tiers
from fabric.model.facts import Facts
from fabric.model.plan import LEAF, PortRef
from fabric.nos.reading import Folder

NONE: Mapping[str, str] = {}


def survey(
    folder: Folder,
    site: str,
    *,
    models: Mapping[str, str] = NONE,
    lldp: Iterable[Wire] = (),
    wires: Iterable[Wire] = (),
) -> Survey:
    """What the configs of a folder say of their network.

    Args:
        folder: as `fabric.nos.reading.scan` finds it.
        site: name for the intent.
        models: name of a device or a pattern of names → its model in the catalog.
        lldp: device, port, neighbor and its port, as devices report them.
        wires: the same of topology files.
    """
    networks = [Network(tuple(part)) for devices in folder.sites() for part in planes(devices)]
    return survey_of(networks, site, models=models, lldp=lldp, wires=wires, folder=folder)


def survey_of(
    networks: Iterable[Network],
    site: str,
    *,
    models: Mapping[str, str] = NONE,
    lldp: Iterable[Wire] = (),
    wires: Iterable[Wire] = (),
    folder: Folder | None = None,
) -> Survey:
    """As `survey`, of devices that were read."""
    networks = list(networks)
    left_out = {} if folder is None else {path: kind.reason for path, kind in sorted(folder.unrecognized.items())}
    devices: dict[str, Found] = {}
    repeated: list[Finding] = []
    for network in networks:
        for facts in network.devices:
            if facts.name in devices:
                left_out[facts.files[0] if facts.files else facts.name] = f"another file has the host name {facts.name}"
                repeated.append(_twice(facts, devices[facts.name].facts))
            else:
                devices[facts.name] = found(facts, models)
    servers = [name for name, own in devices.items() if own.is_host]
    left_out |= dict.fromkeys(servers, "a host: it neither routes nor bridges")
    devices = {name: own for name, own in devices.items() if name not in servers}
    devices = dict(sorted(devices.items(), key=lambda row: natural(row[0])))
    cables = wiring(devices, networks, lldp, wires, {one.device for one in repeated})
    ends = hosts(devices, cables)
    inferences: list[Inference] = []
    switches: dict[str, list[Switch]] = {}
    cabled = {name for name, _ in cables.far}
    seen = Seen(devices, cables, ends.on(), _sessions(networks) if devices.keys() - cabled else ())
    if named := routers_by_name(seen):
        left_out |= dict.fromkeys(named, "a router or firewall, by its name")
        seen = replace(seen, devices={name: own for name, own in devices.items() if name not in named})
    groups = fabrics(seen)
    outside = routers(seen, groups)
    left_out |= dict.fromkeys(outside, "a router or firewall: it has neither servers nor tunnels")
    groups = [group for group in groups if group.switches[0] not in outside]
    homes: dict[str, str] = {}
    level: dict[str, tuple[bool, int]] = {}
    for name, group in zip(names(site, groups, seen.on), groups, strict=True):
        own = group.switches
        its = tiers(seen, joined := seen.graph(own))
        if others := aside(joined, its):
            left_out |= dict.fromkeys(others, "a route server or router beside the tiers")
            own = [one for one in own if one not in others]
            its = tiers(seen, joined := seen.graph(own))
        places = coordinates(devices, joined, its, seen.on)
        switches[name] = _in_order(_switch(devices[one], name, its, places[one], ends) for one in own)
        homes |= dict.fromkeys(own, name)
        level |= {one: (not group.below, tier) for one, tier in its.level.items()}
        inferences += _inferred(name, its, places)
    hanging = {one for one, (first, _) in level.items() if not first}
    for (a, a_port), (b, b_port), _ in cables.cables():
        if a in homes and b in homes and homes[a] != homes[b] and not {a, b} & hanging:
            left_out[f"{a} {a_port}"] = (
                f"a link to {b} {b_port} of another fabric: the language joins fabrics at routers alone"
            )
    ends = without(ends, left_out)
    _between(devices, cables, ends, homes, level)
    _speeds(devices, cables)
    for device in devices.values():
        device.place_ports()
    switches = {name: [_placed(devices[own.name], own) for own in its] for name, its in switches.items()}
    inferences += [one for device in devices.values() if device.name in level for one in device.inferences]
    return Survey(
        site=site,
        fabrics=dict(sorted(switches.items())),
        hosts=_homes(ends, homes),
        cables=sorted(
            (
                its
                for its in _cables(devices, cables, ends, level)
                if f"{its.a} {its.a_port}" not in left_out and f"{its.b} {its.b_port}" not in left_out
            ),
            key=lambda own: (own.a, own.a_port, own.b, own.b_port),
        ),
        inferences=sorted(inferences, key=lambda one: (natural(one.subject), one.what, one.value, one.source)),
        findings=_findings(networks, folder, [*repeated, *_conflicts(devices, cables)]),
        left_out=dict(sorted(left_out.items())),
    )


def _sessions(networks: Iterable[Network]) -> list[tuple[str, str]]:
    """Devices with a BGP session."""
    pairs = {
        (facts.name, far.facts.name)
        for network in networks
        for facts, _, peer in network.sessions()
        if not peer.vrf and (far := network.remote_end(peer)) is not None
    }
    return sorted((a, b) for a, b in pairs if a < b or (b, a) not in pairs)


# --- Switches -------------------------------------------------------------------------------------------------


def _in_order(rows: Iterable[Switch]) -> list[Switch]:
    return sorted(rows, key=lambda own: (own.role, own.name))


def _switch(own: Found, fabric: str, its: Tiers, place: Coordinates, ends: Hosts) -> Switch:
    role = ROLES[min(its.level[own.name], len(ROLES) - 1)]
    return Switch(
        name=own.name,
        role=role,
        nos=own.facts.nos,
        release=own.release,
        fabric=fabric,
        pod=place.pod if its.level[own.name] < len(ROLES) - 1 else -1,
        plane=place.plane,
        unit=place.unit,
        rail=place.rail,
        pair=place.pair,
        asn=own.asn,
        loopback=own.loopback,
        loopback6=own.loopback6,
        vtep=own.vtep,
        management=own.management,
        border=role == LEAF and own.border,
        facts=own.facts,
    )


def _placed(own: Found, switch: Switch) -> Switch:
    return replace(switch, model=own.model)


def _inferred(fabric: str, its: Tiers, places: Mapping[str, Coordinates]) -> Iterator[Inference]:
    for name, level in its.level.items():
        role = ROLES[min(level, len(ROLES) - 1)]
        yield Inference(subject=name, what="role", value=role, source=its.source[name])
        yield Inference(subject=name, what="fabric", value=fabric, source="cables")
        if places[name].pair:
            yield Inference(subject=name, what="pair", value=places[name].pair, source="bonds")


# --- Cables ---------------------------------------------------------------------------------------------------


def _between(
    devices: Mapping[str, Found],
    cables: Wiring,
    ends: Hosts,
    homes: Mapping[str, str],
    level: Mapping[str, tuple[bool, int]],
) -> None:
    """A link of a leaf to a router, or to a fabric that neither hangs below nor above, is one to another device."""
    for one, other, source in list(cables.cables()):
        apart = homes.get(one[0]) != homes.get(other[0])
        if not apart or not (level.get(one[0], (True,))[0] and level.get(other[0], (True,))[0]):
            continue
        for near, far in ((one, other), (other, one)):
            del cables.far[near]
            if level.get(near[0], (True, -1))[1] != 0:
                continue
            name = f"{far[0]}-of-{homes[far[0]]}" if far[0] in homes else far[0]
            ends.hosts.setdefault(name, Host(name=name, group="", number=len(ends.hosts) + 1, attached=True))
            addresses = [_address(devices[name_].facts, port) for name_, port in (near, far)]
            ends.ports.append(
                HostPort(
                    port=near,
                    host=name,
                    label=far[1],
                    attached=True,
                    address=addresses[0],
                    far_address=addresses[1],
                    source=source,
                )
            )
            devices[near[0]].border = True


def _speeds(devices: Mapping[str, Found], cables: Wiring) -> None:
    """A port has the speed of its far end, where its own config does not state one; else that of its cage."""
    for (a, a_port), (b, b_port), _ in cables.cables():
        for name, port, other, far in ((a, a_port, b, b_port), (b, b_port, a, a_port)):
            if port not in devices[name].gbps and far in devices[other].gbps:
                devices[name].gbps[port] = devices[other].gbps[far]
    for own in devices.values():
        if own.model:
            own.place_ports()
    for (a, a_port), (b, b_port), _ in cables.cables():
        for name, port, other, far in ((a, a_port, b, b_port), (b, b_port, a, a_port)):
            ref = devices[other].refs.get(far)
            if port not in devices[name].gbps and ref is not None and ref.speed_gbps:
                mine = devices[name].refs.get(port)
                if mine is None or ref.speed_gbps < mine.speed_gbps:
                    devices[name].gbps[port] = ref.speed_gbps


def _cables(
    devices: Mapping[str, Found], cables: Wiring, ends: Hosts, level: Mapping[str, tuple[bool, int]]
) -> Iterator[Cable]:
    """Every cable. `level`: of a switch, whether it hangs below no other fabric, and its tier."""
    for one, other, source in cables.cables():
        if one[0] not in level or other[0] not in level:
            continue
        a, b = sorted((one, other), key=lambda port: (level[port[0]], natural(port[0]), natural(port[1])))
        a_ref, b_ref = devices[a[0]].refs.get(a[1]), devices[b[0]].refs.get(b[1])
        ends_at = _of_one_subnet(_addresses(devices[a[0]].facts, a[1]), _addresses(devices[b[0]].facts, b[1]))
        yield Cable(
            a=a[0],
            a_port=a[1],
            b=b[0],
            b_port=b[1],
            speed_gbps=_gbps(a_ref, b_ref),
            source=source,
            a_ref=a_ref,
            b_ref=b_ref,
            a_address=ends_at[0],
            b_address=ends_at[1],
        )
    gbps = {row.port: _gbps(devices[row.port[0]].refs.get(row.port[1])) for row in ends.ports}
    bonds = {(name, port): bond for name, own in devices.items() for bond, its in own.members.items() for port in its}
    refs: dict[Port, PortRef] = nics(ends.ports, gbps, bonds)
    for row in ends.ports:
        device, port = row.port
        yield Cable(
            a=row.host,
            a_port=row.label,
            b=device,
            b_port=port,
            speed_gbps=gbps[row.port],
            source=row.source,
            a_ref=refs[row.port],
            b_ref=devices[device].refs.get(port),
            a_address=row.far_address,
            b_address=row.address,
        )
    for (name, managed), ((switch, port), source) in cables.management.items():
        ref = devices[switch].refs.get(port)
        yield Cable(
            a=name,
            a_port=managed,
            b=switch,
            b_port=port,
            speed_gbps=_gbps(ref),
            source=source,
            b_ref=ref,
            b_address=_address(devices[switch].facts, port),
        )


def _gbps(*refs: PortRef | None) -> int:
    return min((ref.speed_gbps for ref in refs if ref is not None and ref.speed_gbps), default=0)


def _address(facts: Facts, port: str) -> str:
    return next(iter(_addresses(facts, port)), "")


def _addresses(facts: Facts, port: str) -> list[str]:
    interface = facts.interfaces.get(port)
    return [fact.value for fact in interface.addresses if not fact.value.startswith("fe80:")] if interface else []


def _of_one_subnet(a: Sequence[str], b: Sequence[str]) -> tuple[str, str]:
    """The addresses of two ends in one subnet, of IPv4 first; else the first of each."""
    pairs = [(one, other) for one in a for other in b if subnet_of(one) and subnet_of(one) == subnet_of(other)]
    return min(pairs, key=lambda pair: ":" in pair[0], default=(next(iter(a), ""), next(iter(b), "")))


def _homes(ends: Hosts, homes: Mapping[str, str]) -> dict[str, Host]:
    first: dict[str, str] = {}
    for row in ends.ports:
        own = homes[row.port[0]]
        first[row.host] = min(first.get(row.host, own), own)
    return {name: replace(host, fabric=first[name]) for name, host in ends.hosts.items()}


# --- Findings -------------------------------------------------------------------------------------------------


def _twice(facts: Facts, first: Facts) -> Finding:
    """The finding about a second device of one host name."""
    where = first.files[0] if first.files else "another file"
    message = f"duplicate host name: {where} is taken for this device"
    hint = "rename one of the two devices, or leave one of the files out"
    line = facts.hostname.line if facts.hostname else 0
    return HostNames.in_file(facts.name, facts.files[0] if facts.files else "", line, message, hint, ERROR)


def _conflicts(devices: Mapping[str, Found], cables: Wiring) -> Iterator[Finding]:
    """A port for which two sources name different far ends; the first of them is believed."""
    for one in sorted(set(cables.conflicts), key=lambda one: (one.port, one.other)):
        (name, port), facts = one.port, devices[one.port[0]].facts
        interface = facts.interfaces.get(port)
        file, line = (interface.file, interface.line) if interface else (facts.files[0] if facts.files else "", 0)
        message = f"{port}: {' '.join(one.far)} by {one.source}, {' '.join(one.other)} by {one.other_source}"
        hint = "correct what names the wrong device, or collect it again: the first of the two is taken"
        severity = ERROR if one.other_source in (LLDP, TOPOLOGY) else WARNING
        yield Cabling.in_file(name, file, line, message, hint, severity)


def _findings(networks: Iterable[Network], folder: Folder | None, repeated: Sequence[Finding]) -> list[Finding]:
    """What makes the network ambiguous: it comes before any intent."""
    checks = (Unreadable(), OneOwner(), PointToPoint())
    found = [finding for network in networks for check in checks for finding in check.run(network)]
    if folder is not None:
        found += [Unreadable.of(device, error) for device, error in folder.unreadable.items()]
    return sorted([*repeated, *found], key=lambda one: (SEVERITIES.index(one.severity), one.file, one.line, one.message))
