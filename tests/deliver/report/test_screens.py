"""The report as it is looked at: the first screen, three widths, two themes, meanings of figures, two pages of paper."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

import pytest

from fabric import pipeline
from fabric.deliver.report import comparison_page
from fabric.deliver.report.page import page
from fabric.deliver.report.study import ReportRequest
from tests import ROOT
from tests.deliver.report.browser import Opened, opened
from tests.deliver.report.test_browser_page import VIEWS, table
from tests.deliver.report.test_comparison import side

if TYPE_CHECKING:
    from playwright.sync_api import Browser

Tabs = Callable[[str], Opened]
Report = Callable[[str], Path]

SIZES = [{"width": 1440, "height": 900}, {"width": 1024, "height": 768}, {"width": 390, "height": 844}]


@pytest.mark.parametrize("size", [SIZES[0], SIZES[2]], ids=["1440", "390"])
@pytest.mark.parametrize("design", ["small", "medium", "two-fabrics", "no-gpus"])
def test_the_first_screen_answers_four_questions(browser: Browser, report: Report, design: str, size: dict[str, int]) -> None:
    tab = opened(browser, report(design), viewport=size)
    tab.go()
    ends = tab.page.eval_on_selector_all(".answer", "nodes => nodes.map(node => node.getBoundingClientRect().bottom)")
    assert len(ends) == 4
    assert max(ends) <= size["height"]
    if size["width"] == 1440:
        assert tab.page.evaluate("document.querySelector('.design svg').getBoundingClientRect().top") < size["height"] - 250
    tab.page.context.close()


BROKEN = """() => {
    const aside = '.unseen, .skip, .scroll, header legend';
    const shown = (node) => node.checkVisibility({ visibilityProperty: true }) && !node.closest(aside);
    const texts = [...document.querySelectorAll('main p, main dt, main dd, main h3, main summary, main button, header *')];
    const wide = texts.filter(shown).filter((node) => node.scrollWidth > node.clientWidth + 1 && node.clientWidth > 0);
    const out = texts.filter(shown).filter((node) => node.getBoundingClientRect().right > innerWidth + 1);
    const cut = [...document.querySelectorAll('main svg text')].filter(shown).filter((text) => {
        const [own, frame] = [text.getBoundingClientRect(), text.ownerSVGElement.getBoundingClientRect()];
        return own.left < frame.left - 1 || own.right > frame.right + 1 || own.bottom > frame.bottom + 1;
    });
    return [document.documentElement.scrollWidth, [...wide, ...out, ...cut].map((node) => node.outerHTML.slice(0, 160))];
}"""


@pytest.mark.parametrize("size", SIZES, ids=[f"{size['width']}" for size in SIZES])
@pytest.mark.parametrize("design", ["small", "medium", "two-fabrics"])
def test_nothing_is_wider_than_the_screen(browser: Browser, report: Report, design: str, size: dict[str, int]) -> None:
    tab = opened(browser, report(design), viewport=size)
    tab.go()
    for view in VIEWS:
        tab.turn(view=view)
        assert tab.page.evaluate(BROKEN) == [size["width"], []], view
    tab.page.context.close()


def test_a_term_shows_its_meaning_by_mouse_keyboard_and_touch(browser: Browser, report: Report) -> None:
    every: list[dict[str, Any]] = [{}, {"has_touch": True, "viewport": SIZES[2]}, {"java_script_enabled": False}]
    for options in every:
        tab = opened(browser, report("small"), **options)
        tab.page.goto(tab.path.as_uri())
        button, entry = tab.page.locator(".answer .term", has_text="busbw"), tab.page.locator("#term-busbw")
        if options.get("has_touch"):
            button.tap()
        else:
            button.focus()
            tab.page.keyboard.press("Enter")
        assert entry.evaluate("node => node.matches(':popover-open')")
        assert "nccl-tests" in entry.inner_text()
        tab.page.keyboard.press("Escape")
        assert not entry.evaluate("node => node.matches(':popover-open')")
        assert entry.is_visible()  # in its place among the terms
        if not options:
            assert "nccl-tests" in (button.get_attribute("title") or "")  # under the pointer
        tab.page.context.close()


def test_figures_of_the_views_have_meanings(tabs: Tabs) -> None:
    tab = tabs("medium")
    for state in ({"view": "path"}, {"view": "load", "link": "300"}, {"view": "pod", "device": "backend-leaf003"}):
        tab.turn(**state)
        heads = tab.texts("#views th") + tab.texts("#views dt")
        terms = tab.texts("#views .term")
        figures = {"links", "load", "load up", "load down", "mean load", "highest load", "capacity", "over 100%", "ASN", "RU"}
        assert figures & set(heads)
        assert figures & set(heads) <= set(terms)
    signs = tab.text(".legend")
    assert all(sign in signs for sign in ("109%", "3!", "2✕", "×16", "mean load"))
    hints = tab.page.locator(".picture .choice > title").all_text_contents()
    assert any(re.search(r"mean load \d+%.*busiest", hint) for hint in hints)


def test_columns_of_a_table_have_meanings(tabs: Tabs) -> None:
    tab = tabs("medium")
    tab.go()
    switches = table(tab, "Switches")
    switches.get_by_role("button", name="Columns: switches").click()
    key = switches.locator(".columns-key")
    assert key.is_visible()
    assert {"pod", "unit", "rail", "RU", "ASN"} <= set(key.locator("dt").all_text_contents())
    tab.page.keyboard.press("Escape")
    assert not key.is_visible()


def test_the_sections_are_a_menu_on_a_phone(browser: Browser, report: Report) -> None:
    tab = opened(browser, report("small"), viewport=SIZES[2])
    tab.go()
    menu = tab.page.locator("#sections")
    assert not menu.is_visible()
    tab.page.get_by_role("button", name="Sections").click()
    menu.get_by_role("link", name="Failures").click()
    assert tab.page.url.endswith("#failures")
    assert not menu.is_visible()
    tab.page.context.close()


# accessibility


def axe() -> str:
    """The script that looks for what people with a disability cannot use."""
    found = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
    return (Path(found.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


AXE_STATES = [
    ("small", "html", {"view": "pod"}),
    ("small", "#views", {"view": "load", "link": "300"}),
    ("medium", "#views", {"view": "schematic"}),
    ("medium", "#views", {"view": "pod", "device": "backend-leaf003"}),
    ("medium", "#views", {"view": "path"}),
]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES, ids=[f"{size['width']}" for size in SIZES])
def test_axe_finds_nothing(browser: Browser, report: Report, size: dict[str, int], theme: str) -> None:
    script = axe()
    rules = {"resultTypes": ["violations"]} | ({"runOnly": ["color-contrast"]} if theme == "dark" else {})
    tabs = {design: opened(browser, report(design), bypass_csp=True, viewport=size) for design in ("small", "medium")}
    for tab in tabs.values():
        tab.go(f"theme={theme}")
        tab.page.add_script_tag(content=script)
    found = {}
    for design, where, state in AXE_STATES:
        tabs[design].turn(theme=theme, **state)
        result = tabs[design].page.evaluate("([where, rules]) => axe.run(where, rules)", [where, rules])
        found[design, state["view"]] = [(item["id"], item["nodes"][0]["html"][:200]) for item in result["violations"]]
    assert {state: those for state, those in found.items() if those} == {}
    bare = tabs["small"].page.evaluate("document.body.append(new Image()), axe.run('img').then(JSON.stringify)")
    assert "image-alt" in bare  # it does find something where there is something
    for tab in tabs.values():
        tab.page.context.close()


@pytest.mark.parametrize("size", SIZES, ids=[f"{size['width']}" for size in SIZES])
def test_designs_side_by_side_fit_the_screen_and_axe_finds_nothing(
    browser: Browser, tmp_path: Path, size: dict[str, int]
) -> None:
    path = tmp_path / "beside.html"
    path.write_text(comparison_page.page([side(tmp_path, name) for name in ("small", "medium")], ReportRequest()))
    tab = opened(browser, path, viewport=size, bypass_csp=True)
    tab.page.goto(path.as_uri())
    assert tab.page.evaluate(BROKEN) == [size["width"], []]
    tab.page.add_script_tag(content=axe())
    found = tab.page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
    assert [(item["id"], item["nodes"][0]["html"][:200]) for item in found] == []
    tab.page.context.close()


# paper


@pytest.mark.parametrize("paper", ["A4", "Letter"])
@pytest.mark.parametrize("intent", ["h100-4su", "starter", "ai-sonic"])
def test_two_pages_of_paper_hold_the_answers_and_main_tables(
    browser: Browser, tmp_path: Path, intent: str, paper: str
) -> None:
    pypdf = pytest.importorskip("pypdf", reason="pypdf is not installed")
    path = tmp_path / "report.html"
    path.write_text(page(pipeline.plan(pipeline.load(ROOT / f"intent/{intent}.yaml")), ReportRequest()), encoding="utf-8")
    tab = opened(browser, path)
    tab.go()
    tab.page.pdf(path=tmp_path / "report.pdf", format=paper)
    pages = pypdf.PdfReader(tmp_path / "report.pdf").pages
    assert len(pages) <= 2
    text = normalize("NFKC", "\n".join(leaf.extract_text() for leaf in pages))
    for words in ("What is it?", "Does it fit?", "What limits it?", "What does it cost?", "Links by kind", "Single failures"):
        assert words in text, words
    assert "worst case" in text
    assert "Not printed: Topology, Performance" in text
    tab.page.check("#print-all")
    tab.page.pdf(path=tmp_path / "all.pdf", format=paper)
    text = normalize("NFKC", "\n".join(leaf.extract_text() for leaf in pypdf.PdfReader(tmp_path / "all.pdf").pages))
    assert "BGP sessions of the underlay" in text
    assert "Not printed" not in text
    tab.page.context.close()
