"""A fabric as its switches are configured, beside what its topology alone gives them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from fabric.configs.generate import Renderer
from fabric.deliver.brownfield.sections.probes import LISTS, VALUES, Document, Key, learned
from fabric.deliver.brownfield.survey.devices import lines_of
from fabric.deliver.brownfield.survey.records import Cable, Inference, Survey, Switch
from fabric.model.plan import LEAF, FabricPlan, Plan, SwitchView

SAMPLES = 4  # switches of one role and network OS whose statements are read
T = TypeVar("T")


def merged(document: Mapping[str, Any], over: Mapping[str, Any]) -> Document:
    """A document with the keys of another one laid over it."""
    result = dict(document)
    for key, value in over.items():
        below = result.get(key)
        result[key] = merged(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else deepcopy(value)
    return result


def most_common(values: Iterable[T]) -> T | None:
    """The value of most, of several the first; None for none."""
    counted = Counter(values)
    return max(counted, key=lambda value: counted[value]) if counted else None


@dataclass(frozen=True, kw_only=True)
class Running:
    """The switches of a fabric, and what the topology alone gives them.

    Attributes:
        plan: of the intent without the sections that are to be found; None where it cannot be planned.
    """

    name: str
    switches: Sequence[Switch]
    survey: Survey
    document: Document
    plan: Plan | None
    inferences: list[Inference] = field(default_factory=list)

    @cached_property
    def samples(self) -> Sequence[Switch]:
        """A few switches of each role and network OS."""
        by_kind: dict[tuple[str, str], list[Switch]] = {}
        for switch in self.switches:
            if switch.facts is not None:
                by_kind.setdefault((switch.role, switch.nos), []).append(switch)
        return [switch for kind in by_kind.values() for switch in kind[:: max(1, len(kind) // SAMPLES)][:SAMPLES]]

    @cached_property
    def by_name(self) -> Mapping[str, Switch]:
        """Every switch of the fabric."""
        return {its.name: its for its in self.switches}

    @cached_property
    def links(self) -> Sequence[Cable]:
        """Cables between two of its switches."""
        names = {its.name for its in self.switches}
        return [cable for cable in self.survey.cables if cable.a in names and cable.b in names]

    @cached_property
    def lines(self) -> Mapping[str, Mapping[str, str]]:
        """Their statements, each with its place."""
        return {its.name: self.lines_of(its) for its in self.samples}

    def lines_of(self, switch: Switch) -> Mapping[str, str]:
        """The statements of a switch."""
        return lines_of(switch.nos, switch.facts.texts) if switch.facts is not None else {}

    @property
    def configured(self) -> bool:
        """Whether configs were read: another source does not tell what it leaves out."""
        return any(its.facts is not None and its.facts.statements for its in self.samples)

    @cached_property
    def fabric(self) -> FabricPlan | None:
        """The fabric in the plan."""
        return self.plan.fabrics.get(self.name) if self.plan is not None else None

    @cached_property
    def usual(self) -> SwitchView | None:
        """The view of a leaf where nothing but the topology is stated."""
        if self.plan is None or self.fabric is None:
            return None
        leaf = next((device for device in self.fabric.switches if device.role == LEAF and device.nos), None)
        return Renderer(self.plan, Path()).views[self.name].of(leaf) if leaf is not None else None

    def found(self, key: Key) -> Any:
        """The value of a key on most switches, None where no statement has it."""
        values = {its.name: value for its in self.samples if (value := self.value(its, key)) is not None}
        if key[-1] in LISTS:  # some network OSes have a part of a list alone, and some sort it
            systems = dict.fromkeys(its.nos for its in self.samples)
            parts = [
                most_common(values[its.name] for its in self.samples if its.nos == nos and its.name in values)
                for nos in systems
            ]
            known = sorted((part for part in parts if part), key=lambda part: part == tuple(sorted(part)))
            value = tuple(dict.fromkeys(item for part in known for item in part)) or None
        else:
            value = most_common(values.values())
        if value is not None:
            self._note(key, value, values)
        return value

    def _note(self, key: Key, value: Any, values: Mapping[str, Any]) -> None:
        """Says from what a value is, and which switches have another one."""
        others = [f"{name} has {shown(other)}" for name, other in values.items() if key[-1] not in LISTS and other != value]
        first = next((name for name, other in values.items() if other == value), next(iter(values)))
        its = self.by_name[first]
        source = f"statements of {len(values) - len(others)} of {len(self.samples)} switches that were read"
        self.note(".".join(key), shown(value), "; ".join((source, *others)), self._place(its, key))

    def note(self, what: str, value: str, source: str, place: str = "") -> None:
        """Keeps where a value is from."""
        self.inferences.append(Inference(subject=f"fabric {self.name}", what=what, value=value, source=source, place=place))

    def _place(self, switch: Switch, key: Key) -> str:
        places = learned(switch.nos, switch.release).places.get(key, ())
        lines = self.lines[switch.name]
        return next((lines[line] for line in lines if any(one.pattern.fullmatch(line) for one in places)), "")

    def chosen(self, key: Key) -> Any:
        """The same of a key with few values; None is the default, also of what no config states."""
        if not self.configured:
            return None
        known = [(its, learned(its.nos, its.release)) for its in self.samples]
        return most_common(own.choice(key, self.lines[its.name]) for its, own in known if own.signs.get(key))

    def value(self, switch: Switch, key: Key) -> Any:
        values = learned(switch.nos, switch.release).values(key, self.lines[switch.name])
        return typed(key, values, VALUES[key][0])


def shown(value: Any) -> str:
    """A value as a person reads it."""
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def typed(key: Key, values: Sequence[tuple[str, int]], example: Any) -> Any:
    """The texts at the places of a key as its value; None for none."""
    if key[-1] in LISTS:
        words = (word.strip("\"'") for text, _ in values for word in text.replace(",", " ").strip("[]{} ").split())
        return tuple(dict.fromkeys(words)) or None
    if not values:
        return None
    text, unit = values[0]
    if isinstance(example, int):
        return int(text) // unit
    return text
