"""The shipped templates: where they lie, and the environment that prints them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import BaseLoader, Environment, StrictUndefined, TemplateNotFound

import fabric

SYNTAX: dict[str, Any] = {
    "undefined": StrictUndefined,
    "trim_blocks": True,
    "lstrip_blocks": True,
    "keep_trailing_newline": True,
    "autoescape": False,
    "cache_size": -1,
    "auto_reload": False,
}


def templates_root() -> Path:
    """In a wheel the templates lie inside the package, in a checkout beside it."""
    package = Path(fabric.__file__).parent
    inside = package / "templates"
    return inside if inside.is_dir() else package.parent / "templates"


@cache
def shipped_templates() -> tuple[str, ...]:
    """Names of the shipped templates, `eos/device.j2`: what a site's template may extend."""
    root = templates_root()
    return tuple(sorted(str(path.relative_to(root)) for path in root.glob("*/*.j2")))


class ShippedLoader(BaseLoader):
    """Shipped templates by name, and no other file."""

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, None]:
        if template not in shipped_templates():
            raise TemplateNotFound(template)
        path = templates_root() / template
        return path.read_text(encoding="utf-8"), str(path), None


@cache
def environment() -> Environment:
    """One per process: a template is compiled once, not once a switch.

    No sandbox: these templates are part of the program, and one that a site wrote is printed by `site` alone.
    """
    return Environment(loader=ShippedLoader(), **SYNTAX)
