"""Reads the switch's end of its server cables out of an ifupdown2 file; Linux has no lossless class to tell of."""

from __future__ import annotations

from fabric.hosts.agree import SwitchEnd
from fabric.hosts.ends import Port, numbers, server_port, smallest, switch_end
from fabric.hosts.indented import Section, read_indented


def read_frr(text: str) -> dict[tuple[str, str], SwitchEnd]:
    """(server, its port) → the switch's end, for every port with such an alias."""
    interfaces = {name.split()[0]: section for name, section in read_indented(text, "#").sections("iface").items()}
    members = {port: bond for bond in interfaces.values() for ports in bond.each("bond-slaves") for port in ports.split()}
    found: dict[tuple[str, str], SwitchEnd] = {}
    for name, port in interfaces.items():
        neighbour = server_port(port.last("alias"))
        if neighbour and not port.last("bond-slaves"):
            bond = members.get(name, port)
            vlans = [vlan for head in ("bridge-access", "bridge-vids") for text in bond.each(head) for vlan in numbers(text)]
            limits = (port, bond, *(interfaces.get(f"vlan{vlan}", Section()) for vlan in vlans))
            found[neighbour] = switch_end(Port(), smallest(own.last("mtu") for own in limits), port.last("address"))
    return found
