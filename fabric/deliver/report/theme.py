"""The page's colours: the palette as custom properties; dark by the reader's system or choice, light on paper."""

from __future__ import annotations

from fabric.base.formats import palette

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
