"""A survey made from a plan: what perfect readers see of a network that was built as planned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from fabric.configs.port_names import PortNames
from fabric.configs.view_of import Views
from fabric.deliver.brownfield.survey.records import Cable, Host, Survey, Switch
from fabric.model.facts import Facts
from fabric.model.plan import ATTACHED, LEAF, SERVER, SERVER_SERVER, Device, FabricPlan, Plan, Port, SwitchView

NO_FACTS: Mapping[str, Facts] = {}


def survey_of(plan: Plan, facts: Mapping[str, Facts] = NO_FACTS) -> Survey:
    """The survey of a network that is as planned.

    Args:
        facts: what was read of each switch, by name.
    """
    views = {
        device.name: its.of(device)
        for fabric in plan.fabrics.values()
        for its in (Views(plan, fabric),)
        for device in fabric.switches
    }
    hosts: dict[str, Host] = {}
    for fabric in plan.fabrics.values():
        for host in _hosts(fabric):
            hosts.setdefault(host.name, host)
    cables = [cable for fabric in plan.fabrics.values() for cable in _cables(fabric, views)]
    return Survey(
        site=plan.site,
        fabrics={
            name: tuple(_switch(views[device.name], facts.get(device.name)) for device in _in_order(fabric))
            for name, fabric in sorted(plan.fabrics.items())
            if fabric.switches
        },
        hosts={name: hosts[name] for name in sorted(hosts) if name not in views},
        cables=sorted(cables, key=lambda cable: (cable.a, cable.a_port, cable.b, cable.b_port)),
    )


def plain(survey: Survey) -> Survey:
    """The survey without models of servers and coordinates of switches, which readers may not find."""
    return replace(
        survey,
        hosts={name: replace(host, model="") for name, host in survey.hosts.items()},
        fabrics={
            name: tuple(replace(its, pod=-1, plane=-1, unit=-1, rail=-1) for its in switches)
            for name, switches in survey.fabrics.items()
        },
    )


def _in_order(fabric: FabricPlan) -> list[Device]:
    return sorted(fabric.switches, key=lambda device: (device.role, device.name))


def _switch(view: SwitchView, facts: Facts | None) -> Switch:
    device, overlay = view.device, view.overlay
    return Switch(
        name=device.name,
        role=device.role,
        nos=device.nos,
        model=device.model,
        release=view.release,
        fabric=view.fabric,
        pod=device.pod,
        plane=device.plane,
        unit=device.unit,
        rail=device.rail,
        pair=view.pair.peer.name if view.pair else "",
        asn=device.asn,
        loopback=view.router_id,
        loopback6=(view.loopback6 or "").partition("/")[0],
        vtep=(overlay.vtep if overlay else None) or "",
        management=view.management.address or "",
        border=device.role == LEAF and view.border,
        facts=facts,
    )


def _hosts(fabric: FabricPlan) -> Iterator[Host]:
    for device in fabric.devices:
        if device.role == SERVER:
            yield Host(name=device.name, group=device.group, number=device.number, model=device.model, fabric=fabric.name)
        elif device.role == ATTACHED:
            yield Host(name=device.name, group="", number=device.number, attached=True, fabric=fabric.name)


def _cables(fabric: FabricPlan, views: Mapping[str, SwitchView]) -> Iterator[Cable]:
    names, columns = PortNames(fabric), fabric.links.lists()
    (a_labels, a_names), (_, b_names) = names.columns("a"), names.columns("b")
    ports = {device.name: {port.ref: port for port in views[device.name].cabled} for device in fabric.switches}
    for link in range(len(fabric.links)):
        if columns["kind"][link] == SERVER_SERVER:
            continue  # no switch shows it
        lower, upper = fabric.devices[columns["a"][link]], fabric.devices[columns["b"][link]]
        a_ref, b_ref = fabric.ref(link, "a"), fabric.ref(link, "b")
        near: Port = ports[upper.name][b_ref]
        far = ports[lower.name][a_ref] if lower.name in ports else None
        length = (near.address or "").partition("/")[2]
        below = fabric.below.get(link)
        yield Cable(
            a=fabric.lower_end(link).name,
            # Descriptions have the label of a server's port, not its name in the kernel.
            a_port=a_labels[link] if lower.role == SERVER else a_names[link] or (near.peer.port_name if near.peer else ""),
            b=upper.name,
            b_port=b_names[link],
            speed_gbps=columns["speed_gbps"][link],
            source="plan",
            a_ref=below.ref if below else None if link in fabric.management_ports else a_ref,
            b_ref=b_ref,
            a_address=(far.address or "") if far else f"{near.peer_address}/{length}" if near.address else "",
            b_address=near.address or "",
        )
