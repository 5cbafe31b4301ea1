"""The palette, as readers see it: contrast by WCAG 2.1, and the roles for readers who lack a kind of cone.

Colour vision: Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency",
IEEE TVCG 15(6), 2009, matrices of severity 1.0. Distances: CIE 1976 L*a*b*, white D65.
"""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from fabric.base.formats import palette
from fabric.base.formats.palette import BASE, DRAWN, LOADS, NAMED, ROLES, SERIES, Colour, dark_sheet, page_sheet
from fabric.deliver.export.svg import svg, svg_plane, svg_racks, svg_rail
from fabric.model.plan import ATTACHED, CORE, LEAF, SERVER, SPINE
from tests.deliver.export.diagrams import DESIGNS, plan

Vector = NDArray[np.float64]
VISION = {
    "all cones": np.eye(3),
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
XYZ = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
DARKNESS = ["light", "dark"]


def linear(colour: str) -> Vector:
    value = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    low, high = sorted(float(np.array([0.2126, 0.7152, 0.0722]) @ linear(colour)) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def lab(rgb: Vector) -> Vector:
    x = np.array(XYZ) @ np.clip(rgb, 0, 1) / np.array([0.95047, 1.0, 1.08883])
    f = np.where(x > 0.008856, np.cbrt(x), 7.787 * x + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def on(colour: Colour, page: str) -> str:
    found: str = getattr(colour, page)
    return found


@pytest.mark.parametrize("page", DARKNESS)
def test_text_and_lines_have_contrast(page: str) -> None:
    paper, panel, ink = (on(BASE[name], page) for name in ("paper", "panel", "ink"))
    lines = {name: on(colour, page) for name, colour in DRAWN.items() if not name.endswith("ground")}
    lines = {name: colour for name, colour in lines.items() if name not in ("paper", "panel", "edge", "rule", "on-accent")}
    assert {name: round(contrast(colour, paper), 1) for name, colour in lines.items() if contrast(colour, paper) < 4.5} == {}
    assert min(contrast(on(BASE[name], page), panel) for name in ("ink", "soft", "bad", "warn", "good", "accent")) >= 4.5
    grounds = [name for name in DRAWN if name.endswith("-ground")]
    assert min(contrast(ink, on(DRAWN[name], page)) for name in grounds) >= 4.5
    assert contrast(on(BASE["on-accent"], page), on(BASE["accent"], page)) >= 4.5


@pytest.mark.parametrize("page", DARKNESS)
def test_a_role_is_read_on_its_own_ground(page: str) -> None:
    for name in (SERVER, LEAF, SPINE, CORE, ATTACHED, "plane-1", "plane-2", "plane-3", "plane-4", "good", "warn", "bad"):
        assert contrast(on(DRAWN[name], page), on(DRAWN[f"{name}-ground"], page)) >= 4.5, name


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("page", DARKNESS)
@pytest.mark.parametrize(("ending", "least"), [("", 15.0), ("-ground", 12.0)])
def test_roles_stay_apart(vision: str, page: str, ending: str, least: float) -> None:
    """2.3 is a difference that is just seen; those of the four tiers are at least five times as large."""
    seen = {
        name: lab(np.array(VISION[vision]) @ linear(on(ROLES[name + ending], page))) for name in (SERVER, LEAF, SPINE, CORE)
    }
    near = {f"{a}, {b}": float(np.linalg.norm(seen[a] - seen[b])) for a, b in combinations(seen, 2)}
    assert min(near.values()) >= least, near


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("page", DARKNESS)
def test_a_load_over_capacity_stands_out(vision: str, page: str) -> None:
    seen = {name: lab(np.array(VISION[vision]) @ linear(on(colour, page))) for name, colour in LOADS.items()}
    fits, over = [f"load-{at}" for at in ("idle", 0, 1, 2, 3, 4)], [f"load-{at}" for at in (5, 6, 7)]
    assert min(float(np.linalg.norm(seen[a] - seen[b])) for a in fits for b in over) >= 12


def test_every_colour_has_one_dark_tone() -> None:
    tones: dict[str, set[str]] = {}
    for colour in NAMED.values():
        tones.setdefault(colour.light, set()).add(colour.dark)
    assert {light: dark for light, dark in tones.items() if len(dark) > 1 and light not in _shared()} == {}
    assert all(re.fullmatch("#[0-9a-f]{6}", tone) for colour in NAMED.values() for tone in (colour.light, colour.dark))
    assert len(SERIES) == len({colour.light for colour in SERIES})


def _shared() -> set[str]:
    """Colours of loads are drawn by class, never as an attribute: they may share a light tone with another."""
    return {colour.light for colour in LOADS.values()}


@pytest.mark.parametrize("design", DESIGNS)
def test_a_drawing_is_of_the_palette_alone(design: str) -> None:
    """So that none of its colours is left behind on a dark page."""
    for draw in (svg, svg_rail, svg_plane, svg_racks):
        text = draw(plan(design))
        used = set(re.findall(r'(?:fill|stroke)="(#[0-9a-f]{6})"', text))
        assert used <= {colour.light for colour in DRAWN.values()}
        rules = dict(re.findall(r'#fabric \[fill="(#[0-9a-f]{6})"\]\{fill:(#[0-9a-f]{6})\}', text))
        assert set(re.findall(r' fill="(#[0-9a-f]{6})"', text)) <= set(rules)


def test_sheets_name_what_is_drawn_and_nothing_else() -> None:
    drawn = f'<rect fill="{palette.role(LEAF).ground}" stroke="#123456"/>'
    light, dark = ROLES["leaf-ground"].light, ROLES["leaf-ground"].dark
    assert dark_sheet(drawn, "#a") == f'@media (prefers-color-scheme:dark){{#a [fill="{light}"]{{fill:{dark}}}}}'
    assert page_sheet(drawn, ".a") == f'.a [fill="{light}"]{{fill:var(--leaf-ground)}}'
    assert dark_sheet("<rect/>", "#a") == page_sheet("<rect/>", ".a") == ""
