"""A network OS in as few lines as it takes: names of ports, one file. No reader, no dialect, nothing for other tools."""

from __future__ import annotations

from fabric.hardware.catalog.models import SwitchModel
from fabric.model.plan import PortRef, SwitchView
from fabric.nos.target import Capabilities, File, Target, Text


def port_name(model: SwitchModel, ref: PortRef, catalog_name: str = "") -> str:
    return f"port{ref.cage}" if ref.split == 1 else f"port{ref.cage}.{ref.sub}"


def files(view: SwitchView) -> list[File]:
    ports = [port_name(view.model, port.ref) for port in view.cabled]
    return [Text("device.conf", "dummy/device.j2", {"hostname": view.device.name, "ports": ports})]


TARGET = Target(
    name="dummy",
    title="Dummy OS",
    port_name=port_name,
    files=files,
    capabilities=Capabilities(unnumbered=True, ipv6_underlay=True, vrf_lite=True, port_acl=True),
)
