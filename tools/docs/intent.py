"""docs/intent.md: reference of the intent language, generated from its models.

Run as `python -m tools.docs.intent`.
"""

from __future__ import annotations

from typing import Any

from fabric.design.intent.load import schema
from tools.docs.ending import ending
from tools.docs.intent_examples import example, key_page, section_page
from tools.docs.language import sections

HEAD = """\
# The intent language

An intent is one YAML file per site. All keys except `version`, `site`, `fabrics`, `servers` and a switch have defaults.
The line `# yaml-language-server: $schema=fabric.schema.json` at the top, with the output of `fabric schema` in that file,
lets editors complete keys and mark errors.

An example stands below the path of its section: under `fabrics.NAME.topology`, `rails: 4` is
`fabrics: {backend: {topology: {rails: 4}}}`. A test plans every example in a whole intent.

"""
END = ending(
    "make docs",
    "[How-to pages](README.md#how-to): one question each, with an intent to copy.",
    "[sizing.md](sizing.md): how the plan follows from these keys.",
    "[files.md](files.md): what is generated from them.",
)


def page() -> str:
    """The whole page as Markdown."""
    return HEAD + "\n".join([*(_section(path, node) for path, node in sections()), END])


def _section(path: str, node: dict[str, Any]) -> str:
    description = " ".join([*node.get("description", "").split(), f"Explained in {_link(section_page(path))}."])
    lines = [f"## {f'`{path}`' if path else 'A site'}", "", description, ""]
    lines += ["| key | value | default | example | meaning |", "|---|---|---|---|---|"]
    lines += [_row(path, key, field, key in node.get("required", ())) for key, field in node["properties"].items()]
    return "\n".join([*lines, ""])


def _row(path: str, key: str, field: dict[str, Any], required: bool) -> str:
    default = "**required**" if required else _default(field.get("default"))
    page = key_page(path, key)
    meaning = "; ".join(filter(None, [field.get("description", ""), page and f"see {_link(page)}"]))
    cells = (f"`{key}`", _type(field, schema()), default, f"`{example(path, key)}`", meaning)
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


def _link(page: str) -> str:
    """A page by its file name, as the other pages are named on GitHub; the site shows its title."""
    return f"[{page.partition('#')[0]}]({page})"


def _default(value: Any) -> str:
    if value is None or value in ("", (), [], {}) or isinstance(value, dict):
        return ""
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _type(field: dict[str, Any], whole: dict[str, Any]) -> str:
    """Type of a key's value, in a few words."""
    if "$ref" in field:
        name = field["$ref"].rsplit("/", 1)[1]
        target = whole["$defs"][name]
        return "mapping" if target.get("type") == "object" else _type(target, whole)
    if "anyOf" in field:
        parts = [_type(branch, whole) for branch in field["anyOf"] if branch.get("type") != "null"]
        return " or ".join(dict.fromkeys(parts))
    if "const" in field:
        return f"`{field['const']}`"
    if "enum" in field:
        return ", ".join(f"`{choice}`" for choice in field["enum"])
    kind = field.get("type", "")
    if kind == "array":
        return f"list of {_type(field.get('items', {}), whole)}"
    if kind in ("integer", "number"):
        return ("number" if kind == "number" else "whole number") + _bounds(field)
    if kind == "object":
        inner: Any = field.get("additionalProperties") or next(iter(field.get("patternProperties", {}).values()), {})
        return f"name → {_type(inner, whole)}" if isinstance(inner, dict) and inner else "mapping"
    return {"string": "text", "boolean": "`true` or `false`"}.get(kind, "anything")


def _bounds(field: dict[str, Any]) -> str:
    low, high, above = (field.get(key) for key in ("minimum", "maximum", "exclusiveMinimum"))
    if low is not None and high is not None:
        return f", {low:,} to {high:,}"
    if above is not None:
        return f" above {above:g}" + (f", at most {high:,}" if high is not None else "")
    return f", at least {low:,}" if low is not None else ""


if __name__ == "__main__":
    print(page(), end="")
