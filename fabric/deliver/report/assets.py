"""What stands in a page beside its content: style sheet, script, content policy, templates."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup, escape

from fabric.base.formats import palette
from fabric.base.formats.palette import page_sheet
from fabric.base.formats.yaml import read

# --- colours --------------------------------------------------------------------------------------------------

# Paper has no ground of its own, and ink is black
_ON_PAPER = "--panel: #ffffff; --ink: #000000; --bad-ground: #ffffff; --warn-ground: #ffffff; --good-ground: #ffffff;"


def theme() -> str:
    """The first rules of the page's style sheet."""
    light, dark = palette.variables(dark=False), palette.variables(dark=True)
    return "\n".join(
        (
            f":root {{ color-scheme: light; {light} }}",
            "@media (prefers-color-scheme: dark) {",
            f'  :root:not([data-theme="light"]) {{ color-scheme: dark; {dark} }}',
            "}",
            f':root[data-theme="dark"] {{ color-scheme: dark; {dark} }}',
            "@media print {",
            '  :root, :root:not([data-theme="light"]), :root[data-theme="dark"] '
            f"{{ color-scheme: light; {light} {_ON_PAPER} }}",
            "}",
        )
    )


# --- style, script, templates ---------------------------------------------------------------------------------

HERE = Path(__file__).parent
_TICKS = re.compile(r"`([^`\n]+)`")
_ENDS = re.compile(r"</(script|style)|<!--", re.IGNORECASE)  # what would end the script or the style sheet too early


@dataclass(frozen=True)
class Assets:
    """The style sheet and the script, as they stand in the page."""

    style: str
    script: str

    @classmethod
    def read(cls, picture: str = "", script: bool = True) -> Assets:
        """Package data, in the order of the names, and the colours of a picture within the page; a script is not needed for
        the page to be whole."""
        sheets = [theme(), _joined(sorted([*HERE.glob("*.css"), *HERE.glob("app/*.css")])), page_sheet(picture, ".still")]
        found = ["\n".join(sheets), _joined(sorted(HERE.glob("app/*.js"))) if script else ""]
        for text in found:
            if _ENDS.search(text):
                raise ValueError("the page's own style or script holds a tag that would end it")
        return cls(*found)

    @property
    def policy(self) -> str:
        """Content security policy."""
        return (
            f"default-src 'none'; style-src '{_hash(self.style)}'; "
            f"""{f"script-src '{_hash(self.script)}'; " if self.script else ""}"""
            "base-uri 'none'; form-action 'none'"
        )


def _joined(paths: list[Path]) -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(sha256(text.encode()).digest()).decode()


def _ticks(text: str) -> Markup:
    """Text with what stands between backticks as code."""
    return Markup(_TICKS.sub(r"<code>\1</code>", str(escape(text))))


@cache
def template(name: str) -> Template:
    """A template of this package."""
    environment = Environment(
        loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"ticks": _ticks, "term": _term, "anchor": _anchor}
    environment.globals["terms"] = terms
    return environment.get_template(name)


# --- terms ----------------------------------------------------------------------------------------------------


@cache
def terms() -> dict[str, str]:
    """What every figure of a page means, by the word that stands over it."""
    found = read(HERE / "terms.yaml")
    assert isinstance(found, dict)
    return found


def term_of(title: str) -> str:
    """The longest term that a title begins with: `busbw` of `busbw, GB/s`; "" where it begins with none."""
    fitting = (name for name in terms() if re.match(rf"{re.escape(name)}(?!\w)", title))
    return max(fitting, key=len, default="")


def _anchor(name: str) -> str:
    return "term-" + re.sub(r"[^a-z0-9]+", "-", name.lower())


def _term(title: str) -> Markup:
    """A title as a button that shows what it means."""
    text, name = escape(title), term_of(title)
    button = f'<button type="button" class="term" popovertarget="{_anchor(name)}">{text}</button>'
    return Markup(button if name else text)


# --- small tables ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Columns whose title begins with `#` are numbers, set to the right; `total`: the last row is a sum. Terms are the titles
    of the columns, or `by_row` the first cell of each row."""

    caption: str
    titles: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    total: bool = False
    by_row: bool = False

    @property
    def head(self) -> list[tuple[str, bool]]:
        """(title, whether the column is of numbers)."""
        return [(title.removeprefix("#"), title.startswith("#")) for title in self.titles]

    @property
    def lines(self) -> list[list[tuple[str, bool]]]:
        """Cells with whether each is a number."""
        numbers = [title.startswith("#") for title in self.titles]
        return [list(zip(row, numbers, strict=True)) for row in self.rows]


def grid(
    caption: str,
    titles: Sequence[str],
    rows: Iterable[Sequence[object]],
    note: str = "",
    *,
    total: bool = False,
    by_row: bool = False,
) -> Grid:
    """Cells as text; columns that are empty throughout are left out."""
    cells = [[str(cell) for cell in row] for row in rows]
    kept = [at for at in range(len(titles)) if any(row[at] for row in cells)]
    return Grid(
        caption=caption,
        titles=tuple(titles[at] for at in kept),
        rows=tuple(tuple(row[at] for at in kept) for row in cells),
        note=note,
        total=total,
        by_row=by_row,
    )
