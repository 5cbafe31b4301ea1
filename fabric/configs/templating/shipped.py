"""The shipped templates: where they lie, and the environment that prints them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from jinja2 import BaseLoader, Environment, StrictUndefined, TemplateNotFound

from fabric.nos.target import GROUP

SYNTAX: dict[str, Any] = {
    "undefined": StrictUndefined,
    "trim_blocks": True,
    "lstrip_blocks": True,
    "keep_trailing_newline": True,
    "autoescape": False,
    "cache_size": -1,
    "auto_reload": False,
}


def templates_root(package: str = "fabric") -> Path:
    """In a wheel the templates lie inside the package, in a checkout beside it. Raises LookupError for no package."""
    found = find_spec(package)
    if found is None or found.origin is None:
        raise LookupError(package)
    folder = Path(found.origin).parent
    inside = folder / "templates"
    return inside if inside.is_dir() else folder.parent / "templates"


@cache
def _paths() -> Mapping[str, Path]:
    """Every template by its name, `eos/device.j2`: ours, and those of a network OS that another package brings."""
    paths: dict[str, Path] = {}
    for entry in entry_points(group=GROUP):
        with suppress(LookupError):
            root = templates_root(entry.module.partition(".")[0])
            paths |= {str(path.relative_to(root)): path for path in root.glob(f"{entry.name}/*.j2")}
    root = templates_root()
    return paths | {str(path.relative_to(root)): path for path in root.glob("*/*.j2")}


@cache
def shipped_templates() -> tuple[str, ...]:
    """Names of the templates that a site's own may extend: those of configurations."""
    return tuple(sorted(name for name in _paths() if "day-zero" not in name))


def template_text(name: str) -> str:
    """KeyError for one that is not there."""
    return _paths()[name].read_text(encoding="utf-8")


class ShippedLoader(BaseLoader):
    """Shipped templates by name, and no other file."""

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, None]:
        if template not in _paths():
            raise TemplateNotFound(template)
        return template_text(template), str(_paths()[template]), None


@cache
def environment() -> Environment:
    """One per process: a template is compiled once, not once a switch.

    No sandbox: these templates are part of the program, and one that a site wrote is printed by `site` alone.
    """
    return Environment(loader=ShippedLoader(), **SYNTAX)
