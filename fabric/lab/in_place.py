"""A lab of one design that becomes one of another while it runs: hands for cables, switches and servers.

Switches take their lines in shells of their own (`LabNetwork`); what people do beside is done here: cables are laid, moved
and pulled, switches come and go. A server gets its new file when all its ports are configured for it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock

from fabric.base.formats import json_text
from fabric.deliver.change.apply.connection import ByHandError
from fabric.deliver.change.records import INSTALL, REMOVE, REPLACE, Move, Wave
from fabric.lab import up_down
from fabric.lab.blueprint import PORT, SWITCH, Blueprint, End, Interface, Names, Node, Wire
from fabric.lab.devices import chassis
from fabric.lab.live import Live
from fabric.lab.machine import daemons, namespaces
from fabric.lab.machine.disk import ROUTING_FILE, Described, Disk, places_of
from fabric.lab.machine.host import Kernel
from fabric.lab.machine.namespaces import LabError, at_once, run
from fabric.lab.machine.nodes import Spaces
from fabric.lab.machine.reload import Reload
from fabric.lab.machine.wiring import Wiring, buildable
from fabric.model.plan import PortRef
from fabric.nos.target import target

Upper = tuple[str, str]  # switch and port, as moves name them


@dataclass(frozen=True, slots=True, kw_only=True)
class Laid:
    """What of a lab is no longer as it was brought up."""

    wires: frozenset[Wire]
    renewed: frozenset[str] = frozenset()  # servers and routers outside that have the files of the new design


class InPlace:
    """The lab of an old design on its way to a new one."""

    def __init__(self, old: Blueprint, new: Blueprint, kernel: Kernel, minute_s: float = 60.0) -> None:
        self.old, self.new, self.kernel = buildable(old, kernel), buildable(new, kernel), kernel
        self.minute_s, self._guard = minute_s, Lock()
        self.names = Names(old.site)
        self.spaces = Spaces(self.names, kernel, old.bfd and new.bfd)
        self.change = f"{up_down.digest(self.old)}-{up_down.digest(self.new)}"
        self.laid = self._read() or Laid(wires=frozenset(self.old.wires))
        for name in self.old.views:
            if places_of(self.old.views[name].device.nos) and not self.disk(name).exists and self.is_there(name):
                self._create_disk(name, self.old)

    def disk(self, name: str) -> Disk:
        return Disk(self.names.disk(name))

    def is_there(self, node: str) -> bool:
        return (namespaces.NETNS / self.names.namespace(node)).exists()

    @property
    def is_under_way(self) -> bool:
        """Whether cables or switches are no longer those of the old design alone."""
        return self.names.laid.exists()

    # --- what is there now --------------------------------------------------------------------------------------

    def node(self, name: str) -> Node:
        """A node by the files that it has loaded, with the ports that a cable is in."""
        if self.disk(name).exists:
            node = self.disk(name).loaded
        else:
            nodes = self.new.nodes if name in self.laid.renewed or name not in self.old.nodes else self.old.nodes
            node = nodes[name]
        used = {end for wire in self.laid.wires for end in (wire.a, wire.b)}
        kept = tuple(own for own in node.interfaces if own.kind != PORT or End(name, own.name) in used)
        return replace(node, interfaces=kept)

    @property
    def now(self) -> Blueprint:
        """The lab as it is."""
        names = [name for name in dict.fromkeys((*self.new.nodes, *self.old.nodes)) if self.is_there(name)]
        nodes = dict(zip(names, at_once(self.node, names), strict=True))
        views = {name: self.new.views.get(name) or self.old.views[name] for name in names if nodes[name].kind == SWITCH}
        wires = tuple(sorted(self.laid.wires, key=lambda wire: (wire.a, wire.b)))
        return replace(self.new, nodes=nodes, wires=wires, views=views, bfd=self.spaces.bfd)

    @property
    def live(self) -> Live:
        return Live(self.now, self.kernel)

    def is_as(self, design: Blueprint) -> bool:
        """Whether cables, interfaces and files are those of a design; what daemons have is another matter."""
        now = self.now
        nodes, planned = ({name: _bare(node) for name, node in lab.nodes.items()} for lab in (now, design))
        return set(now.wires) == set(design.wires) and nodes == planned and all(map(partial(self._has, design), now.views))

    def complete(self, design: Blueprint) -> None:
        """Lays and pulls what no wave moves, where all switches have the files: a lab has no servers without a tenant."""
        views = {name for name in (*self.old.views, *self.new.views) if self.is_there(name)}
        if views != set(design.views) or not all(self._has(design, name) for name in views):
            return
        extra, missing = self.laid.wires - set(design.wires), set(design.wires) - self.laid.wires
        self._pull({wire for wire in extra if not {wire.a.node, wire.b.node} <= views})
        self._lay({wire for wire in missing if not {wire.a.node, wire.b.node} <= views})

    def _has(self, design: Blueprint, name: str) -> bool:
        """Whether a switch has the files of a design."""
        disk = self.disk(name)
        planned = _files(design, name)
        return not disk.exists or all(planned[file] == text for file, text in disk.files.items() if file != ROUTING_FILE)

    # --- a wave -------------------------------------------------------------------------------------------------

    def by_hand(self, wave: Wave) -> None:
        """Cables, new switches and old ones. Raises ByHandError for what no hands in a lab can do."""
        gone = [task.device for task in wave.tasks if task.action == REMOVE and self.is_there(task.device)]
        swapped = [task.device for task in wave.tasks if task.action == REPLACE and self.is_there(task.device)]
        added = [task.device for task in wave.tasks if task.action == INSTALL and not self.is_there(task.device)]
        if unknown := [name for name in (*swapped, *added) if name not in self._design_of(name).views]:
            raise ByHandError(f"not in the lab: {', '.join(unknown)}")
        pulled, laid = self._moved(wave.moves)
        again = {wire for name in swapped for wire in self._plugged_again(name)}
        pulled |= {wire for name in (*gone, *swapped) for wire in self._at(name)}
        pulled |= self._in_the_way(laid)
        self._pull((pulled - laid - again) | (again & self.laid.wires))
        for name in (*gone, *swapped):
            self._remove(name)
        for name in (*swapped, *added):
            self._create_disk(name, self._design_of(name))
        self._lay((laid | again) - self.laid.wires)

    def _design_of(self, name: str) -> Blueprint:
        """The design that a switch comes with: the new one, unless an old switch comes back."""
        return self.new if name in self.new.views else self.old

    def _moved(self, moves: Iterable[Move]) -> tuple[set[Wire], set[Wire]]:
        """(wires to pull, wires to lay) for the cables of a wave that the lab has."""
        pulled: set[Wire] = set()
        laid: set[Wire] = set()
        for move in moves:
            pulled |= self._cable(move.lower[0], move.old) & self.laid.wires
            laid |= self._cable(move.lower[0], move.new)
        return pulled, laid

    def _cable(self, lower: str, upper: tuple[str, ...]) -> set[Wire]:
        """The wires of a cable, in whichever design has it; moves that are taken back have those of the old one as new."""
        for design in (self.new, self.old) if upper else ():
            end = _uppers(design).get((upper[0], upper[1]))
            wires = set(_of_port(design, end)) if end else set()
            far = {wire.other(upper[0]).node for wire in wires}
            if far and all(name == lower or name.startswith(f"{lower}-") for name in far):  # a router has a node per tenant
                return wires
        return set()

    def _in_the_way(self, laid: Collection[Wire]) -> set[Wire]:
        """Cables in the ports that others are laid to: they were plugged wrongly."""
        ends = {end for wire in laid for end in (wire.a, wire.b)}
        return {wire for wire in self.laid.wires - set(laid) if ends & {wire.a, wire.b}}

    def _at(self, node: str) -> set[Wire]:
        return {wire for wire in self.laid.wires if node in (wire.a.node, wire.b.node)}

    def _plugged_again(self, name: str) -> set[Wire]:
        """The cables of a switch that is replaced, in the ports of the new one."""
        ends = {wire.other(name) for wire in self._at(name)}
        return {wire for wire in self.new.wires if name in (wire.a.node, wire.b.node) and wire.other(name) in ends}

    # --- cables -------------------------------------------------------------------------------------------------

    def _pull(self, wires: Collection[Wire]) -> None:
        """A port without its cable is no more in the kernel; a server without any goes."""
        for wire in sorted(wires, key=lambda wire: (wire.a, wire.b)):
            for end in (wire.a, wire.b):
                for space in self.spaces.spaces(self.node(end.node)) if self.is_there(end.node) else ():
                    run("ip", "-n", space, "link", "delete", end.interface, check=False)
        self._write(replace(self.laid, wires=self.laid.wires - set(wires)))
        ends = sorted({end.node for wire in wires for end in (wire.a, wire.b)})
        for name in ends:
            self._count_ports(name)
            if not self.disk(name).exists and not self._at(name):
                self._remove(name)

    def _lay(self, wires: Collection[Wire]) -> None:
        """New nodes come up with their files; at the others the ports get what their files say of them."""
        names = sorted({end.node for wire in wires for end in (wire.a, wire.b)} | set(self._without_namespace()))
        fresh = [name for name in names if not self.is_there(name)]
        before = {name: self.node(name) for name in names if name not in fresh}
        renewed = {name for name in fresh if not self.disk(name).exists}
        self._write(Laid(wires=self.laid.wires | set(wires), renewed=self.laid.renewed | renewed))
        for name in names:
            self._count_ports(name)
        after = {name: self.node(name) for name in names}
        namespaces.create([space for name in fresh for space in self.spaces.spaces(after[name])])
        at_once(lambda name: self.spaces.settings(after[name]), fresh)
        Wiring(replace(self.new, nodes=after, wires=tuple(wires)), self.kernel).make(wires)
        at_once(lambda name: self.spaces.devices(after[name]), fresh)
        at_once(lambda name: self._boot(after[name]), [name for name in fresh if after[name].routed])
        at_once(lambda name: Reload(self.spaces, before[name], after[name]).run(), before)
        at_once(lambda name: self.spaces.raise_ports(after[name]), fresh)

    def _without_namespace(self) -> list[str]:
        """Switches that have a disk and are not there yet."""
        return [name for name in self.new.views if self.disk(name).exists and not self.is_there(name)]

    def _boot(self, node: Node) -> None:
        up_down.start(node, self.spaces)
        daemons.load(self.names.home(node.name))

    # --- nodes --------------------------------------------------------------------------------------------------

    def _create_disk(self, name: str, design: Blueprint) -> None:
        """The disk of a switch, with the files of a design."""
        of = replace(chassis(design.views[name]), ports=())
        what = Described(site=design.site, chassis=of, kernel=self.kernel, bfd=self.spaces.bfd, minute_s=self.minute_s)
        self.disk(name).create(what, _files(design, name))
        self._count_ports(name)

    def _count_ports(self, name: str) -> None:
        """Tells a switch which of its ports have cables."""
        disk = self.disk(name)
        if not disk.exists:
            return
        ends = (end for wire in self.laid.wires if not wire.slice_of for end in (wire.a, wire.b) if end.node == name)
        what = disk.described
        ports = tuple(sorted(end.interface for end in ends))
        if ports != what.chassis.ports:
            disk.describe(replace(what, chassis=replace(what.chassis, ports=ports)))

    def _remove(self, name: str) -> None:
        """Power off, and out of the rack."""
        if not self.is_there(name):
            return
        spaces = namespaces.existing(f"{self.names.namespace(name)}.")
        spaces.append(self.names.namespace(name))
        daemons.kill(self.names.home(name))
        namespaces.end_processes({namespaces.inode(space) for space in spaces})
        namespaces.delete(spaces)
        self.disk(name).remove()
        daemons.remove(self.names.home(name))

    def follow(self) -> None:
        """Servers whose ports are configured for their new files get them, or their old ones back."""
        with self._guard:
            self._follow()

    def _follow(self) -> None:
        both = [name for name in self.old.nodes if name in self.new.nodes and not self.disk(name).exists]
        changed = [name for name in both if self.old.nodes[name] != self.new.nodes[name] and self.is_there(name)]
        if not changed:
            return
        now = {name: {own.name: own for own in self.disk(name).loaded.interfaces} for name in self._disks()}
        turned = [name for name in changed if (name in self.laid.renewed) != self._is_ready(name, now)]
        for name in turned:
            before = self.node(name)
            self._write(replace(self.laid, renewed=self.laid.renewed ^ {name}))
            Reload(self.spaces, before, self.node(name)).run()

    def _disks(self) -> list[str]:
        names = dict.fromkeys((*self.old.views, *self.new.views))
        return [name for name in names if self.disk(name).exists]

    def _is_ready(self, server: str, now: Mapping[str, Mapping[str, Interface]]) -> bool:
        """Whether the switches have its ports as in the new design."""
        ends = [wire.other(server) for wire in self._at(server)]
        differing = [end for end in ends if _port(self.old, end) != _port(self.new, end)]
        if differing:
            return all(now.get(end.node, {}).get(end.interface) == _port(self.new, end) for end in differing)
        return all(now.get(end.node) == _ports(self.new, end.node) for end in ends)

    # --- what is written down -----------------------------------------------------------------------------------

    def _read(self) -> Laid | None:
        try:
            data = json.loads(self.names.laid.read_text(encoding="utf-8"))
            if data["change"] != self.change:
                raise LabError(f"the lab of site '{self.old.site}' is in another change: run `fabric lab up` again")
            wires = frozenset(Wire(End(*a), End(*b), part) for a, b, part in data["wires"])
            return Laid(wires=wires, renewed=frozenset(data["renewed"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _write(self, laid: Laid) -> None:
        self.laid = laid
        rows = sorted([[w.a.node, w.a.interface], [w.b.node, w.b.interface], w.slice_of] for w in laid.wires)
        self.names.laid.write_text(
            json_text({"change": self.change, "wires": rows, "renewed": sorted(laid.renewed)}) + "\n", encoding="utf-8"
        )

    def end(self) -> None:
        """The lab is that of one design again."""
        self.names.laid.unlink(missing_ok=True)


def _bare(node: Node) -> Node:
    """A node without the texts of files, its interfaces in one order."""
    interfaces = tuple(sorted(node.interfaces, key=lambda own: own.name))
    return replace(node, frr_conf="", filters="", lldp="", sysctls=(), lacks=(), interfaces=interfaces)


def _files(design: Blueprint, name: str) -> dict[str, str]:
    """The files of a switch by their own name."""
    return {path.split("/", 2)[2]: text for path, text in design.files[name].items()}


def _port(lab: Blueprint, end: End) -> Interface | None:
    return _ports(lab, end.node).get(end.interface)


def _ports(lab: Blueprint, node: str) -> dict[str, Interface]:
    return {own.name: own for own in lab.nodes[node].interfaces} if node in lab.nodes else {}


def _uppers(lab: Blueprint) -> dict[Upper, End]:
    """Port of a switch as moves name it → the interface."""
    found: dict[Upper, End] = {}
    for name, view in lab.views.items():
        port_name = target(view.device.nos).port_name
        for port in view.ports:
            found[name, _label(port.ref)] = End(name, port_name(view.model, port.ref, view.device.model))
    return found


def _label(ref: PortRef) -> str:
    return f"port {ref.cage}/{ref.sub + 1}" if ref.split > 1 else f"port {ref.cage}"


def _of_port(lab: Blueprint, end: End) -> Iterator[Wire]:
    """The cable in a port, and its tagged parts."""
    ports = lab.port_of
    for wire in lab.wires:
        if end in (ports[wire.a], ports[wire.b]):
            yield wire
