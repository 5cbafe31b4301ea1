"""The documentation site as a reader has it: no dead link, all pages in the navigation, a search that answers, no network."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from markdown_it import MarkdownIt

from tests import ROOT
from tests.deliver.report.browser import Opened, opened
from tests.docs.blocks import FENCE, commands, pages
from tests.docs.conftest import build
from tools.docs.site import INDEX, sections

if TYPE_CHECKING:
    from playwright.sync_api import Browser

QUESTIONS = yaml.safe_load(Path(__file__).with_name("questions.yaml").read_text(encoding="utf-8"))
PUBLIC = yaml.safe_load(Path(__file__).with_name("public_questions.yaml").read_text(encoding="utf-8"))
QUESTIONS["public"] = {row["question"]: [*row["pages"], *row.get("later", ())] for row in PUBLIC}
FIRST = 3  # results that a reader looks at
ANSWERED = {"first": 1.0, "peers": 0.85, "later": 0.85, "public": 0.9}
FIELD = "[data-md-component=search-query]"
RESULTS = ".md-search-result__item > a"
PARTS = re.compile(r"<(li|ul|ol|table|tr|pre|h2|h3|blockquote)[ >]")
OTHERS = re.compile(r"^\s*(?:!!!|\?\?\?|===|\[TOC\])|\{:|\{#|^---$", re.MULTILINE)  # syntax that GitHub shows as text


class Links(HTMLParser):
    """What a page links to or loads, and its anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value for name, value in attrs if value}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        elif tag in ("img", "script", "link", "source", "iframe") and values.get("rel") not in ("next", "prev", "canonical"):
            self.loaded += [values[name] for name in ("src", "href") if name in values]


