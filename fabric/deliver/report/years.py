"""A year of each design as a bar of its causes."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from fabric.base.formats import chart, element, fit
from fabric.base.text import percent

WIDTH, NAME, ROW, BAR = 900.0, 200.0, 30.0, 20.0
SERIES = 6


def years(designs: Sequence[tuple[str, Sequence[float]]], causes: Sequence[str]) -> str:
    """Bars of the shares that are lost, on one scale, with a key. The rest of the year computes."""
    scale = max((sum(shares) for _, shares in designs), default=0.0) or 1.0
    room, parts = WIDTH - NAME - 90, list[str]()
    for row, (name, shares) in enumerate(designs):
        y, x = 4 + row * ROW, NAME
        parts.append(_text(NAME - 8, y + 14, fit(name, NAME - 12, 12), "end"))
        for at, share in enumerate(shares):
            width = share / scale * room
            if width >= 0.05:
                hint = f"{name}: {causes[at]} {percent(share)}"
                area = {"x": round(x, 2), "y": y, "width": round(width, 2), "height": BAR}
                parts.append(element("rect", "", hint, class_=f"fill-{at % SERIES + 1}", **area))
            x += width
        parts.append(_text(x + 8, y + 14, f"{percent(sum(shares))} lost", "start"))
    y = 12 + len(designs) * ROW
    for at, cause in enumerate(causes):
        x = NAME + (at % 3) * 230
        line = y + (at // 3) * 20
        parts.append(element("rect", class_=f"fill-{at % SERIES + 1}", x=x, y=line, width=14, height=10))
        parts.append(_text(x + 20, line + 10, cause, "start"))
    height = y + ((len(causes) + 2) // 3) * 20 + 4
    words = "; ".join(f"{name} {percent(sum(shares))}" for name, shares in designs)
    return chart("".join(parts), WIDTH, height, f"Share of the year that is lost: {words}")


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return element("text", escape(text), class_="soft", x=round(x, 1), y=round(y, 1), font_size=12, text_anchor=anchor)
