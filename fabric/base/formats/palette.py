"""The colours of every picture: page, SVG, plot, Mermaid, draw.io. Each has a tone for a light page and one for a dark page.

Text and lines have a contrast of at least 4.5 to 1 on their paper (WCAG 2.1, AA), and text on a ground too. The roles stay
apart for readers who see no red, green or blue: they differ in lightness, not in hue alone.
`tests/base/formats/test_palette.py` computes both.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Colour:
    """One colour on a light page and on a dark one, as `#rrggbb`."""

    light: str
    dark: str


@dataclass(frozen=True)
class Tone:
    """One colour of a light page: as a line or a filled square, and as the ground of a rectangle."""

    line: str
    ground: str


BASE = {
    "paper": Colour("#ffffff", "#12171f"),
    "panel": Colour("#f3f5f8", "#1b232e"),
    "ink": Colour("#1b2430", "#eef2f7"),
    "soft": Colour("#4b5868", "#a9b4c2"),
    "edge": Colour("#9aa6b4", "#56657a"),  # of a frame
    "rule": Colour("#d3dae3", "#323d4c"),  # of a grid
    "accent": Colour("#1d4ed8", "#7fb3ff"),
    "on-accent": Colour("#fefefe", "#0b1420"),
    "bad": Colour("#b01b1b", "#ff9a9a"),
    "bad-ground": Colour("#fdeaea", "#43191d"),
    "warn": Colour("#8a4b00", "#f0b95c"),
    "warn-ground": Colour("#fdebcf", "#3d2c10"),
    "good": Colour("#1c6b3c", "#7ed3a0"),
    "good-ground": Colour("#dcf3e4", "#15351f"),
}

ROLES = {
    "server": Colour("#566272", "#a3aebc"),
    "server-ground": Colour("#f2f4f7", "#2b323c"),
    "leaf": Colour("#1554b0", "#7ab3ff"),
    "leaf-ground": Colour("#cbe0ff", "#164381"),
    "spine": Colour("#9a4200", "#ffb25c"),
    "spine-ground": Colour("#ffe0b3", "#523005"),
    "core": Colour("#5a1a73", "#f6d2ff"),
    "core-ground": Colour("#d9abea", "#3f0f4f"),
    "attached": Colour("#52627a", "#b4c0d0"),
    "attached-ground": Colour("#fdfdfe", "#161c25"),  # dashed wherever it is drawn
}

SERIES = (  # lines of a chart, in this order; colour is never the only sign: each line has its name beside it
    Colour("#1d5fc4", "#7db2ff"),
    Colour("#a84a08", "#ffa766"),
    Colour("#1e7a4a", "#6fd39b"),
    Colour("#7c3aad", "#cfa2f5"),
    Colour("#a8323e", "#ff8f99"),
    Colour("#0e7490", "#5fd0e6"),
    Colour("#6b5b00", "#dcc75a"),
    Colour("#52627b", "#a9b7c9"),
)

NEUTRAL = (Colour("#52627a", "#b4c0d0"), Colour("#e6ebf2", "#27313e"))
PLANES = (  # line and ground
    (Colour("#1d5fc4", "#7db2ff"), Colour("#dbe8fd", "#1a3052")),
    (Colour("#a84a08", "#ffa766"), Colour("#fde8d3", "#43270f")),
    (Colour("#1e7a4a", "#6fd39b"), Colour("#d9f2e3", "#17382a")),
    (Colour("#7c3aad", "#cfa2f5"), Colour("#eedffa", "#35214a")),
)
RAILS = (
    Colour("#1b6ca8", "#74bdf2"),
    Colour("#b4501a", "#ffab7a"),
    Colour("#2e7a35", "#85d68d"),
    Colour("#8e3b9e", "#e2a0ef"),
    Colour("#a8323f", "#ff9aa4"),
    Colour("#00707a", "#5cd1db"),
    Colour("#6f5d00", "#dcc95e"),
    Colour("#4a4fb5", "#aeb2ff"),
)
RAIL_GROUND = Colour("#eef1f5", "#222b37")

LOADS = {  # of a link: pale to strong up to its capacity, then a warning
    "load-idle": Colour("#ebedf0", "#222d3b"),
    "load-0": Colour("#bfd7f2", "#2f5276"),
    "load-1": Colour("#94bbe6", "#356a9f"),
    "load-2": Colour("#6599d3", "#4481c2"),
    "load-3": Colour("#447bba", "#629fe0"),
    "load-4": Colour("#2a5794", "#98c5f4"),
    "load-5": Colour("#f3b63f", "#f2c14e"),
    "load-6": Colour("#dd6b20", "#f08a3a"),
    "load-7": Colour("#a90f2b", "#ff5d6c"),
    "load-dead": Colour("#0b0d10", "#fafcff"),
}

DRAWN = {  # what a drawing may have as the value of an attribute
    **BASE,
    **ROLES,
    **{f"series-{at}": colour for at, colour in enumerate(SERIES, 1)},
    **dict(zip(("neutral", "neutral-ground"), NEUTRAL, strict=True)),
    **{f"plane-{at}": line for at, (line, _) in enumerate(PLANES, 1)},
    **{f"plane-{at}-ground": ground for at, (_, ground) in enumerate(PLANES, 1)},
    **{f"rail-{at}": colour for at, colour in enumerate(RAILS, 1)},
    "rail-ground": RAIL_GROUND,
}
NAMED = {**DRAWN, **LOADS}


def role(name: str) -> Tone:
    """The colours of a role: `server`, `leaf`, `spine`, `core` or `attached`."""
    return Tone(ROLES[name].light, ROLES[f"{name}-ground"].light)


def variables(dark: bool) -> str:
    """The colours as custom properties of CSS: `--ink: #1b2430; …`."""
    return " ".join(f"--{name}: {colour.dark if dark else colour.light};" for name, colour in NAMED.items())


def dark_sheet(body: str, within: str) -> str:
    """A style sheet that turns the colours of a drawing into those of a dark page where the reader prefers one.

    The drawing keeps its light colours as attributes: a program that knows no style sheets shows those.

    Args:
        body: the markup of the drawing; only colours that stand in it are in the sheet.
        within: selector of the drawing, as `#fabric`.
    """
    rules = _rules(body, within, {colour.light: colour.dark for colour in DRAWN.values()})
    return f"@media (prefers-color-scheme:dark){{{rules}}}" if rules else ""


def page_sheet(body: str, within: str) -> str:
    """The same for a drawing within a page that has the colours as custom properties."""
    return _rules(body, within, {colour.light: f"var(--{name})" for name, colour in DRAWN.items()})


def _rules(body: str, within: str, instead: dict[str, str]) -> str:
    used = [(light, what) for light in sorted(instead) for what in ("fill", "stroke") if f'{what}="{light}"' in body]
    return "".join(f'{within} [{what}="{light}"]{{{what}:{instead[light]}}}' for light, what in used)
