"""Designs side by side: a table of what differs, one scale, curves in one chart, and no script."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from fabric import pipeline
from fabric.cli.report import report
from fabric.deliver.report.comparison import GivenDesign, designs, groups, short_names
from fabric.deliver.report.comparison_page import page
from fabric.deliver.report.study import ReportRequest
from fabric.deliver.report.tiers import Scale, picture
from tests.deliver.report.browser import opened
from tests.deliver.report.designs import DESIGNS, write
from tests.deliver.report.page_reader import Page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

REQUEST = ReportRequest()
OPTIONS: Any = {
    "fabric": "",
    "collective": "",
    "size": "8G",
    "since": "",
    "fail": [],
    "platform": None,
    "measured": [],
    **dict.fromkeys(("model", "gpus", "prices")),
    "no_load": False,
}


def side(folder: Path, name: str, called: str = "") -> GivenDesign:
    intent = pipeline.load(write(folder, name))
    return GivenDesign(called or f"intent/{name}.yaml", pipeline.plan(intent), intent.keys())


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> list[GivenDesign]:
    folder = tmp_path_factory.mktemp("beside")
    return [side(folder, name) for name in ("small", "medium", "rail-only")]


@pytest.fixture(scope="module")
def read(three: list[GivenDesign]) -> Page:
    return Page(page(three, REQUEST))


def rows(found: Page) -> dict[str, list[str]]:
    """Rows of the page's tables by their first cell."""
    table = re.findall(r"<tr>(.*?)</tr>", found.text)
    cells = [[re.sub("<[^>]*>", "", cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)] for row in table]
    return {row[0]: row[1:] for row in cells if row}


def test_tells_what_differs(read: Page, three: list[GivenDesign]) -> None:
    assert read.problems == []
    found = rows(read)
    counts = [len(next(iter(one.plan.fabrics.values())).switches) for one in three]
    assert counts[0] == 12
    assert [int(cell.split(" ")[0]) for cell in found["switches"]] == counts
    assert found["switches"][1].endswith(f"({100 * (counts[1] / 12 - 1):+.0f} %)")
    assert found["fabrics.*.topology.kind"] == ["not set", "not set", "rail-only"]  # rail-optimized by default
    assert found["fabrics.*.topology.tiers"] == ["auto", "3", "auto"]
    assert "planes" in found  # the same in all: folded, but there
    assert len(found["planes"]) == 1


def test_the_page_is_whole_and_allows_its_style_alone(read: Page) -> None:
    assert read.inside["script"] == []
    assert read.policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "script-src" not in read.policy
    ids = read.values("id")
    assert len(ids) == len(set(ids))
    assert [href.removeprefix("#") for href in read.values("href")][1:] == [
        attrs["id"] for tag, attrs in read.tags if tag == "section"
    ]
    levels = [int(tag[1]) for tag, _ in read.tags if re.fullmatch("h[1-6]", tag)]
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_curves_of_all_designs_share_a_chart(read: Page) -> None:
    charts = re.findall(r'<figure class="busbw"[^>]*><svg.*?</svg>', read.text, re.DOTALL)
    assert len(charts) == 2
    assert [re.findall(r"(alltoall|all_reduce), by design", chart)[0] for chart in charts] == ["alltoall", "all_reduce"]
    for chart in charts:
        assert all(f"{name} (" in chart for name in ("small", "medium", "rail-only"))


def test_one_scale(three: list[GivenDesign]) -> None:
    """As many squares for a switch, and as many pixels for a Gb/s, in every picture; tiers lie at the same heights."""
    fabrics = [next(iter(one.plan.fabrics.values())) for one in three]
    scale = Scale.of(fabrics, 390)
    widths, tops = set(), dict[str, set[str]]()
    for fabric in fabrics:
        root = ET.fromstring(picture(fabric, scale))
        for role in ("leaf", "spine", "core", "server"):
            squares = [path.get("d", "") for path in root.iter("path") if path.get("class") == f"role-{role}"]
            count = sum(device.role == role for device in fabric.devices)
            assert sum(path.count("M") for path in squares) == -(-count // scale.each), role
            tops.setdefault(role, set()).update(path.split("h")[0].split(" ")[1] for path in squares)
        for ribbon in (rect for rect in root.iter("rect") if rect.get("class") == "ribbon"):
            title = ribbon.findtext("title") or ""
            number, unit = re.findall(r"([\d.,]+) ([GTP])b/s", title)[0]
            gbps = float(number.replace(",", "")) * {"G": 1, "T": 1e3, "P": 1e6}[unit]
            widths.add(round(float(ribbon.get("width", "0")) / gbps * 1e4, 1))
    assert len(widths) <= 2  # rounding
    assert max(widths) - min(widths) <= 0.2
    assert all(len(found) == 1 for found in tops.values())


def test_large_designs_share_squares(tmp_path: Path) -> None:
    fabric = next(iter(side(tmp_path, "large").plan.fabrics.values()))
    scale = Scale.of([fabric], 290)
    assert scale.each == 16
    assert "One square is 16 switches or servers" in scale.words
    assert len(picture(fabric, scale)) < 30_000


@pytest.mark.slow
@pytest.mark.parametrize("first", [name for name in DESIGNS if name != "large"])
def test_every_kind_stands_beside_another(tmp_path: Path, first: str) -> None:
    found = Page(page([side(tmp_path, first), side(tmp_path, "two-fabrics")], ReportRequest(load=False)))
    assert found.problems == []
    assert len(found.text) < 400_000


def test_fabrics_are_paired_by_name(tmp_path: Path) -> None:
    one, two = side(tmp_path, "small"), side(tmp_path, "two-fabrics")
    found = groups(designs([one, two], REQUEST))
    assert [group.name for group in found] == ["backend", "storage"]
    assert [study is not None for _, study in found[1].members] == [False, True]
    web = groups(designs([one, side(tmp_path, "no-gpus")], REQUEST))
    assert [group.name for group in web] == ["backend / web"]


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["a.yaml", "intent/b.yaml"], ["a", "b"]),
        (["x/a.yaml", "y/a.yaml"], ["x/a", "y/a"]),
        (["a.yaml", "a.yaml", "b.yaml"], ["a", "a (2)", "b"]),
    ],
)
def test_names(names: list[str], short: list[str]) -> None:
    assert short_names(names) == short


def test_same_bytes_every_time(three: list[GivenDesign], read: Page) -> None:
    assert page(three, REQUEST) == read.text


def test_by_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(write(tmp_path, name)) for name in ("small", "collapsed")]
    output = tmp_path / "both.html"
    report([Path(file) for file in files], output, **OPTIONS)
    assert capsys.readouterr().err.splitlines()[-1] == f"wrote {output}"
    assert "collapsed" in Page(output.read_text(encoding="utf-8")).words


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_is_accessible_and_fits(browser: Browser, three: list[GivenDesign], tmp_path: Path, scheme: Any) -> None:
    axe = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
    script = (Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    path = tmp_path / "beside.html"
    path.write_text(page(three, REQUEST), encoding="utf-8")
    tab = opened(browser, path, color_scheme=scheme, bypass_csp=True, viewport={"width": 1280, "height": 900})
    tab.page.goto(path.as_uri())
    tab.page.add_script_tag(content=script)
    found = tab.page.evaluate("axe.run('html', {resultTypes: ['violations']})")
    assert [(item["id"], item["nodes"][0]["html"][:200]) for item in found["violations"]] == []
    assert tab.problems == []
    assert tab.page.evaluate("document.documentElement.scrollWidth") == 1280
    tab.page.context.close()
