"""The folder of `fabric export day-zero`: configurations of two DHCP servers, a tree for an HTTP server, and what fills it.

Every switch has a folder in the tree, named after it and its identity, with its configuration and the files of its network
OS. References to secrets are in the configurations; `fill.py` puts them in on the server, where it checks the images as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Network, ip_address, ip_network
from pathlib import Path

from fabric.base.diagnostics import Place, Report, nearest, show
from fabric.base.formats import json_text
from fabric.base.text import listed, plural
from fabric.configs.generate import Renderer
from fabric.configs.render import environment, refuse_control, to_json
from fabric.deliver.day_zero import dhcp
from fabric.deliver.day_zero.inventory import Machine, circuit_ids, read
from fabric.model.plan import Device, FabricPlan, Plan
from fabric.model.settings.site import DayZero, Image
from fabric.nos.day_zero import Boot, FirstBoot
from fabric.nos.reading.values import is_address
from fabric.nos.target import File, Text, installed

SERVER, IDENTITY, NETWORK, IMAGE = "FAB700", "FAB704", "FAB705", "FAB706"
REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
FILL = Path(__file__).with_name("fill.txt")
SHOWN = 5  # switches that a message names


@dataclass(frozen=True, slots=True)
class _Switch:
    """A switch with what the export needs to know of it."""

    fabric: FabricPlan
    device: Device
    settings: DayZero
    first_boot: FirstBoot | None  # of its network OS

    @property
    def image(self) -> Image | None:
        """That of its model, else that of its network OS."""
        return self.settings.images.get(self.device.model) or self.settings.images.get(self.device.nos)

    def boot(self, machine: Machine | None) -> Boot:
        """The switch for the files of its network OS. Its folder has the name of what it is known by."""
        mac, serial = (machine.mac, machine.serial) if machine else ("", "")
        identity = mac.replace(":", "") or serial or self.number
        secret = self.fabric.spec.management.secrets.admin
        return Boot(
            name=self.device.name,
            server=self.settings.server,
            folder=f"switches/{self.device.name}.{identity}",
            address=self.number,
            files=(),
            serial=serial,
            mac=mac,
            image=self.image,
            admin_secret=f"${{{secret}}}",
        )

    @property
    def number(self) -> str:
        """Its planned management address."""
        return str(ip_address(int(self.fabric.management[self.device.index])))

    @property
    def address(self) -> IPv4Address | None:
        address = ip_address(self.number)
        return address if isinstance(address, IPv4Address) else None

    @property
    def net(self) -> tuple[IPv4Network, str] | None:
        """The management network with its gateway; a pool may lie in a larger network."""
        for prefix in self.fabric.prefixes["management"]:
            pool = ip_network(prefix)
            if isinstance(pool, IPv4Network) and self.address in pool:
                first, length = self.fabric.manage.get(prefix, (int(pool.network_address) + 1, pool.prefixlen))
                net = IPv4Network((int(pool.network_address), length), strict=False)
                return net, self.fabric.spec.management.gateway or str(ip_address(first))
        return None


def day_zero(plan: Plan, inventory: Path | None = None) -> Mapping[str, str]:
    """Path → text of every file.

    Args:
        inventory: CSV with the MAC address or serial number of each switch; None: they are known by their ports.

    Raises:
        InputError: with every switch that is not known, or known twice, and every mistake of the inventory.
    """
    report = Report()
    switches = list(_switches(plan, report))
    report.raise_errors()
    machines = read(inventory, [switch.device.name for switch in switches], report) if inventory else {}
    circuits = circuit_ids(plan, report)
    _check_images(plan, switches, report)
    _check_extensions(plan, switches, report)
    clients = {switch.device.name: _client(switch, machines, circuits, report) for switch in switches}
    _report_unknown(plan, [name for name, client in clients.items() if client is None], inventory, report)
    report.raise_errors()
    found = [client for client in clients.values() if client is not None]
    return {
        "kea-dhcp4.conf": dhcp.kea(found),
        "dnsmasq.conf": dhcp.dnsmasq(plan.site, found),
        **dict(_tree(plan, switches, machines)),
    }


def _switches(plan: Plan, report: Report) -> Iterator[_Switch]:
    for name, fabric in plan.fabrics.items():
        settings = fabric.spec.management.day_zero
        if settings is None and fabric.switches:
            hint = "set `management: {day_zero: {server: http://192.0.2.5}}`, the URL of your HTTP server"
            report.error(
                SERVER, _at(plan, fabric), f"fabric '{name}': expected the HTTP server of the first start, got none", hint
            )
        for device in fabric.switches if settings else ():
            assert settings is not None
            target = installed(device.nos)
            first_boot = target.day_zero.get() if target is not None and target.day_zero is not None else None
            yield _Switch(fabric, device, settings, first_boot)


def _at(plan: Plan, fabric: FabricPlan, *path: str) -> Place:
    """Where a fabric has a key of `management`: in its own or in the site's."""
    return (fabric.spec.at if fabric.spec.own_management else plan.at)("management", *path)


