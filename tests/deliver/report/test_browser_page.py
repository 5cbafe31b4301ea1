"""The report in a real browser: alone and offline, by mouse, keyboard and screen reader, on screen and on paper."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

import pytest

from fabric.deliver.report.page import page
from fabric.deliver.report.study import ReportRequest
from tests.deliver.report.browser import Opened, opened
from tests.deliver.report.designs import plan_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser

Tabs = Callable[[str], Opened]
Report = Callable[[str], Path]
VIEWS = ("schematic", "load", "pod", "path")


@pytest.mark.parametrize("design", ["small", "medium", "large"])
def test_opens_offline_without_requests(tabs: Tabs, design: str) -> None:
    tab = tabs(design)
    for view in VIEWS:
        tab.turn(view=view)
    assert tab.problems == []
    assert set(tab.requests) <= {tab.path.as_uri(), "about:blank"}


# The medium design has 80 switches and the large one 16 times as many: time by pairs would be 256 times as long.
TIMES = 48
SHORTEST_MS = 0.1  # what the browser's clock can tell


def test_a_page_of_1280_switches_has_few_elements_more_than_one_of_80(tabs: Tabs) -> None:
    counts = {}
    for design in ("medium", "large"):
        tab = tabs(design)
        tab.go("view=schematic")
        counts[design] = tab.page.evaluate("document.querySelectorAll('*').length")
    assert counts["large"] < 4 * counts["medium"], counts


def test_a_page_of_1280_switches_is_ready_in_proportion(tabs: Tabs) -> None:
    least = {}
    for design in ("medium", "large"):
        took = []
        for _ in range(3):
            tabs(design).go("view=schematic")
            took.append(float(tabs(design).page.get_attribute("html", "data-ready") or "nan"))
        least[design] = max(min(took), 1.0)  # whole milliseconds
    assert least["large"] < TIMES * least["medium"], least


@pytest.mark.parametrize("view", VIEWS)
def test_a_redraw_takes_time_in_proportion_and_shows_few_elements(tabs: Tabs, view: str) -> None:
    least, elements = {}, {}
    for design in ("medium", "large"):
        tab = tabs(design)
        tab.turn(view=view)
        tab.page.evaluate("performance.clearMeasures('draw')")
        for direction in ("up", "down", "both") * 2:
            tab.turn(view=view, direction=direction)
        took = tab.page.evaluate("performance.getEntriesByName('draw', 'measure').map(entry => entry.duration)")
        assert len(took) >= 6
        least[design] = max(min(took), SHORTEST_MS)  # the least: other work on the machine only adds to it
        elements[design] = tab.page.evaluate("document.querySelectorAll('#views *').length")
    assert least["large"] < TIMES * least["medium"], least
    assert elements["large"] < 16 * elements["medium"], elements


def test_what_is_looked_at_is_kept_in_the_address(tabs: Tabs, browser: Browser) -> None:
    tab = tabs("medium")
    tab.go()
    tab.choose("view", "pod")
    tab.page.select_option("select[data-key=pod]", "3")
    tab.page.select_option("select[data-key=rail]", "2")
    tab.choose("direction", "down")
    tab.page.locator("[data-key^=device-]", has_text="leaf018").first.click()
    shared = tab.hash
    assert shared == {"view": "pod", "pod": "3", "rail": "2", "direction": "down", "device": "backend-leaf018"}
    before = tab.text("#views .stage"), tab.text("#views .chosen-details")
    tab.go(tab.page.url.split("#")[1])
    assert (tab.text("#views .stage"), tab.text("#views .chosen-details")) == before
    assert tab.page.is_checked("input[name=direction][value=down]")


def test_a_link_to_a_section_is_left_alone(tabs: Tabs) -> None:
    tab = tabs("small")
    tab.go("failures")
    assert tab.page.url.endswith("#failures")
    tab.choose("view", "load")
    assert tab.hash == {"view": "load"}
    tab.page.evaluate("location.hash = 'tables'")
    assert tab.page.is_checked("input[name=view][value=load]")


def test_an_address_that_means_nothing_shows_what_there_is(tabs: Tabs) -> None:
    tab = tabs("small")
    nothing = dict.fromkeys(
        ("view", "scenario", "direction", "pod", "group", "device", "link", "rail", "from", "to", "nic"), "<b>?"
    )
    tab.turn(**nothing, fabric="none")
    assert tab.page.is_checked("input[name=view][value=pod]")
    tab.turn(view="path", **{"from": "absent"})
    assert "no server is named “absent”" in tab.text("#views .stage")
    assert tab.problems == []


def test_theme_follows_the_system_or_the_choice(tabs: Tabs) -> None:
    tab = tabs("small")
    tab.page.emulate_media(color_scheme="dark")
    tab.go()
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = tab.page.evaluate(ground)
    tab.choose("theme", "light")
    light = tab.page.evaluate(ground)
    assert (light, tab.hash) == ("rgb(255, 255, 255)", {"theme": "light"})
    assert dark != light
    tab.choose("theme", "dark")
    assert tab.page.evaluate(ground) == dark
    tab.choose("theme", "auto")
    assert tab.page.get_attribute("html", "data-theme") is None
    tab.page.emulate_media(color_scheme="light")
    assert tab.page.evaluate(ground) == light


def test_search_finds_by_every_word_and_enter_chooses(tabs: Tabs) -> None:
    tab = tabs("large")
    tab.go("view=pod")
    field = tab.page.get_by_label("Find a device")
    field.fill("pod06 leaf 03")
    found = tab.texts("#matches li")
    assert found
    assert all("(leaf, pod 6" in text for text in found)
    first = found[0].split(" ")[0]
    assert field.get_attribute("aria-activedescendant") == "match-0"
    field.press("ArrowDown")
    field.press("ArrowUp")
    field.press("Enter")
    assert tab.hash["device"] == first
    assert tab.page.input_value("select[data-key=pod]") == "6"
    chosen = tab.page.locator("[data-key^=device-][aria-pressed=true]")
    assert (chosen.get_attribute("aria-label") or "").startswith(first)
    assert tab.text(".chosen-details h3").startswith(f"{first} (leaf, pod 6")
    field.fill("no such thing")
    assert tab.texts("#matches li") == []
    assert tab.text(".search [role=status]") == "0 devices"


@pytest.mark.parametrize(("view", "first"), [("schematic", "group-"), ("pod", "device-")])
def test_pictures_work_by_keyboard(tabs: Tabs, view: str, first: str) -> None:
    tab = tabs("medium")
    tab.go(f"view={view}")
    focus = "document.activeElement.dataset.key"
    tab.page.focus(f"[data-key^={first}][tabindex='0'], [data-key][data-row][tabindex='0']")
    tab.page.keyboard.press("ArrowUp")
    tab.page.keyboard.press("Home")
    start = tab.page.evaluate(focus)
    tab.page.keyboard.press("ArrowRight")
    second = tab.page.evaluate(focus)
    assert second != start
    tab.page.keyboard.press("ArrowDown")
    third = tab.page.evaluate(focus)
    assert third not in (start, second)
    tab.page.keyboard.press("Enter")
    assert tab.page.evaluate(focus) == third  # it is drawn again and keeps the focus
    assert tab.page.get_attribute(f"[data-key={third}]", "aria-pressed") == "true"
    assert tab.page.locator(".picture [tabindex='0']").count() == 1


def test_the_map_says_each_link_by_keyboard_and_mouse(tabs: Tabs) -> None:
    tab = tabs("medium")
    tab.go("view=load")
    tab.page.focus("canvas")
    messages = []
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp"):
        tab.page.keyboard.press(key)
        messages.append(tab.text(".status"))
    assert all(
        re.fullmatch(r"backend-spine\d+ port \d+ – backend-core\d+ port \d+: up \d+%, down \d+% \(.*400G.*\)", text)
        for text in messages
    )
    assert messages[0] == messages[4] != messages[1] != messages[2]
    tab.page.keyboard.press("Enter")
    assert tab.hash["link"].isdigit()
    assert tab.text(".chosen-details h3") == "Link"
    tab.page.hover("canvas", position={"x": 400, "y": 250})
    assert tab.text(".status") != messages[4]


def test_every_control_has_a_tab_stop_and_a_visible_focus(tabs: Tabs) -> None:
    tab = tabs("two-fabrics")
    tab.go("view=path")
    tab.page.focus(".skip")
    seen = set()
    terms = tab.page.locator("#summary button, #glance button").count()
    for _ in range(45 + terms):
        tab.page.keyboard.press("Tab")
        seen.add(
            tab.page.evaluate(
                "document.activeElement.dataset.key || document.activeElement.name || document.activeElement.type"
            )
        )
        outlined = tab.page.evaluate(
            "(() => { const e = document.activeElement, s = e.nextElementSibling || e;"
            " return [e, s].some(n => getComputedStyle(n).outlineStyle !== 'none') })()"
        )
        assert outlined, seen
    assert {"theme-auto", "view-path", "fabric", "scenario", "from", "nic", "to", "tonic", "swap"} <= seen


def test_another_fabric_starts_again(tabs: Tabs) -> None:
    tab = tabs("two-fabrics")
    tab.go("view=pod&device=backend-leaf003&rail=3")
    tab.page.select_option("select[data-key=fabric]", "storage")
    assert tab.hash == {"view": "pod", "fabric": "storage"}
    assert "storage-leaf001" in (tab.page.text_content(".picture") or "")


# tables


def table(tab: Opened, name: str) -> Any:
    found = tab.page.locator("details.table", has=tab.page.locator(f".summary:text-is('{name}')"))
    if not found.get_attribute("open"):
        found.evaluate("node => { node.open = true }")
    return found


def test_tables_show_200_rows_and_search_all(tabs: Tabs) -> None:
    tab = tabs("large")
    tab.go()
    switches = table(tab, "Switches")
    rows = switches.locator("tbody tr")
    assert rows.count() == 200
    switches.get_by_role("button", name="Show 200 more").click()
    assert rows.count() == 400
    switches.get_by_label("Filter switches").fill("spine CORE1 ")
    assert switches.locator(".note").text_content() == "0 rows."
    switches.get_by_label("Filter switches").fill("leaf 512")
    assert "backend-leaf512" in rows.all_text_contents()[-1]
    links = table(tab, "Links and cables")
    links.get_by_label("Filter").fill("leaf001 spine")
    assert links.locator("tbody tr").count() == 16


def test_a_filter_takes_time_in_proportion_to_the_rows(tabs: Tabs) -> None:
    least = {}
    for design in ("medium", "large"):
        tab = tabs(design)
        tab.go()
        least[design] = table(tab, "Links and cables").evaluate("""node => {
            const field = node.querySelector('input');
            const time = (text) => {
                const begin = performance.now();
                field.value = text;
                field.dispatchEvent(new Event('input'));
                return performance.now() - begin;
            };
            time('leaf0 spine1');
            return Math.min(...['leaf002 spine', 'leaf001 spine', 'leaf003 spine'].map(time));
        }""")
    assert least["large"] < TIMES * max(least["medium"], SHORTEST_MS), least


def test_tables_sort_numbers_as_numbers_and_blanks_last(tabs: Tabs) -> None:
    tab = tabs("medium")
    tab.go()
    switches = table(tab, "Switches")
    head = switches.locator("th", has_text="pod")
    column = switches.locator("th").all_text_contents().index("pod")
    for way, ends in (("ascending", ("1", "")), ("descending", ("4", ""))):
        head.get_by_role("button").click()
        assert head.get_attribute("aria-sort") == way
        cells = [
            row.split("|")[column]
            for row in switches.locator("tbody tr").evaluate_all(
                "rows => rows.map(row => [...row.cells].map(cell => cell.textContent).join('|'))"
            )
        ]
        assert (cells[0], cells[-1]) == ends
    assert switches.locator("[aria-sort]").count() == 1


def test_a_name_in_a_table_is_shown_in_the_view(tabs: Tabs) -> None:
    tab = tabs("medium")
    tab.go("view=pod")
    table(tab, "Switches").locator("tbody a", has_text="backend-leaf011").click()
    assert tab.hash == {"view": "pod", "fabric": "backend", "device": "backend-leaf011"}
    assert tab.text(".chosen-details h3").startswith("backend-leaf011 ")


def test_csv_holds_every_row_that_the_filter_leaves(tabs: Tabs) -> None:
    tab = tabs("medium")
    tab.go()
    links = table(tab, "Links and cables")
    links.get_by_label("Filter links and cables").fill("spine-core")
    with tab.page.expect_download() as waiting:
        links.get_by_role("button", name="Download CSV").click()
    assert waiting.value.suggested_filename == "dc1-backend-links.csv"
    rows = list(csv.reader(io.StringIO(Path(waiting.value.path()).read_text(encoding="utf-8-sig"))))
    assert rows[0][:3] == ["kind", "A", "A port"]
    assert len(rows) == 257
    assert {row[0] for row in rows[1:]} == {"spine-core"}


def test_copies_what_spreadsheets_paste(tabs: Tabs) -> None:
    tab = tabs("small")
    tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.go()
    switches = table(tab, "Switches")
    switches.get_by_label("Filter switches").fill("spine")
    switches.get_by_role("button", name="Copy").click()
    switches.locator(".note:text-is('4 rows copied.')").wait_for()
    lines = tab.page.evaluate("navigator.clipboard.readText()").splitlines()
    assert [line.split("\t")[0] for line in lines] == ["switch", *(f"backend-spine00{n}" for n in range(1, 5))]


CELLS = [
    ("plain", "plain"), ("=1+1", "'=1+1"), ("+1", "'+1"), ("-1", "'-1"), ("@x", "'@x"), ("\t=1", "'\t=1"), (-5, "-5"),
    ('say "x", y', '"say ""x"", y"'), ("=a,b", '"\'=a,b"'), ("two\nlines", '"two\nlines"'),
]  # fmt: skip


def test_csv_cells_are_quoted_and_no_formulas(tabs: Tabs) -> None:
    tab = tabs("small")
    made = tab.page.evaluate("cells => cells.map(cell => csv(['x'], [[cell]]))", [cell for cell, _ in CELLS])
    assert made == [f"x\r\n{expected}\r\n" for _, expected in CELLS]


# what is hostile, missing or forbidden

HOSTILE = (
    "</script><script>document.title='owned'</script>",
    "<img src=x onerror=document.title='owned'>",
    "=1+1",
    "\"'&<b>",
    "é\u2028x",
)


def test_hostile_names_stay_text(browser: Browser, tmp_path: Path) -> None:
    plan = plan_of("collapsed")
    fabric = plan.fabrics["backend"]
    bad = HOSTILE[0]
    devices = tuple(replace(device, name=f"{HOSTILE[at % len(HOSTILE)]}{at}") for at, device in enumerate(fabric.devices))
    made = replace(plan, site=bad, fabrics={"backend": replace(fabric, devices=devices)})
    path = tmp_path / "hostile.html"
    path.write_text(page(made, ReportRequest()), encoding="utf-8")
    tab = opened(browser, path)
    tab.go()
    for view in ("load", "pod", "path"):
        tab.turn(view=view, device=devices[1].name)
        assert devices[1].name in (tab.page.text_content(".chosen-details h3") or "")
    tab.page.get_by_label("Find a device").fill("onerror")
    assert any("<img src=x" in text for text in tab.texts("#matches li"))
    assert "owned" not in tab.page.title().replace(bad, "")
    assert tab.page.locator("img").count() == 0
    assert tab.problems == []
    tab.page.context.close()


def test_without_loads_none_are_shown(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "bare.html"
    path.write_text(page(plan_of("medium"), ReportRequest(load=False)), encoding="utf-8")
    tab = opened(browser, path)
    tab.go()
    for view in VIEWS:
        tab.turn(view=view)
        messages = tab.page.text_content("#views") or ""
        assert "made without loads" in messages
        assert not re.search(r"\d%|NaN|undefined", re.sub(r"over 100%", "", messages)), view
    assert tab.problems == []
    tab.page.context.close()


def test_without_script_the_page_is_whole(browser: Browser, report: Report) -> None:
    tab = opened(browser, report("medium"), java_script_enabled=False)
    tab.page.goto(tab.path.as_uri())
    assert tab.page.locator(".still").is_visible()
    assert tab.page.locator("#topology .without-script").is_visible()
    assert tab.page.locator("#tables table").first.is_visible()
    assert tab.page.locator("#performance svg").first.is_visible()
    tab.page.context.close()


def test_an_old_browser_is_reported(browser: Browser, report: Report) -> None:
    tab = opened(browser, report("small"))
    tab.page.add_init_script("delete window.DecompressionStream")
    tab.page.goto(tab.path.as_uri())
    tab.page.wait_for_selector("html[data-failed]")
    assert "too old" in tab.text("#views [role=alert]")
    assert tab.page.locator(".still").is_visible()
    assert tab.problems == []
    tab.page.context.close()


# paper


def test_prints_the_first_rows_in_light_colours(tabs: Tabs, tmp_path: Path) -> None:
    pypdf = pytest.importorskip("pypdf", reason="pypdf is not installed")
    tab = tabs("medium")
    tab.go("theme=dark&view=load")
    tab.page.check("#print-all")
    table(tab, "Servers").get_by_label("Filter servers").fill("quad-000")
    path = tmp_path / "report.pdf"
    tab.page.pdf(path=path, format="A4")
    text = normalize("NFKC", "\n".join(leaf.extract_text() for leaf in pypdf.PdfReader(path).pages))  # "fi" is one glyph
    plan = plan_of("medium")
    fabric = plan.fabrics["backend"]
    assert [device.name for device in fabric.switches if device.name not in text] == []
    assert len(re.findall(r"^(?:server-leaf|leaf-spine|spine-core) \S+-\S+ \S+ backend-", text, re.MULTILINE)) == 120
    assert f"The first 120 of {len(fabric.links)}: filter the table to print others, or download the CSV." in text
    assert len(re.findall(r"^.*A port.*B port.*$", text, re.MULTILINE)) >= 2  # the head stands on every page
    assert "Find a device" not in text
    assert "Download CSV" not in text
    tab.page.emulate_media(media="print")
    assert tab.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert tab.page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert not tab.page.locator("#views").is_visible()
    assert tab.page.locator(".still").is_visible()
    tab.page.emulate_media(media="screen")
    assert tab.page.locator("#views").is_visible()
    assert tab.page.locator("details.table[open]").count() == 2  # as before: the switches, and the servers that were opened


def test_paper_is_spared_what_no_browser_lays_out(tabs: Tabs) -> None:
    tab = tabs("large")
    tab.go()
    tab.page.check("#print-all")
    rows = (
        "[...document.querySelectorAll('details.table')].map(node => [node.open, node.querySelectorAll('tbody tr').length])"
    )
    tab.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert tab.page.evaluate(rows) == [[True, 120]] * 4
    assert "The first 120 of 24,576: filter the table to print others, or download the CSV." in tab.texts(".cut")
    tab.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert tab.page.evaluate(rows)[0] == [True, 200]
    assert [opened for opened, _ in tab.page.evaluate(rows)] == [True, False, False, False]


def test_moves_nothing_for_those_who_asked(tabs: Tabs) -> None:
    tab = tabs("small")
    behavior = "getComputedStyle(document.documentElement).scrollBehavior"
    assert tab.page.evaluate(behavior) == "auto"
    tab.page.emulate_media(reduced_motion="no-preference")
    assert tab.page.evaluate(behavior) == "smooth"
    tab.page.emulate_media(reduced_motion="reduce")
