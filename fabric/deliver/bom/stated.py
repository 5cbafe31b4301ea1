"""Power that a price file states of switches and servers: each figure takes the place of the catalog's."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TypeVar

from fabric.base.diagnostics import nearest, show
from fabric.hardware.catalog.models import Record, SwitchModel
from fabric.hardware.catalog.power_class import MAX, TYPICAL
from fabric.solver import Fields

_MAX_W = 1_000_000
_KEYS = {TYPICAL: "typical_w", MAX: "max_w"}
_HELD = "includes_optics"
Model = TypeVar("Model", bound=Record)


@dataclass(frozen=True, slots=True)
class StatedPower:
    """Of one model; None: not stated, the catalog's figure applies."""

    typical_w: int | None = None
    max_w: int | None = None
    includes_optics: tuple[str, ...] = ()  # which of the two hold a full set of optics

    def of(self, model: Model) -> Model:
        """The model with these figures. Whether a figure holds optics goes with the figure."""
        figures = {f"power_{key}": getattr(self, key) for key in _KEYS.values()}
        return model.model_copy(
            update={key: watts for key, watts in figures.items() if watts is not None} | self._held(model)
        )

    def _held(self, model: Record) -> dict[str, object]:
        """Figures that include optics: as stated here for the figures stated here, else as in the catalog."""
        if not isinstance(model, SwitchModel):
            return {}
        kept = [name for name in model.power_includes_optics if getattr(self, _KEYS[name]) is None]
        return {"power_includes_optics": (*kept, *self.includes_optics)}


def read_power(section: Fields, switches: Collection[str], servers: Collection[str]) -> dict[str, StatedPower]:
    """The section `power` by the catalog's names; `switches` and `servers` are those it may name."""
    section.refuse_unknown([*switches, *servers])
    stated = {}
    for name in section:
        if name not in switches and name not in servers:
            continue
        value = section.value(name)
        inner = section.section(name) if isinstance(value, dict) else None
        if inner is None or not any(key in inner for key in _KEYS.values()):
            message = f"expected typical_w, max_w or both, got {show(value)}"
            section.error(name, message, f"`{name}: {{typical_w: 700, max_w: 1000}}`, watts of one device")
        if inner is not None:
            stated[name] = _stated(inner, name in switches)
    return stated


def _stated(inner: Fields, switch: bool) -> StatedPower:
    inner.refuse_unknown((*_KEYS.values(), _HELD))
    watts = {name: inner.whole(key, 0, 1, _MAX_W) or None for name, key in _KEYS.items()}
    typical, most, held = watts[TYPICAL], watts[MAX], _held(inner, switch)
    if typical and most and most < typical and held != (TYPICAL,):
        inner.error(
            _KEYS[MAX], f"expected typical_w, {typical}, or more, got {most}", "check whether the two figures are swapped"
        )
    return StatedPower(typical, most, held)


def _held(inner: Fields, switch: bool) -> tuple[str, ...]:
    """`includes_optics`, of figures that stand beside it."""
    if _HELD not in inner:
        return ()
    words = inner.value(_HELD)
    if not switch:
        message = "expected for switches only: optics in NICs count as part of the network"
        inner.error(_HELD, message, "remove it; state the power of the server without its optics")
        return ()
    if not isinstance(words, list) or not words:
        inner.error(_HELD, f"expected a list of {' and '.join(_KEYS)}, got {show(words)}", "use `[max]`, or `[typical, max]`")
        return ()
    for word in words:
        if word not in tuple(_KEYS):
            inner.error(_HELD, f"expected {' or '.join(_KEYS)}, got {show(word)}", nearest(word, _KEYS))
        elif _KEYS[word] not in inner:
            message = f"{word}: {_KEYS[word]} is missing"
            inner.error(_HELD, message, f"add `{_KEYS[word]}: …` beside it")
    return tuple(name for name in _KEYS if name in words)
