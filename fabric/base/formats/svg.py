"""A picture in the making: shapes and text as SVG, in layers, with room measured before a word is written.

Colours are presentation attributes, so that it looks the same in a browser, a slide and a README; a style sheet of its own
adds those of a dark page for readers who prefer one. No script.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from fabric.base.formats.palette import BASE, dark_sheet

INK, SOFT, RULE, PAPER, PANEL = (BASE[name].light for name in ("ink", "soft", "edge", "paper", "panel"))
FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"
FRAMES, RIBBONS, BOXES = range(3)  # layers, from the back

_NARROW, _WIDE = frozenset(" .,:;'|!iljtfrI()[]-·/"), frozenset("mwMW@%…—")


@dataclass(frozen=True)
class Box:
    """A rectangle of the picture."""

    x: float
    y: float
    w: float
    h: float

    @property
    def cx(self) -> float:
        return self.x + self.w / 2

    @property
    def right(self) -> float:
        return self.x + self.w

    @property
    def bottom(self) -> float:
        return self.y + self.h

    def slice(self, at: int, count: int) -> tuple[float, float]:
        """Left and right of one of `count` equal parts, with a little air between them."""
        width, air = self.w / count, min(3.0, self.w / count / 8)
        return self.x + at * width + air, self.x + (at + 1) * width - air


def text_width(text: str, size: float, bold: bool = False) -> float:
    """About how wide a text is in the fonts of `FONT`, or in DejaVu Sans where none of them is; rather too wide."""
    units = 0.0
    for letter in text:
        if letter in _NARROW:
            units += 0.34
        elif letter in _WIDE or ord(letter) > 0x2E7F:
            units += 1.0
        else:
            units += 0.74 if letter.isupper() else 0.635
    return units * size * (1.12 if bold else 1.0)


def fit(text: str, room: float, size: float, bold: bool = False) -> str:
    """The text, with its middle left out when there is no room for all of it."""
    if text_width(text, size, bold) <= room:
        return text
    for keep in range(len(text) - 1, 1, -1):
        short = f"{text[: keep // 2]}…{text[len(text) - (keep - keep // 2) :]}"
        if text_width(short, size, bold) <= room:
            return short
    return "…"


def end_that_fits(text: str, room: float, size: float, bold: bool = False) -> str:
    """The text, or as much of its end as fits: names of devices differ at their ends."""
    if text_width(text, size, bold) <= room:
        return text
    return next((f"…{text[at:]}" for at in range(1, len(text)) if text_width(f"…{text[at:]}", size, bold) <= room), "…")


def wrap(text: str, room: float, size: float, most: int) -> list[str]:
    """A name on at most `most` lines, broken after hyphens and dots; of a longer one the end, which tells it apart."""
    parts, lines = text.replace("-", "-\0").replace(".", ".\0").split("\0"), [""]
    for part in parts:
        if lines[-1] and text_width(lines[-1] + part, size) > room:
            lines.append("")
        lines[-1] += part
    if len(lines) > most:
        lines = lines[-most:]
        if text_width("…" + lines[0], size) > room and most > 1:
            lines = lines[1:]
        lines[0] = "…" + lines[0]
    return [fit(line, room, size) for line in lines]


class Canvas:
    """Collects the shapes of a picture."""

    def __init__(self) -> None:
        self._layers: tuple[list[str], ...] = ([], [], [])

    def body(self) -> str:
        """Everything drawn, back layer first."""
        return "\n".join(part for layer in self._layers for part in layer)

    def rect(
        self,
        box: Box,
        fill: str,
        stroke: str = "",
        *,
        radius: float = 6,
        dash: str = "",
        layer: int = BOXES,
        hint: str = "",
    ) -> None:
        self._layers[layer].append(
            element(
                "rect",
                "",
                hint,
                x=box.x,
                y=box.y,
                width=box.w,
                height=box.h,
                rx=radius,
                fill=fill,
                stroke=stroke,
                stroke_dasharray=dash if stroke else "",
            )
        )

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: float = 12,
        fill: str = INK,
        anchor: str = "start",
        bold: bool = False,
        room: float = 1e9,
    ) -> None:
        """One line of text; `y` is its baseline. What is wider than `room` is shortened."""
        shown = fit(text, room, size, bold)
        self._layers[BOXES].append(label(x, y, shown, size, fill=fill, anchor=anchor, bold=bold))

    def middle(self, box: Box, lines: list[str], *, size: float = 12, fill: str = INK, bold: int = 1) -> None:
        """Lines in the middle of a box, the first `bold` of them bold."""
        step = size + 4
        y = box.y + (box.h - step * len(lines)) / 2 + size
        for at, line in enumerate(lines):
            strong = at < bold
            colour = fill if strong or fill != INK else SOFT
            self.text(box.cx, y + at * step, line, size=size, fill=colour, anchor="middle", bold=strong, room=box.w - 6)

    def lines(self, ends: Iterable[tuple[float, float, float, float]], stroke: str, width: float, opacity: float) -> None:
        """Lines of one look, each from (x1, y1) to (x2, y2)."""
        path = "".join(f"M{number(a)} {number(b)}L{number(c)} {number(d)}" for a, b, c, d in ends)
        self._layers[RIBBONS].append(
            element("path", d=path, stroke=stroke, stroke_width=width, stroke_opacity=opacity, fill="none")
        )

    def ribbon(
        self, top: tuple[float, float], y1: float, low: tuple[float, float], y2: float, fill: str, opacity: float
    ) -> None:
        """A band of many links from one edge down to another."""
        bend = number((y1 + y2) / 2)
        a, b, c, d = (number(x) for x in (*top, *low))
        path = f"M{a} {number(y1)}H{b}C{b} {bend} {d} {bend} {d} {number(y2)}H{c}C{c} {bend} {a} {bend} {a} {number(y1)}Z"
        self._layers[RIBBONS].append(element("path", d=path, fill=fill, fill_opacity=opacity))

    def pill(self, cx: float, cy: float, text: str, room: float, *, size: float = 12) -> None:
        """A label that stands on links."""
        shown = fit(text, room - 24, size, True)
        width = text_width(shown, size, True) + 24
        self.rect(Box(cx - width / 2, cy - size, width, size * 2), PAPER, RULE, radius=size)
        self.text(cx, cy + size * 0.36, shown, size=size, anchor="middle", bold=True)


def number(value: float) -> str:
    """A coordinate with as few digits as it needs."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if value % 1 else str(int(value))