def _check_images(plan: Plan, switches: list[_Switch], report: Report) -> None:
    """An image for no switch is a typing mistake."""
    used = {word for switch in switches for word in (switch.device.model, switch.device.nos) if word}
    stated = {(key, switch.fabric.spec.own_management): switch for switch in switches for key in switch.settings.images}
    for (key, _), switch in stated.items():
        if key not in used:
            place = _at(plan, switch.fabric, "day_zero", "images", key)
            report.error(
                IMAGE, place, f"images: {show(key)} is no network OS and no model of these switches", nearest(key, used)
            )


def _check_extensions(plan: Plan, switches: list[_Switch], report: Report) -> None:
    """Packages for a network OS that loads none would be left out."""
    for switch in {switch.device.nos: switch for switch in switches if switch.image and switch.image.extensions}.values():
        if switch.first_boot is None or not switch.first_boot.extensions:
            target = installed(switch.device.nos)
            message = f"images: {target.title if target else 'InfiniBand'} loads no extensions in its first start"
            place = _at(plan, switch.fabric, "day_zero", "images")
            report.error(IMAGE, place, message, "remove `extensions`")


def _report_unknown(plan: Plan, names: list[str], inventory: Path | None, report: Report) -> None:
    """Switches that nothing identifies; after other mistakes they may be what these are about."""
    if names and not report.errors:
        message = f"{plural(len(names), 'switch', 'switches')} without a line or a planned port: {listed(names, SHOWN)}"
        hint = "state the MAC address or serial number of every switch in a file for `--inventory FILE`"
        report.error(IDENTITY, Place(str(inventory)) if inventory else plan.at("management", "day_zero"), message, hint)


def _client(
    switch: _Switch, machines: Mapping[str, Machine], circuits: Mapping[str, bytes], report: Report
) -> dhcp.Client | None:
    """How a DHCP server knows the switch: by its MAC address, else its serial number, else its port; None: by nothing."""
    name, first_boot, machine = switch.device.name, switch.first_boot, machines.get(switch.device.name)
    if switch.net is None or switch.address is None:
        message = f"{name}: expected an IPv4 management address in `pools.management`, got {switch.number}"
        hint = "set `pools: {management: …}` to a prefix of IPv4, and pins into it"
        report.error(NETWORK, switch.fabric.spec.at("pools", "management"), message, hint)
        return None
    mac = machine.mac if machine else ""
    serials = dhcp.serials(first_boot, machine.serial) if machine and machine.serial and not mac else ()
    if machine and not (mac or serials) and name not in circuits:
        target = installed(switch.device.nos)
        message = (
            f"{name}: {target.title if target else 'InfiniBand'} sends no serial number that DHCP servers could look for"
        )
        report.error(IDENTITY, machine.place, message, "state the MAC address of its management port as well")
    if not (mac or serials or name in circuits):
        return None
    management, (net, gateway) = switch.fabric.spec.management, switch.net
    boot = switch.boot(machine)
    return dhcp.Client(
        name=name,
        address=switch.address,
        net=net,
        gateway=gateway,
        dns=_ipv4(management.dns),
        ntp=_ipv4(management.ntp),
        options=first_boot.options(boot) if first_boot else {},
        vendor=first_boot.vendor if first_boot else None,
        image_url=boot.image_url if first_boot and first_boot.onie else "",
        mac=mac,
        serials=serials,
        circuit=b"" if mac or serials else circuits[name],
    )


def _ipv4(addresses: tuple[str, ...]) -> tuple[str, ...]:
    """Those that DHCP for IPv4 can name: no host names."""
    return tuple(str(address) for address in addresses if is_address(address) and ":" not in address)


# --- The tree of the HTTP server ------------------------------------------------------------------------------


def _tree(plan: Plan, switches: list[_Switch], machines: Mapping[str, Machine]) -> Iterator[tuple[str, str]]:
    """Path → text below `http/`, and what fills it in."""
    renderer = Renderer(plan, plan.settings.home.path.absolute().parent)
    by_name = {switch.device.name: switch for switch in switches}
    secrets, filled = set[str](), list[str]()
    for job in renderer.jobs(lambda _: True):
        switch = by_name[job.device.name]
        if switch.first_boot is None:
            continue
        configs = {path.rpartition("/")[2]: text.decode() for path, text in renderer.files(job)}
        boot = replace(switch.boot(machines.get(job.device.name)), files=tuple(configs))
        scripts = dict(map(_printed, switch.first_boot.files(boot)))
        for name, text in {**configs, **scripts}.items():
            path = f"{boot.folder}/{name}"
            if name not in scripts or name == "accounts":
                found = REFERENCE.findall(text)
                secrets.update(found)
                filled += [path] if found else []
            yield f"http/{path}", text
    used = [image for switch in switches if (image := switch.image)]
    images = {image.file: image.sha256 for image in used}
    images |= {package.file: package.sha256 for image in used for package in image.extensions}
    todo = {"secrets": sorted(secrets), "files": sorted(filled), "images": dict(sorted(images.items()))}
    yield "fill.json", json_text(todo) + "\n"
    yield "fill.py", FILL.read_text(encoding="utf-8")


def _printed(file: File) -> tuple[str, str]:
    """Name and text of a file of the network OS."""
    if isinstance(file, Text):
        refuse_control(file.context, file.path)
        return file.path, environment().get_template(file.template).render(file.context)
    refuse_control(file.data, file.path)
    return file.path, (file.serialize or to_json)(file.data)
