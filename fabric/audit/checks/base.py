"""Base classes of checks: a check is a small class whose docstring and fields explain it.

Each kind of check tests one type of subject: a fabric of a plan, a network of files, a server and its leaves. A class without
its documentation, or with a code outside its subject's range, is refused, and no two checks have one id, so pages and reports
are made from the classes. `registry` lists them all.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from fabric.audit.checks.finding import SEVERITIES, UNKNOWN, About, Finding, Merge
from fabric.base.diagnostics import Place, subject_of

if TYPE_CHECKING:
    from fabric.audit.checks.compare_with_plan import Difference
    from fabric.audit.checks.network import Network
    from fabric.configs.view_of import Views
    from fabric.model.facts import Facts, Located
    from fabric.model.plan import FabricLossless, FabricPlan, Plan, SwitchView


S = TypeVar("S")  # subject of a kind of check
REGENERATE = "run `fabric generate` to restore the file"
RESTORE_LOCK = "restore the site's `lock.yaml` from git, or assign all numbers again with `fabric generate --renumber`"


class Check(Generic[S]):
    """One property of a design or of its files.

    The docstring of a subclass has two paragraphs: what the check tests, and why it matters.
    """

    id: ClassVar[str] = ""
    title: ClassVar[str] = ""  # the property, as a short sentence that is true when the check passes
    severity: ClassVar[str] = ""
    else_severity: ClassVar[str] = ""  # condition of another severity: "note below 8 leaves"
    example: ClassVar[str] = ""  # a short situation that fails: one or two lines of config, intent or values
    remediation: ClassVar[str] = ""  # how to fix it: hint of its findings, unless one has a better hint of its own
    subject: ClassVar[str] = ""  # the subject whose range contains the id; of a kind of checks
    needs: ClassVar[str] = ""  # inputs without which the check cannot run: "files, intent"
    registry: ClassVar[dict[str, type[Check[Any]]]] = {}

    def __init_subclass__(cls) -> None:
        """Registers a check; a class without an id is a kind of checks.

        Raises:
            TypeError: for missing documentation, an unknown severity, or an id of another subject or check.
        """
        super().__init_subclass__()
        if not cls.id:
            return
        if not (cls.title and cls.example and cls.remediation and cls.severity in SEVERITIES and cls.tests() and cls.why()):
            raise TypeError(
                f"{cls.__name__}: expected title, severity, example, remediation, and a docstring of two paragraphs: what "
                "the check tests, and why"
            )
        subject = subject_of(cls.id)
        if subject is None or subject.name != (cls.subject or subject.name):
            raise TypeError(f"{cls.__name__}: expected a code of the subject '{cls.subject}', got {cls.id}")
        other = Check.registry.setdefault(cls.id, cls)
        if (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):
            raise TypeError(f"{cls.__name__}: {cls.id} is the id of {other.__name__}")

    @classmethod
    def tests(cls) -> str:
        """What the check tests: the first paragraph of its docstring."""
        return " ".join(cls._paragraphs()[0].split())

    @classmethod
    def why(cls) -> str:
        """Why the check matters: its docstring behind the first paragraph, as one paragraph."""
        return " ".join(cls._paragraphs()[1].split())

    @classmethod
    def _paragraphs(cls) -> tuple[str, str]:
        summary, _, reason = inspect.cleandoc(cls.__dict__.get("__doc__") or "").partition("\n\n")
        return summary, reason

    def run(self, subject: S) -> list[Finding]:
        """All findings about a subject: the public entry of a check."""
        return list(self.check(subject))

    def check(self, subject: S) -> Iterator[Finding]:
        """Yields the findings about a subject; called by `run` only."""
        raise NotImplementedError

    @classmethod
    def in_file(
        cls, device: str, file: str, line: int, message: str, hint: str = "", severity: str = "", **more: Any
    ) -> Finding:
        """A finding with the severity and the remediation of the check, unless others are stated; `more`: of `Finding`."""
        fixed: dict[str, Any] = {"id": cls.id, "severity": severity or cls.severity, "hint": hint or cls.remediation}
        return Finding(device=device, file=file, line=line, message=message, **fixed, **more)

    def at(self, place: Place, message: str, device: str = "", hint: str = "", severity: str = "") -> Finding:
        """A finding in the intent."""
        return self.in_file(device, place.file, place.line, message, hint, severity, column=place.column)

    def finding_at(
        self,
        facts: Facts,
        fact: Located[object] | None,
        message: str,
        hint: str = "",
        severity: str = "",
        about: About | None = None,
        *,
        merge: Merge | None = None,
    ) -> Finding:
        """A finding in a file of a device, on the line of a fact; in its first file if there is no fact.

        Unless stated, it is about the value of the fact.
        """
        file = fact.file if fact and fact.file else facts.files[0] if facts.files else ""
        if about is None:
            about = About(got=str(fact.value)) if fact and fact.value is not None else UNKNOWN
        line = fact.line if fact else 0
        return self.in_file(facts.name, file, line, message, hint, severity, about=about, merge=merge)


class FilesCheck(Check["Network"]):
    """Compares the facts of many devices with each other, or those of one switch with its plan."""

    subject, needs = "files", "files"
    kinds: ClassVar[tuple[str, ...]] = ()  # kinds of facts whose difference from the plan is a finding
    of_component: ClassVar[bool] = False  # compares numbers that are comparable only among connected devices
    planned_remediation: ClassVar[str] = ""  # the hint for a difference from the plan, if not `remediation`
    of_device: ClassVar[bool] = False  # tests each device alone, so it runs beside a comparison with the plan as well

    def run(self, network: Network) -> list[Finding]:
        """With a plan: differences from it, and tests of single devices. Without one: comparison of the devices."""
        if not network.planned:
            parts = network.separate_networks if self.of_component else (network,)
            return [finding for part in parts for finding in self.check(part)]
        differ = [self._differs(network, one) for one in network.differences if one.key.kind in self.kinds]
        return differ + (list(self.check(network)) if self.of_device else [])

    def check(self, network: Network) -> Iterator[Finding]:
        """Yields findings that need no plan; none for a check that needs one."""
        yield from ()

    def _differs(self, network: Network, difference: Difference) -> Finding:
        (facts,) = network.devices
        file = difference.place.file or (facts.files[0] if facts.files else "")
        line, hint = difference.place.line, self.planned_remediation
        return self.in_file(network.planned, file, line, difference.message, hint, about=difference.about)


@dataclass(frozen=True)
class Design:
    """One fabric of a plan, with values that several checks use."""

    plan: Plan
    fabric: FabricPlan

    def place(self, *path: str | int) -> Place:
        """Position of a key of this fabric in the intent, or of its nearest parent that is stated."""
        return self.fabric.spec.at(*path)

    @property
    def lossless(self) -> FabricLossless:
        """Lossless class of a fabric that has one."""
        assert self.fabric.lossless is not None
        return self.fabric.lossless

    @cached_property
    def views(self) -> Views:
        """Views of its switches, as a renderer gets them."""
        from fabric.configs.targets import mtu_limit
        from fabric.configs.view_of import Views

        return Views(self.plan, self.fabric, mtu_limit(self.fabric))

    def switches(self) -> Iterator[SwitchView]:
        """The view of every Ethernet switch that has a network OS, one at a time."""
        for device in self.fabric.switches:
            if device.nos:
                yield self.views.of(device)


# --- registry of checks ---------------------------------------------------------------------------------------

C = TypeVar("C", bound=Check[Any])
HOMES = {  # subject → module or package of its checks
    "silence": "fabric.audit.checks.omitted",
    "design": "fabric.audit.checks.design",
    "files": "fabric.audit.checks.files",
    "batfish": "fabric.audit.checks.batfish",
    "state": "fabric.audit.checks.state",
    "servers": "fabric.audit.checks.servers",
    "cluster": "fabric.audit.checks.cluster",
}


@cache
def of_subject(name: str) -> tuple[type[Check[Any]], ...]:
    """Every check of a subject, by id."""
    home = HOMES[name]
    module = import_module(home)
    for part in iter_modules(getattr(module, "__path__", ())):
        import_module(f"{home}.{part.name}")
    inside = (check for check in Check.registry.values() if f"{check.__module__}.".startswith(f"{home}."))
    return tuple(sorted(inside, key=lambda check: check.id))


def every() -> tuple[type[Check[Any]], ...]:
    """Every check of every subject."""
    return tuple(check for subject in HOMES for check in of_subject(subject))


def checks(kind: type[C]) -> tuple[C, ...]:
    """One of every check of a kind, by id."""
    return tuple(check() for check in of_subject(kind.subject) if issubclass(check, kind))


def ids(*subjects: str) -> set[str]:
    """The ids of subjects' checks."""
    return {check.id for subject in subjects for check in of_subject(subject)}


def run(kind: type[Check[S]], subject: S) -> list[Finding]:
    """What the checks of a kind find in what they judge, by id."""
    return [finding for check in checks(kind) for finding in check.run(subject)]
