"""Reads the switch's end of its server cables out of an EOS config."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fabric.hosts.agree import SwitchEnd
from fabric.hosts.ends import Port, numbers, server_port, smallest, switch_end
from fabric.hosts.indented import Section, read_indented


def read_eos(text: str) -> dict[tuple[str, str], SwitchEnd]:
    """(server, its port) → the switch's end, for every port with such a description."""
    config = read_indented(text, "!")
    interfaces = config.sections("interface")
    found: dict[tuple[str, str], SwitchEnd] = {}
    for name, port in interfaces.items():
        neighbour = server_port(port.last("description"))
        if neighbour and name.startswith("Ethernet") and "." not in name:
            found[neighbour] = _end(config, interfaces, port)
    return found


def _end(config: Section, interfaces: Mapping[str, Section], port: Section) -> SwitchEnd:
    bond = interfaces.get("Port-Channel" + (port.last("channel-group") or "").partition(" ")[0], Section())
    address = next((port.last(head) for head in ("ip address", "ipv6 address") if port.last(head)), None)
    vlans = (interfaces.get(f"Vlan{vlan}", Section()) for vlan in _vlans(bond if bond.parts else port))
    mtu = smallest(section.last("mtu") for section in (port, bond, *vlans))
    return switch_end(_classes(config, _profiled(config, port, bond)), mtu, address)


def _vlans(port: Section) -> Iterator[int]:
    for head in ("switchport access vlan", "switchport trunk allowed vlan"):
        for text in port.each(head):
            yield from numbers(text)


def _profiled(config: Section, *sections: Section) -> Section:
    """The QoS lines of a port or its bond: those of their profile, and their own."""
    profiles = config.sections("qos profile")
    lines = Section()
    for section in sections:
        lines.parts += profiles.get(section.last("service-profile") or "", Section()).parts
        lines.parts += section.parts
    return lines


def _classes(config: Section, port: Section) -> Port:
    if not port.has("priority-flow-control on"):
        return Port()
    queues = {int(number): section for head in ("tx-queue", "uc-tx-queue") for number, section in port.sections(head).items()}
    by_dscp = dict(_maps(config, "dscp", "traffic-class"))
    queue_of = dict(_maps(config, "traffic-class", "tx-queue"))
    # A queue is strict unless told otherwise; round robin holds for all queues below one that has it.
    weighted = max((number for number, queue in queues.items() if queue.has("no priority")), default=-1)
    lossless = (number for text in port.each("priority-flow-control priority") for number in _no_drop(text))
    weights = {own: queues[queue].last("bandwidth percent") for own, queue in queue_of.items() if queue in queues}
    return Port(
        by_dscp=by_dscp,
        lossless=tuple(sorted(set(lossless))),
        strict=frozenset(own for own in set(by_dscp.values()) if queue_of.get(own, own) > weighted),
        weights={own: int(weight) for own, weight in weights.items() if weight},
    )


def _maps(config: Section, source: str, target: str) -> Iterator[tuple[int, int]]:
    """`qos map dscp 0 1 2 to traffic-class 0`."""
    for text in config.each(f"qos map {source}"):
        values, _, own = text.partition(f" to {target} ")
        if own:
            yield from ((value, int(own)) for value in numbers(values))


def _no_drop(text: str) -> list[int]:
    values, _, kind = text.rpartition(" ")
    return numbers(values) if kind == "no-drop" else []
