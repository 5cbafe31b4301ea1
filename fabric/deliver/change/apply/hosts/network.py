"""The switches of a change as `Network`: sessions by the kind that each network OS states, state collected by Nornir."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fabric.base.diagnostics import MissingError
from fabric.deliver.change.apply.connection import ByHandError, Connection, UnreachableError
from fabric.deliver.change.apply.folder import Work
from fabric.deliver.change.apply.hosts.inventory import Host, read
from fabric.deliver.change.records import INSTALL, REMOVE, REPLACE, Move, Wave
from fabric.deliver.export.collect import recipe
from fabric.nos.change import CLI, NETCONF

WORKERS = 16
ACTIONS = {INSTALL: "install it, with its files in `configs/` of the wave", REMOVE: "power it off and take it out"}
ACTIONS[REPLACE] = "replace it; the new one starts with its files in `configs/` of the wave"


class HostNetwork:
    """Over SSH and NETCONF."""

    def __init__(self, hosts: Mapping[str, Host], workers: int = WORKERS) -> None:
        self.hosts, self.workers = hosts, workers
        self.kept: dict[str, Any] = {}  # sessions that hold a commit which is not confirmed

    def connect(self, device: str) -> Connection:
        """A session of the kind that the network OS has. Raises UnreachableError."""
        from fabric.deliver.change.apply.hosts.cli import Cli
        from fabric.deliver.change.apply.hosts.netconf import Netconf
        from fabric.deliver.change.apply.hosts.ssh import Shell

        host = self._host(device)
        if host.session.kind == CLI:
            return Cli(host)
        if host.session.kind != NETCONF:
            return Shell(host)
        kept = self.kept.get(device)
        if kept is None or not kept.is_kept:
            self.kept[device] = kept = Netconf(host)
        return kept

    def _host(self, device: str) -> Host:
        if device not in self.hosts:
            raise UnreachableError(f"{device}: not in the inventory")
        return self.hosts[device]

    def state(self, devices: Collection[str]) -> Mapping[str, str]:
        """What switches show, side by side. Raises UnreachableError with all that do not answer."""
        from nornir.core import Nornir
        from nornir.core.inventory import Defaults, Groups, Host as NornirHost, Hosts, Inventory
        from nornir.core.task import Result
        from nornir.plugins.runners import ThreadedRunner

        def collect(task: Any) -> Any:
            return Result(host=task.host, result=dict(_shown(self._host(task.host.name))))

        listed = Hosts({name: NornirHost(name=name) for name in sorted(devices)})
        inventory = Inventory(hosts=listed, groups=Groups(), defaults=Defaults())
        results = Nornir(inventory=inventory, runner=ThreadedRunner(num_workers=self.workers)).run(task=collect)
        failed = [result[0].exception for _, result in sorted(results.items()) if result.failed]
        for error in failed:
            if error is not None and not isinstance(error, UnreachableError):
                raise error
        if failed:
            raise UnreachableError("; ".join(map(str, failed)))
        return {f"{name}/{file}": text for name in sorted(results) for file, text in results[name][0].result.items()}

    def by_hand(self, wave: Wave) -> None:
        """There are no hands here. Raises ByHandError with a checklist."""
        raise ByHandError("\n".join(checklist(wave)))

    def close(self) -> None:
        """Ends the sessions that are still there."""
        for session in self.kept.values():
            session.pending = False
            session.close()


def _shown(host: Host) -> Iterator[tuple[str, str]]:
    """File → output of the commands that show the state of a switch."""
    from fabric.deliver.change.apply.hosts.ssh import LostError, Shell

    wanted = recipe(host.nos)
    shell = Shell(host)
    try:
        for item in wanted.commands if wanted is not None else ():
            code, output, _ = shell.run(item.command)
            if code == 0 and output.strip():
                yield item.file, output
    except LostError as error:
        raise UnreachableError(f"{host}: {error}") from error
    finally:
        shell.close()


def checklist(wave: Wave) -> Iterator[str]:
    """The work of a wave at switches and cables, a line each."""
    for task in wave.tasks:
        if task.action in ACTIONS:
            yield f"[ ] {task.device}: {ACTIONS[task.action]}"
    yield from (f"[ ] {_move(move)}" for move in wave.moves)


def _move(move: Move) -> str:
    old, new = (" ".join(end) for end in (move.old, move.new))
    ends = {"lay": f"to {new}", "pull": f"from {old}", "move": f"from {old} to {new}"}
    return f"{move.action} the cable of {' '.join(move.lower)} {ends[move.action]}"


@contextmanager
def hosts(inventory: Path, work: Work) -> Iterator[HostNetwork]:
    """The switches of a change. Raises MissingError without the libraries, InputError for an inventory that lacks one."""
    try:
        import ncclient  # noqa: F401
        import netmiko  # noqa: F401
        import nornir  # noqa: F401
    except ImportError as error:
        raise MissingError(f"{error.name} is not installed: `pip install 'fabricwright[apply]'`") from error
    systems: dict[str, str] = {}
    for stage in work.stages:
        for moment in (stage.before, stage.after):
            systems |= {name: moment.job(name).device.nos for name in moment.switches}
    network = HostNetwork(read(inventory, systems))
    try:
        yield network
    finally:
        network.close()
