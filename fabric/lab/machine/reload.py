"""Makes the interfaces of a running node those of other files, and changes nothing that both have: as `ifreload -a` does."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from fabric.lab.blueprint import BRIDGE, LOOPBACK, PORT, TUNNEL, Interface, Node
from fabric.lab.machine import daemons, namespaces
from fabric.lab.machine.namespaces import run
from fabric.lab.machine.nodes import FIRST_TABLE, Spaces, dressed, ip, made, routes, vrf_devices

MADE_AGAIN = ("kind", "vni", "local", "vrf")  # of a virtual device; all else changes in place


class Reload:
    """One node, from its old files to its new ones."""

    def __init__(self, spaces: Spaces, old: Node, new: Node) -> None:
        self.spaces, self.old, self.new = spaces, old, new
        self.before = {own.name: own for own in old.interfaces}
        self.after = {own.name: own for own in new.interfaces}
        self.there = {name: space for space in spaces.spaces(old) for name in devices(space)}
        self.fresh = {name for name, own in self.after.items() if own.kind in (BRIDGE, TUNNEL) and self._is_made_again(own)}

    def run(self) -> None:
        """Does it, in an order in which each step finds what it needs."""
        self._new_vrfs()
        self._take_away()
        self._move_ports()
        self._make()
        for name in sorted(self.after, key=lambda name: self.after[name].kind != BRIDGE):
            self._dress(self.after[name])
        self._routes()
        for vrf in sorted(set(self.old.vrfs) - set(self.new.vrfs)):
            self._drop_vrf(vrf)

    def space(self, own: Interface) -> str:
        return self.spaces.namespace(self.new.name, own.vrf)

    def _is_made_again(self, own: Interface) -> bool:
        before = self.before.get(own.name)
        return before is None or any(getattr(before, key) != getattr(own, key) for key in MADE_AGAIN)

    # --- VRFs ---------------------------------------------------------------------------------------------------

    def _new_vrfs(self) -> None:
        added = [vrf for vrf in self.new.vrfs if vrf not in self.old.vrfs]
        home = self.spaces.namespace(self.new.name)
        if self.spaces.kernel.vrf_devices:
            ip(home, vrf_devices(added, _free_table(home)) if added else ())
            return
        for vrf in added:
            space = self.spaces.namespace(self.new.name, vrf)
            namespaces.create([space])
            self.spaces.set_sysctls(self.new, [space])
            ip(space, ["link set lo up"])
            if self.new.filters:
                self.spaces.load_filters(self.new, space)
            if daemons.alive(self.spaces.names.home(self.new.name)):
                daemons.adopt(self.spaces.names.home(self.new.name), vrf, space)
                daemons.wait_for_vrf(self.spaces.names.home(self.new.name), vrf)

    def _drop_vrf(self, vrf: str) -> None:
        if self.spaces.kernel.vrf_devices:
            ip(self.spaces.namespace(self.new.name), [f"link delete {vrf}"])
            return
        if daemons.alive(self.spaces.names.home(self.new.name)):
            daemons.abandon(self.spaces.names.home(self.new.name), vrf)
        space = self.spaces.namespace(self.new.name, vrf)
        namespaces.end_processes({namespaces.inode(space)})
        namespaces.delete([space])

    # --- interfaces ---------------------------------------------------------------------------------------------

    def _take_away(self) -> None:
        for name, own in self.before.items():
            space = self.there.get(name)
            if space is None or own.kind == LOOPBACK:
                continue
            if own.kind in (BRIDGE, TUNNEL) and (name not in self.after or name in self.fresh):
                ip(space, [f"link delete {name}"])
            elif own.kind == PORT and name not in self.after:
                ip(space, _bare(own))

    def _move_ports(self) -> None:
        """A port of another VRF; it comes with its size and its MAC alone."""
        for name, own in self.after.items():
            before = self.before.get(name)
            if own.kind != PORT or name not in self.there or (before and before.vrf == own.vrf):
                continue
            if before:
                ip(self.there[name], _bare(before))
            if self.there[name] != self.space(own):
                ip(self.there[name], [f"link set {name} netns {self.space(own)}"])
            self.fresh.add(name)

    def _make(self) -> None:
        home = self.spaces.namespace(self.new.name)
        for name in self.fresh:
            own = self.after[name]
            if own.kind != PORT:
                ip(self.space(own), made([own], self.spaces.kernel, home, self.space(own)))

    def _dress(self, own: Interface) -> None:
        """What differs from before; all of a device that is new."""
        if own.kind == PORT and own.name not in self.there:
            return  # a tagged part of a port whose other end does not have it
        before = Interface(name=own.name, kind=own.kind, up=False) if own.name in self.fresh else self.before.get(own.name)
        if before is None:
            before = Interface(name=own.name, kind=own.kind, up=False)
        bridge_is_new = own.bridge in self.fresh
        if before == own and not bridge_is_new:
            return
        ip(self.space(own), self._changes(before, own, bridge_is_new))

    def _changes(self, before: Interface, own: Interface, bridge_is_new: bool) -> Iterator[str]:
        yield from (
            f"address delete {address} dev {own.name}" for address in before.addresses if address not in own.addresses
        )
        if before.up and not own.up:
            yield f"link set {own.name} down"
        if own.kind == PORT and own.mtu != before.mtu:
            yield f"link set {own.name} mtu {own.mtu or 1500}"
        if before.bridge and before.bridge != own.bridge and before.bridge in self.after and before.bridge not in self.fresh:
            yield f"link set {own.name} nomaster"
        if before.bridge and not own.bridge:
            yield f"link set {own.name} addrgenmode eui64"
        rebridged = own.bridge != before.bridge or own.answers != before.answers or bridge_is_new
        part = replace(
            own,
            addresses=tuple(address for address in own.addresses if address not in before.addresses),
            bridge=own.bridge if rebridged else "",
            vrf="" if own.bridge else own.vrf,
            mac="" if own.mac == before.mac else own.mac,  # a kernel forgets its neighbors with a MAC, also with the same one
            mtu=0 if own.mtu == before.mtu else own.mtu,
        )
        yield from dressed([part], self.spaces.kernel)
        if own.up and not before.up and own.kind == PORT:
            yield f"link set {own.name} up"

    def _routes(self) -> None:
        """Of a server: those that both files have stay; a route goes with its port, its address, or a state of its link."""
        home = self.spaces.namespace(self.new.name)
        for version in (4, 6):
            old, new = list(routes(self.old, version)), list(routes(self.new, version))
            lost = [] if not self.fresh else [line for line in new if line in old]
            for line in (line for line in new if line not in old or line in lost):
                run("ip", f"-{version}", "-n", home, *line.split(), check=line not in lost)
            for line in (line for line in old if line not in new):
                run("ip", f"-{version}", "-n", home, *line.replace(" add ", " delete ", 1).split(), check=False)


def _bare(own: Interface) -> Sequence[str]:
    lines = [f"link set {own.name} down"]
    lines += [f"address delete {address} dev {own.name}" for address in own.addresses]
    return [*lines, f"link set {own.name} nomaster"]


def devices(space: str) -> list[str]:
    """Names of the devices in a namespace."""
    return [row["ifname"] for row in json.loads(run("ip", "-j", "-n", space, "link", "show").stdout or "[]")]


def _free_table(home: str) -> int:
    rows: Iterable[dict[str, dict[str, dict[str, int]]]]
    rows = json.loads(run("ip", "-j", "-d", "-n", home, "link", "show", "type", "vrf").stdout or "[]")
    return 1 + max((row["linkinfo"]["info_data"]["table"] for row in rows), default=FIRST_TABLE - 1)
