"""Commands typed at the model of a switch: what it refuses, and what differs from the config that was meant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.diff.candidate.device import RefusedError, Tree, loaded
from tests.diff.candidate.model import Model


def wrong(model: Model, running: str, intended: str, commands: Sequence[str]) -> list[str]:
    """What is wrong with commands between two configs, in either case of what a change takes along."""
    wanted = loaded(model, intended).shown()
    found: list[str] = []
    for forgets in (True, False):
        device = loaded(model, running, forgets=forgets)
        try:
            device.type(commands)
        except RefusedError as refused:
            found.append(f"refused: {refused}")
        else:
            found += differences(device.shown(), wanted)
        if found:
            break
    return found


def differences(have: Tree, wanted: Tree, above: str = "") -> Iterator[str]:
    """Lines that are left over or missing, with their sections."""
    for line in have.keys() | wanted.keys():
        path = f"{above}{line}"
        if line not in wanted:
            yield f"left: {path}"
        elif line not in have:
            yield f"missing: {path}"
        else:
            yield from differences(have[line], wanted[line], f"{path} / ")
