"""What a check is: a small class whose docstring says why, and which says how to fix what it finds.

Each kind of check judges one type of subject: a fabric of a plan, a network of files, a server and its leaves. The class is
refused without its metadata or with a code outside its subject's range, and two checks cannot have one id, so the pages and
the reports are made from the classes. `registry` has them all.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from fabric.checks.finding import SEVERITIES, Finding
from fabric.codes import subject_of
from fabric.diagnostics import Place

if TYPE_CHECKING:
    from fabric.checks.agree import Difference
    from fabric.checks.network import Network
    from fabric.configs.view_of import Views
    from fabric.facts import Facts, Located
    from fabric.plan import FabricLossless, FabricPlan, Plan, SwitchView

S = TypeVar("S")  # what a kind of check judges


class Check(Generic[S]):
    """One property; `why` is the subclass's docstring."""

    id: ClassVar[str] = ""
    title: ClassVar[str] = ""  # the property, as a short sentence that holds when all is well
    severity: ClassVar[str] = ""
    else_severity: ClassVar[str] = ""  # when a finding is milder or worse: "note below 8 leaves"
    example: ClassVar[str] = ""  # a short situation that fails: one or two lines, of config, intent or values
    remediation: ClassVar[str] = ""  # how to fix it: the hint of its findings, unless one has a better hint of its own
    subject: ClassVar[str] = ""  # the subject whose range the id must be in; of a kind of checks
    needs: ClassVar[str] = ""  # what there must be, so that it can be judged at all: "files, intent"
    registry: ClassVar[dict[str, type[Check[Any]]]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if not cls.id:  # a kind of checks
            return
        if not (cls.title and cls.remediation and cls.severity in SEVERITIES and cls.__doc__):
            raise TypeError(f"{cls.__name__}: a check needs id, title, severity, remediation and a docstring that says why")
        subject = subject_of(cls.id)
        if subject is None or subject.name != (cls.subject or subject.name):
            raise TypeError(f"{cls.__name__}: {cls.id} is no code of its subject, '{cls.subject}'")
        other = Check.registry.setdefault(cls.id, cls)
        if (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):
            raise TypeError(f"{cls.__name__}: {cls.id} is the id of {other.__name__}")

    @classmethod
    def why(cls) -> str:
        """The docstring as one paragraph."""
        return " ".join(inspect.cleandoc(cls.__doc__ or "").split())

    def run(self, subject: S) -> list[Finding]:
        """What is wrong with a subject: the one way to ask a check."""
        return list(self.judge(subject))

    def judge(self, subject: S) -> Iterator[Finding]:
        """What a check says; only `run` calls it."""
        raise NotImplementedError

    def at(self, place: Place, message: str, device: str = "", hint: str = "", severity: str = "") -> Finding:
        """A finding in the intent."""
        return Finding(
            self.id,
            severity or self.severity,
            device,
            place.file,
            place.line,
            message,
            hint or self.remediation,
            place.column,
        )

    def on(self, facts: Facts, said: Located[object] | None, message: str, hint: str = "", severity: str = "") -> Finding:
        """A finding in the file of a device, on the line of a value; the first file when nothing is said."""
        file = said.file if said and said.file else facts.files[0] if facts.files else ""
        return Finding(
            self.id, severity or self.severity, facts.name, file, said.line if said else 0, message, hint or self.remediation
        )


class FilesCheck(Check["Network"]):
    """Judges the facts of many devices against each other, and those of one switch against its plan."""

    subject, needs = "files", "files"
    kinds: ClassVar[tuple[str, ...]] = ()  # kinds of facts that break this check where they differ from the plan's
    of_island: ClassVar[bool] = False  # compares numbers that mean something only among devices that reach each other
    planned_remediation: ClassVar[str] = ""  # the hint where a file lacks what the plan has, if it is another
    of_device: ClassVar[bool] = False  # judges one device at a time, so it is worth asking beside a plan as well

    def run(self, network: Network) -> list[Finding]:
        """Beside a plan: what differs from it, and what a device alone says. Without one: what the files say together."""
        if not network.planned:
            parts = network.islands if self.of_island else (network,)
            return [finding for part in parts for finding in self.judge(part)]
        differ = [self._differs(network, one) for one in network.differences if one.key.kind in self.kinds]
        return differ + (list(self.judge(network)) if self.of_device else [])

    def judge(self, network: Network) -> Iterator[Finding]:
        """What is wrong whatever the plan is; nothing for a check that needs a plan."""
        yield from ()

    def _differs(self, network: Network, one: Difference) -> Finding:
        (facts,) = network.devices
        hint = self.planned_remediation or self.remediation
        file = one.place.file or (facts.files[0] if facts.files else "")
        return Finding(self.id, self.severity, network.planned, file, one.place.line, one.message, hint)


@dataclass(frozen=True)
class Design:
    """One fabric of a plan, and what several checks ask of it."""

    plan: Plan
    fabric: FabricPlan

    def place(self, *path: str | int) -> Place:
        """Where a key of this fabric stands in the intent; its nearest parent when it is not written."""
        return self.fabric.spec.at(*path)

    @property
    def lossless(self) -> FabricLossless:
        """Of a fabric that has a lossless class."""
        assert self.fabric.lossless is not None
        return self.fabric.lossless

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
