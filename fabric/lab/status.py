"""What of a lab is there, without changing anything."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fabric.lab import state
from fabric.lab.machine import daemons, namespaces
from fabric.lab.names import Names


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """A lab as it lies there."""

    state: state.State | None
    namespaces: int
    nodes: int  # with daemons
    running: int  # daemons
    dead: tuple[str, ...]  # "backend-leaf001: bgpd" of daemons that were started and have ended
    memory_bytes: int  # proportional share of all processes

    @property
    def word(self) -> str:
        """`up`, `broken` or `none`."""
        if self.state is None and not self.namespaces:
            return "none"
        return "up" if self.state and self.state.ready and not self.dead and self.namespaces else "broken"


def status(names: Names) -> Status:
    """Looks at names, processes and the state file."""
    homes = sorted(path for path in (names.folder / "nodes").iterdir()) if (names.folder / "nodes").is_dir() else []
    spaces = namespaces.existing(names.prefix)
    dead, running = [], 0
    for home in homes:
        alive = daemons.alive(home)
        running += len(alive)
        dead += [f"{home.name}: {name}" for name in daemons.started(home) if name not in alive]
    memory = sum(map(_memory, namespaces.processes({namespaces.inode(name) for name in spaces})))
    return Status(
        state=state.read(names),
        namespaces=len(spaces),
        nodes=len(homes),
        running=running,
        dead=tuple(dead),
        memory_bytes=memory,
    )


def _memory(process: int) -> int:
    """What a process takes, pages that it shares counted by its share."""
    try:
        for line in Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return 0
