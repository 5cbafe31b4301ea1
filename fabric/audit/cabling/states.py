"""Port states reported by devices: speed, and up or down."""

from __future__ import annotations

from fabric.audit.cabling.files import Collected
from fabric.audit.cabling.planned import Planned
from fabric.audit.cabling.wires import Wires
from fabric.nos.lldp import LldpPort


class States:
    """Port states by node."""

    def __init__(self, plan: Planned, collected: Collected, wires: Wires) -> None:
        self._plan, self._wires = plan, wires
        self.by_node: dict[int, LldpPort] = {}
        for device in sorted(collected.devices):
            for state in collected.devices[device].ports.values():
                node = wires.place(device, state.port)
                if node is not None:
                    self.by_node[node] = state

    def up(self, end: int) -> bool | None:
        state = self.by_node.get(end)
        return None if state is None else state.up

    def shut(self, end: int) -> bool:
        state = self.by_node.get(end)
        return state is not None and state.shut and not state.up

    def wrong_speeds(self, link: int) -> list[tuple[int, int]]:
        """(end, speed in Gb/s) of the ends that run at another speed than planned; what the neighbor tells comes second."""
        wanted, found = self._plan.speeds[link], []
        for end in (2 * link, 2 * link + 1):
            state = self.by_node.get(end)
            speed = state.speed_gbps if state is not None else 0
            speed = speed or self._wires.far_speed.get(end ^ 1, 0)
            if speed and speed != wanted:
                found.append((end, speed))
        return found