@pytest.fixture(scope="module")
def html(site: Path) -> dict[Path, Links]:
    return {path: Links(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}


def test_every_page_is_in_the_navigation(html: dict[Path, Links], site: Path) -> None:
    listed = {page for _, found in sections((ROOT / "docs" / INDEX).read_text(encoding="utf-8")) for page in found}
    assert {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")} == {INDEX, *listed}
    start = (site / "index.html").read_text(encoding="utf-8")
    navigation = start[start.index('<nav class="md-nav md-nav--primary') : start.index('<div class="md-content"')]
    assert {page.replace(".md", ".html") for page in listed} <= set(Links(navigation).links)


def test_no_link_is_dead(html: dict[Path, Links]) -> None:
    dead, checked = [], 0
    for page, found in html.items():
        for link in (*found.links, *found.loaded):
            parts = urlsplit(link)
            if parts.scheme or page.name == "404.html":
                continue
            checked += 1
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            target = target / "index.html" if target.is_dir() else target
            anchor = unquote(parts.fragment)
            if not target.exists() or (anchor and target.suffix == ".html" and anchor not in html[target].anchors):
                dead.append(f"{page.name}: {link}")
    assert dead == []
    assert checked > 10_000


def test_nothing_is_loaded_from_other_hosts(html: dict[Path, Links]) -> None:
    loaded = {link for page, found in html.items() for link in found.loaded if page.name != "404.html"}
    assert sorted(link for link in loaded if urlsplit(link).scheme not in ("", "data")) == []


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_pages_are_readable_on_github(page: Path) -> None:
    """Prose without the syntax of one generator."""
    prose = re.sub(r"`[^`\n]*`", "", FENCE.sub("", page.read_text(encoding="utf-8")))
    assert OTHERS.findall(prose) == []


def test_the_site_shows_what_github_shows(site: Path) -> None:
    """Lists, tables and blocks of each page, as CommonMark reads them: Python-Markdown wants an empty line before a list."""
    reader = MarkdownIt("commonmark").enable("table")
    different = {}
    for path in sorted((ROOT / "docs").rglob("*.md")):
        name = path.relative_to(ROOT / "docs").with_suffix(".html").as_posix().replace("README", "pages")
        page = (site / name).read_text(encoding="utf-8")
        shown = page[page.index("<article") : page.index("</article>")]
        counts = tuple(Counter(PARTS.findall(text)) for text in (reader.render(path.read_text(encoding="utf-8")), shown))
        if counts[0] != counts[1]:
            different[name] = counts
    assert different == {}


def ask(tab: Opened, question: str) -> list[str]:
    """Pages that the search lists for what is typed, in its order."""
    tab.page.fill(FIELD, "")
    tab.page.press(FIELD, "End")
    tab.page.wait_for_function(
        "document.querySelector('.md-search-result__meta').textContent.includes('Type to')", polling=20
    )
    tab.page.fill(FIELD, question)
    tab.page.press(FIELD, "End")
    tab.page.wait_for_function("/match|No /.test(document.querySelector('.md-search-result__meta').textContent)", polling=20)
    found: list[str] = tab.page.eval_on_selector_all(RESULTS, "links => links.map(link => link.getAttribute('href'))")
    start = tab.page.evaluate("new URL('.', document.baseURI).href")
    names = [re.split(r"[?#]", link.removeprefix(start))[0].removesuffix(".html") for link in found]
    return list(dict.fromkeys(names))


@pytest.fixture(scope="module")
def start(browser: Browser, site: Path) -> Opened:
    """The first page, as a file, with the field of the search open."""
    tab = opened(browser, site / "index.html")
    tab.page.goto(tab.path.as_uri())
    tab.page.click(FIELD)
    return tab


@pytest.mark.slow
@pytest.mark.parametrize("kind", QUESTIONS)
def test_questions_are_answered_by_the_first_results(kind: str, start: Opened) -> None:
    wrong = {}
    for question, right in QUESTIONS[kind].items():
        found = ask(start, question)[:FIRST]
        if not set(right) & set(found):
            wrong[question] = found
    total = len(QUESTIONS[kind])
    print(f"{kind}: {total - len(wrong)} of {total} in the first {FIRST}", *wrong.items(), sep="\n  ")
    assert total - len(wrong) >= ANSWERED[kind] * total, wrong
    assert start.problems == []
    assert {urlsplit(url).scheme for url in start.requests} == {"file"}


def test_answers_are_pages() -> None:
    known = {path.relative_to(ROOT / "docs").with_suffix("").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    listed = {page for pages in QUESTIONS.values() for right in pages.values() for page in right}
    assert listed <= known
    assert len(PUBLIC) == 60


@pytest.mark.slow
def test_words_without_meaning_find_nothing(start: Opened) -> None:
    """`a` is not the beginning of `actions`; a question of these words alone is looked up all the same."""
    assert ask(start, "replace a switch") == ask(start, "replace switch")
    assert ask(start, "the switch of a leaf on the rack") == ask(start, "switch leaf rack")
    assert ask(start, "a") != []


@pytest.mark.slow
def test_every_how_to_page_is_found_by_its_own_title(start: Opened) -> None:
    for path in sorted((ROOT / "docs" / "howto").glob("*.md")):
        title = path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        assert f"howto/{path.stem}" in ask(start, title)[:FIRST]


@pytest.fixture
def address(site: Path) -> Iterator[str]:
    """The site on a port of this machine."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *words: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.slow
def test_the_search_works_on_a_local_server(browser: Browser, site: Path, address: str) -> None:
    tab = opened(browser, site, offline=False)
    tab.page.goto(f"{address}/index.html")
    tab.page.click(FIELD)
    assert "howto/ntp" in ask(tab, "change ntp server")[:FIRST]
    assert tab.problems == []
    assert {urlsplit(url).netloc for url in tab.requests} == {urlsplit(address).netloc}


def test_the_copy_button_takes_commands_without_output(browser: Browser, site: Path) -> None:
    tab = opened(browser, site / "howto" / "ntp.html", permissions=["clipboard-read", "clipboard-write"])
    tab.page.goto(tab.path.as_uri())
    blocks = [found["text"] for found in FENCE.finditer((ROOT / "docs/howto/ntp.md").read_text(encoding="utf-8"))]
    assert copied(tab, 0).strip() == blocks[0].strip()
    assert [line for line in copied(tab, 1).split("\n") if line] == commands(blocks[1])


def copied(tab: Opened, index: int) -> str:
    tab.page.locator(".md-code__button[data-clipboard-target]").nth(index).click(force=True)
    tab.page.wait_for_selector(".md-dialog--active")
    text: str = tab.page.evaluate("navigator.clipboard.readText()")
    return text


@pytest.mark.slow
@pytest.mark.parametrize(("colors", "width"), [("light", 1280), ("dark", 400)])  # colors and layout do not meet
def test_pages_are_accessible(browser: Browser, site: Path, colors: str, width: int) -> None:
    """axe-core, and no page wider than its window."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed").Axe()
    tab = opened(browser, site, color_scheme=colors, viewport={"width": width, "height": 900})
    for name in ("index", "howto/template", "cli", "tour"):
        tab.page.goto((site / f"{name}.html").as_uri())
        found = axe.run(tab.page).response["violations"]
        assert [(row["id"], [node["html"][:90] for node in row["nodes"][:3]]) for row in found] == [], name
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= width, name


def test_the_build_fails_for_a_dead_anchor(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="mkdocs is not installed")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# Start\n\n[here](#start), [there](#nowhere)\n", encoding="utf-8")
    config = tmp_path / "mkdocs.yml"
    config.write_text(f"INHERIT: {ROOT}/mkdocs.yml\ndocs_dir: docs\nhooks: []\nplugins: []\n", encoding="utf-8")
    done = build(tmp_path / "site", config)
    assert done.returncode == 1
    assert "'#nowhere', but there is no such anchor" in done.stderr
