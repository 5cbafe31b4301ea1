"""The lab as the network that a change is carried out on: shells of switches, their state, and hands for cables."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace

from fabric.deliver.change.apply.connection import Answer, UnreachableError
from fabric.deliver.change.records import Wave
from fabric.lab import up_down
from fabric.lab.blueprint import Blueprint, End, Wire
from fabric.lab.collect import LLDP_S, collect
from fabric.lab.in_place import InPlace
from fabric.lab.live import Live
from fabric.lab.machine.disk import ROUTING_FILE, Disk
from fabric.lab.machine.host import Kernel
from fabric.lab.machine.lldp import Lldp, missing
from fabric.lab.machine.namespaces import LabError
from fabric.lab.machine.shell import EndedError, Shell, statements


class LabConnection:
    """A session at one switch."""

    def __init__(self, network: LabNetwork, device: str) -> None:
        self.network, self.device = network, device
        self.disk = Disk(network.in_place.names.disk(device))
        self.shell = Shell(self.disk)

    def type(self, lines: Sequence[str]) -> Answer:
        """Types lines, statement by statement; the first one that fails ends it."""
        text, typed = "", 0
        for statement in statements(lines):
            if self.network.is_cut(self.device) or self.disk.booting.exists():
                return self._dropped(text, typed)
            try:
                code, reply = self.shell.run("\n".join(statement))
            except EndedError:
                return self._dropped(text, typed)
            text += reply
            if code:
                return Answer(text, typed, f"{statement[0]}: {reply.strip() or f'exit code {code}'}")
            typed += len(statement)
        self.network.in_place.follow()
        return Answer(text, typed, dropped=self.disk.booting.exists())

    def _dropped(self, text: str, typed: int) -> Answer:
        self.close()
        return Answer(text, typed, dropped=True)

    def running(self) -> Mapping[str, str]:
        """The daemons' config as it runs, the other files as they are on the disk."""
        self.network.refuse_unreachable(self.device)
        try:
            return {**self.disk.files, ROUTING_FILE: self.disk.running()}
        except LabError as error:
            raise UnreachableError(str(error)) from None

    def close(self) -> None:
        self.shell.close()


class LabNetwork:
    """A lab that is up, built from the old design. A context; it holds the lab meanwhile.

    Attributes:
        in_place: the lab itself.
    """

    session: type[LabConnection] = LabConnection

    def __init__(self, old: Blueprint, new: Blueprint, kernel: Kernel, minute_s: float = 60.0) -> None:
        self.in_place = InPlace(old, new, kernel, minute_s)
        self._cut: set[str] = set()
        self._stack = ExitStack()
        self._lldp: Lldp | None = None

    def __enter__(self) -> LabNetwork:
        names = self.in_place.names
        self._stack.enter_context(up_down.only_one(names))
        self._state = up_down.read(names)
        if self._state is not None:  # what the commands of a lab would compare with a design that it no longer is
            up_down.write(names, replace(self._state, ready=False))
        return self

    def __exit__(self, *_: object) -> None:
        if self._lldp is not None:
            self._lldp.stop()
        for design in (self.in_place.new, self.in_place.old):
            self.in_place.complete(design)
            if self._state is not None and self.in_place.is_as(design):
                intent = str(design.plan.settings.home.path.absolute())
                done = replace(self._state, intent=intent, digest=up_down.digest(design), ready=True)
                up_down.write(self.in_place.names, done)
                self.in_place.end()
                break
        self._stack.close()

    # --- switches -----------------------------------------------------------------------------------------------

    def connect(self, device: str) -> LabConnection:
        """A shell of a switch. Raises UnreachableError."""
        self.refuse_unreachable(device)
        self.in_place.disk(device).watch()
        return self.session(self, device)

    def refuse_unreachable(self, device: str) -> None:
        """Raises UnreachableError."""
        if self.is_cut(device):
            raise UnreachableError(f"{device}: no route to its management port")
        if not self.in_place.is_there(device):
            raise UnreachableError(f"{device}: not in the lab")
        if not self.in_place.disk(device).exists:
            raise UnreachableError(f"{device}: the lab has no shell of its network OS")
        if self.in_place.disk(device).booting.exists():
            raise UnreachableError(f"{device}: it boots")

    def cut(self, device: str) -> None:
        """Its management link is cut: sessions end, and none begins until `restore`."""
        self._cut.add(device)

    def restore(self, device: str) -> None:
        self._cut.discard(device)

    def is_cut(self, device: str) -> bool:
        return device in self._cut

    # --- state --------------------------------------------------------------------------------------------------

    def state(self, devices: Collection[str]) -> Mapping[str, str]:
        """What switches show, with the neighbors that LLDP reports. Raises UnreachableError."""
        for device in devices:
            self.refuse_unreachable(device)
        live = self.in_place.live
        wanted = set(devices)
        lldp = self._neighbors(live)
        texts = collect(live, lldp=lldp)
        return {path: text for path, text in texts.items() if path.partition("/")[0] in wanted}

    def _neighbors(self, live: Live) -> Lldp | None:
        """An lldpd in every namespace there is now; it goes on until the lab is left."""
        if missing():
            return None
        lldp = Lldp(live)
        lldp.follow()
        self._lldp = lldp
        lldp.wait(dict(_facing(live)), LLDP_S)
        return lldp

    def by_hand(self, wave: Wave) -> None:
        """Cables of a wave, new switches and old ones. Raises ByHandError."""
        self.in_place.by_hand(wave)


def _facing(live: Live) -> Iterator[tuple[End, End]]:
    """Port of a switch → the port at the other end of its cable, where both are up."""
    for wire in live.lab.cables:
        if all(live.interface(end).up for end in (wire.a, wire.b)):
            yield from _from_switches(live, wire)


def _from_switches(live: Live, wire: Wire) -> Iterator[tuple[End, End]]:
    for here, there in ((wire.a, wire.b), (wire.b, wire.a)):
        if here.node in live.lab.views:
            yield here, there
