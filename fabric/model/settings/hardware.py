"""Own hardware of a site, in the form of the shipped catalog."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from fabric.base.diagnostics import show
from fabric.hardware import catalog
from fabric.hardware.catalog.models import Breakout, ServerModel, SwitchModel
from fabric.model.settings.base import FILLED_IN, NOT_FILLED_IN, Key, Model

_SONIC_FORMS = {
    "sonic.alias": (r"([^{}]|\{cage\})*", "a name with {cage}, such as etp{cage},"),
    "sonic.split_alias": (
        r"([^{}]|\{(alias|cage|letter|sub|lane)\})*",
        "fields among {alias}, {cage}, {letter}, {sub} and {lane}",
    ),
    "sonic.lanes": (r"[0-9]{1,4}(-[0-9]{1,4}|(,[0-9]{1,4})*)", "lanes such as 0-7 or 17,18,19,20"),
}
_WITH_FIELDS = ("sonic.alias", "sonic.split_alias")  # `${alias}` would become $etp1


def _printable(model: Any) -> Any:
    """Texts of own hardware go into configs: one line each, and no pattern that Python's format would evaluate."""
    for path, text in _texts(model.model_dump(), ""):
        if not text.isprintable():
            raise ValueError(f"expected one line of text without control characters in {path}, got {show(text)}")
        if "$" in text if path in _WITH_FIELDS else FILLED_IN.search(text):
            raise ValueError(f"{NOT_FILLED_IN}; got {show(text)} in {path}")
        if text.startswith(("=", "+", "-", "@")):
            raise ValueError(f"expected no text that a spreadsheet takes for a formula in {path}, got {show(text)}")
        form, expected = _SONIC_FORMS.get(path.partition("[")[0], ("(?s).*", ""))
        if not re.fullmatch(form, text):
            raise ValueError(f"expected {expected} in {path}, got {show(text)}")
    return model


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            inner = f"{path}.{key}" if path else str(key)
            yield show(inner), key
            yield from _texts(item, inner)
    elif isinstance(value, list | tuple):
        for at, item in enumerate(value):
            yield from _texts(item, f"{path}[{at}]")


class OwnCatalog(Key):
    """Hardware of this site, beside the shipped catalog."""

    switches: dict[Model, Annotated[SwitchModel, AfterValidator(_printable)]] = Field(
        default_factory=dict, description="switches by name"
    )
    servers: dict[Model, Annotated[ServerModel, AfterValidator(_printable)]] = Field(
        default_factory=dict, description="servers by name"
    )
    breakouts: dict[Model, tuple[Breakout, ...]] = Field(
        default_factory=dict,
        description="switch → breakouts that it has beside those of the catalog: `{qfx5130-32cd: [2x200]}`",
    )

    def switch(self, name: str) -> SwitchModel | None:
        """The switch of that name: of the site, shipped, or generic, with the site's further breakouts; else None."""
        model = catalog.switch(name, self.switches)
        return model.with_breakouts(self.breakouts[name]) if model is not None and name in self.breakouts else model
