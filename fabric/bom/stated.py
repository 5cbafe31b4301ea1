"""Power that a price file states of switches and servers: each figure takes the place of the catalog's."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TypeVar

from fabric.bom.power import MAX, TYPICAL
from fabric.catalog.models import ServerModel, SwitchModel
from fabric.diagnostics import nearest, show
from fabric.solver.fields import Fields

_MOST_W = 1_000_000
_KEYS = {TYPICAL: "typical_w", MAX: "max_w"}
Model = TypeVar("Model", SwitchModel, ServerModel)


@dataclass(frozen=True, slots=True)
class Stated:
    """Of one model; None: the file does not say, and the catalog's figure stays."""

    typical_w: int | None = None
    max_w: int | None = None
    includes_optics: tuple[str, ...] = ()  # which of the two hold a full set of optics

    def of(self, model: Model) -> Model:
        """The model with these figures. Whether a figure holds optics goes with the figure."""
        told = {TYPICAL: self.typical_w, MAX: self.max_w}
        update: dict[str, object] = {f"power_{_KEYS[name]}": watts for name, watts in told.items() if watts is not None}
        if isinstance(model, SwitchModel):
            kept = tuple(name for name in model.power_includes_optics if told[name] is None)
            update["power_includes_optics"] = (*kept, *self.includes_optics)
        return model.model_copy(update=update)


def read_power(section: Fields, switches: Collection[str], servers: Collection[str]) -> dict[str, Stated]:
    """The section `power` by the catalog's names; `switches` and `servers` are those it may name."""
    section.refuse_unknown([*switches, *servers])
    found = {}
    for name in section:
        if name not in switches and name not in servers:
            continue
        if not isinstance(section.value(name), dict):
            message = f"expected a mapping of typical_w and max_w, got {show(section.value(name))}"
            section.error(name, message, f"`{name}: {{typical_w: 700, max_w: 1000}}`")
            continue
        inner = section.section(name)
        assert inner is not None
        found[name] = _stated(inner, name in switches)
    return found


def _stated(inner: Fields, switch: bool) -> Stated:
    inner.refuse_unknown((*_KEYS.values(), "includes_optics"))
    told = {name: inner.whole(key, 0, 1, _MOST_W) or None for name, key in _KEYS.items() if key in inner}
    if not any(key in inner for key in _KEYS.values()):
        inner.error("", "expected typical_w, max_w or both", "watts of one box with passive cables: `{typical_w: 700}`")
    held = _held(inner, switch)
    typical, most = told.get(TYPICAL), told.get(MAX)
    if typical and most and most < typical and (TYPICAL in held) <= (MAX in held):
        inner.error("max_w", f"expected typical_w ({typical}) or more, got {most}", "are the two figures swapped?")
    return Stated(typical, most, held)


def _held(inner: Fields, switch: bool) -> tuple[str, ...]:
    """`includes_optics`, of figures that stand beside it."""
    key = "includes_optics"
    if key not in inner:
        return ()
    words = inner.value(key)
    if not switch:
        message = "expected this of switches alone; optics in NICs are counted with the network"
        inner.error(key, message, "state what the server draws without them")
        return ()
    if not isinstance(words, list) or not words:
        inner.error(key, f"expected a list of {' and '.join(_KEYS)}, got {show(words)}", "`[max]`, or `[typical, max]`")
        return ()
    for word in words:
        if word not in _KEYS:
            inner.error(key, f"expected {' or '.join(_KEYS)}, got {show(word)}", nearest(word, _KEYS))
        elif _KEYS[word] not in inner:
            inner.error(key, f"{word}: expected {_KEYS[word]} beside it, it is missing", "the catalog knows of its own figures")
    return tuple(name for name in _KEYS if name in words)