def element(tag: str, inner: str = "", hint: str = "", /, **attributes: object) -> str:
    """A shape. `class_` and `stroke_width` are the attributes `class` and `stroke-width`; what is "" is left out.

    Args:
        inner: markup within it.
        hint: what it says when the pointer rests on it.
    """
    names = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items() if value != ""}
    shown_attributes = "".join(f' {name}="{_value(value)}"' for name, value in names.items())
    inner += f"<title>{escape(hint)}</title>" if hint else ""
    return f"<{tag}{shown_attributes}>{inner}</{tag}>" if inner else f"<{tag}{shown_attributes}/>"


def _value(value: object) -> str:
    return number(value) if isinstance(value, int | float) else str(value)


def label(
    x: float,
    y: float,
    text: str,
    size: float = 12,
    *,
    kind: str = "",
    fill: str = "",
    anchor: str = "start",
    bold: bool = False,
) -> str:
    """A line of text; `y` is its baseline. Its colour is `fill`, or that of the class `kind` in a page's style sheet."""
    look = {"text_anchor": "" if anchor == "start" else anchor, "font_weight": "700" if bold else ""}
    return element("text", escape(text), class_=kind, x=x, y=y, font_size=size, fill=fill, **look)


def document(body: str, width: float, height: float, id: str = "", font: str = FONT, **more: str) -> str:
    """A whole file; with an `id` it has the colours of a dark page too. `more`: attributes of the root."""
    view = f"0 0 {number(width)} {number(height)}"
    sheet = element("style", dark_sheet(body, f"#{id}")) if id and dark_sheet(body, f"#{id}") else ""
    body = f"{sheet}\n{body}" if sheet else body
    root = {"xmlns": "http://www.w3.org/2000/svg", "id": id, "width": number(width), "height": number(height)}
    return element("svg", f"\n{body}\n", **root, viewBox=view, role="img", **more, font_family=font) + "\n"


def chart(body: str, width: float, height: float, label: str, kind: str = "chart") -> str:
    """A picture within a page, whose style sheet sets the colours of its classes; `label` is read by screen readers."""
    view = f"0 0 {number(width)} {number(height)}"
    return element("svg", body, class_=kind, viewBox=view, width=width, height=height, role="img", aria_label=escape(label))
