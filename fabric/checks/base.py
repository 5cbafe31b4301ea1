"""What a check is: a small class whose docstring says why, and which says how to mend what it finds.

A check of the design looks at one fabric of a plan, a check of the files at the facts of many devices. The class is
refused without its metadata, and two checks cannot have one id, so the pages and the reports are made from the classes.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from fabric.checks.finding import SEVERITIES, Finding
from fabric.diagnostics import Place

if TYPE_CHECKING:
    from fabric.checks.network import Network
    from fabric.configs.view_of import Views
    from fabric.facts import Facts, Said
    from fabric.plan.plan import FabricPlan, Plan
    from fabric.plan.views import SwitchView


class Check:
    """One property; `why` is the subclass's docstring."""

    id: ClassVar[str] = ""
    title: ClassVar[str] = ""  # the property, as a short sentence that holds when all is well
    severity: ClassVar[str] = ""
    else_severity: ClassVar[str] = ""  # when a finding is milder or worse: "note below 8 leaves"
    mend: ClassVar[str] = ""  # the hint of its findings, unless one has a better hint of its own
    registry: ClassVar[dict[str, type[Check]]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if not cls.id:  # a family of checks
            return
        if not (cls.title and cls.mend and cls.severity in SEVERITIES and cls.__doc__):
            raise TypeError(f"{cls.__name__}: a check needs id, title, severity, mend and a docstring that says why")
        other = Check.registry.setdefault(cls.id, cls)
        if (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):
            raise TypeError(f"{cls.__name__}: {cls.id} is the id of {other.__name__}")

    @classmethod
    def why(cls) -> str:
        """The docstring as one paragraph."""
        return " ".join(inspect.cleandoc(cls.__doc__ or "").split())

    def at(self, place: Place, message: str, device: str = "", hint: str = "", severity: str = "") -> Finding:
        """A finding in the intent."""
        return Finding(
            self.id, severity or self.severity, device, place.file, place.line, message, hint or self.mend, place.column
        )

    def on(self, facts: Facts, said: Said[object] | None, message: str, hint: str = "", severity: str = "") -> Finding:
        """A finding in the file of a device, on the line of a value; the first file when nothing is said."""
        file = said.file if said and said.file else facts.files[0] if facts.files else ""
        return Finding(
            self.id, severity or self.severity, facts.name, file, said.line if said else 0, message, hint or self.mend
        )


class DesignCheck(Check):
    """Judges one fabric of a plan."""

    def over(self, design: Design) -> Iterator[Finding]:
        raise NotImplementedError


class FilesCheck(Check):
    """Judges the facts of many devices: against each other, and against the plan where there is one."""

    kinds: ClassVar[tuple[str, ...]] = ()  # kinds of facts that break this check where they differ from the plan's
    of_island: ClassVar[bool] = False  # compares numbers that mean something only among devices that reach each other
    planned_mend: ClassVar[str] = ""  # the hint where a file lacks what the plan has, if it is another
    of_device: ClassVar[bool] = False  # judges one device at a time, so it is worth asking beside a plan as well

    def over(self, network: Network) -> Iterator[Finding]:
        """What is wrong whatever the plan is; nothing for a check that needs a plan."""
        yield from ()


@dataclass(frozen=True)
class Design:
    """One fabric of a plan, and what several checks ask of it."""

    plan: Plan
    fabric: FabricPlan

    def place(self, *path: str | int) -> Place:
        """Where a key of this fabric stands in the intent; its nearest parent when it is not written."""
        return self.fabric.spec.at(*path)

    @cached_property
    def views(self) -> Views:
        """Views of its switches, with everything a renderer would see."""
        from fabric.configs.targets import mtu_limit
        from fabric.configs.view_of import Views

        return Views(self.plan, self.fabric, mtu_limit(self.fabric))

    def switches(self) -> Iterator[SwitchView]:
        """The view of every Ethernet switch that has a network OS, one at a time."""
        for device in self.fabric.switches:
            if device.nos:
                yield self.views.of(device)
