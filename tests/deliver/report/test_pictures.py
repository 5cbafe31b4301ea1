"""The pictures of the views, measured in a browser: nothing over anything, every link in its place, loads reported truly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import networkx
import pytest

from fabric.model.plan import LEAF, FabricPlan
from tests.deliver.report.browser import Opened, opened
from tests.deliver.report.designs import DESIGNS, plan_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser

Tabs = Callable[[str], Opened]

TEXT_SHAPES = """() => [...document.querySelectorAll('.picture text')].filter((node) => node.textContent).map((node) => {
    const { x, y, width, height } = node.getBBox();
    return [node.textContent, x, y + height * 0.2, x + width, y + height * 0.85];
})"""
FABRIC = "const fabric = new Fabric(await unpack(document.getElementById('fabric-data').textContent), 0);"


def of_fabric(tab: Opened, expression: str, argument: Any = None) -> Any:
    """The value of an expression of the page's own script, in which `fabric` is the first fabric."""
    return tab.page.evaluate(f"async (given) => {{ {FABRIC} return {expression}; }}", argument)


@pytest.mark.parametrize(
    ("design", "state"),
    [
        *(("large", state) for state in ("view=schematic", "view=schematic&group=4", "view=pod", "view=path")),
        *(("medium", state) for state in ("view=schematic", "view=pod", "view=path")),
        *(("small", state) for state in ("view=pod", "view=path")),
        *((design, "view=pod") for design in ("planes", "rail-only", "dual-tor", "mixed", "no-gpus", "infiniband")),
    ],
)
def test_no_label_lies_over_another(tabs: Tabs, design: str, state: str) -> None:
    tab = tabs(design)
    for scenario in (scenarios(tab)[0], scenarios(tab)[-1]):  # the calmest, and the one with most to say
        tab.turn(**dict(part.split("=") for part in state.split("&")), scenario=scenario)
        switches = sorted(tab.page.evaluate(TEXT_SHAPES), key=lambda switch: switch[1])
        assert len(switches) > 10
        assert overlaps(switches) == []


def scenarios(tab: Opened) -> list[str]:
    found: list[str] = tab.page.eval_on_selector_all(
        "select[data-key=scenario] option", "options => options.map(({ value }) => value)"
    )
    return found


def overlaps(switches: list[list[Any]]) -> list[tuple[str, str]]:
    """Pairs of texts that share more than a pixel; switches come from left to right."""
    found = []
    for at, (text, left, top, right, bottom) in enumerate(switches):
        for other, x, y, end, low in switches[at + 1 :]:
            if x >= right - 1:
                break
            if min(right, end) - max(left, x) > 1 and min(bottom, low) - max(top, y) > 1:
                found.append((text, other))
    return found


@pytest.mark.parametrize("design", DESIGNS)
def test_every_link_between_switches_has_one_cell_of_the_map(tabs: Tabs, design: str) -> None:
    fabric = first(plan_of(design).fabrics)
    cells = of_fabric(tabs(design), "bandsOf(fabric, 1250).flatMap((band) => [...band.cells].filter((link) => link >= 0))")
    assert max(Counter(cells).values()) == 1
    kinds = fabric.links.kind
    between = {link for link in range(len(kinds)) if kinds[link] in (1, 2, 3)}
    assert between <= set(cells)


def first(fabrics: Any) -> FabricPlan:
    found: FabricPlan = next(iter(fabrics.values()))
    return found


@pytest.mark.parametrize("design", [name for name in DESIGNS if name != "large"])
def test_every_kind_of_fabric_draws_every_view(tabs: Tabs, design: str) -> None:
    tab = tabs(design)
    for view in tab.page.eval_on_selector_all("input[name=view]", "fields => fields.map(field => field.value)"):
        tab.turn(view=view)
        assert tab.page.is_checked(f"input[name=view][value={view}]")
        assert len(tab.text(".stage")) > 40
    assert tab.problems == []


PIXEL = """([link]) => {
    const canvas = document.querySelector('canvas'), marker = document.querySelector('.marker');
    const scale = canvas.width / canvas.clientWidth;
    const x = (marker.offsetLeft + marker.offsetWidth / 2) * scale, y = (marker.offsetTop + marker.offsetHeight / 2) * scale;
    const [red, green, blue] = canvas.getContext('2d').getImageData(Math.floor(x), Math.floor(y), 1, 1).data;
    return '#' + [red, green, blue].map((part) => part.toString(16).padStart(2, '0')).join('');
}"""


def test_the_map_paints_each_link_in_the_colour_of_its_load(tabs: Tabs) -> None:
    tab = tabs("medium")
    data = tab.page.evaluate("unpack(document.getElementById('fabric-data').textContent)")["fabrics"][0]
    scenario = data["scenarios"][-1]
    colours = tab.page.evaluate(
        "LOAD_CLASSES.map(({ colour }) => getComputedStyle(document.documentElement).getPropertyValue(colour))"
    )
    edges = [0.5, 250, 500, 750, 900, 1000.5, 1250, 1500]
    dead = scenario["dead"]
    assert dead
    for link in [*dead[:2], *range(300, 700, 40)]:
        tab.turn(view="load", scenario=scenario["name"], link=str(link))
        load = max(scenario["up"][link], scenario["down"][link])
        expected = 9 if link in dead else sum(load >= edge for edge in edges)
        assert tab.page.evaluate(PIXEL, [link]) == colours[expected].strip(), (link, load)


def test_the_key_counts_the_links_of_each_class(tabs: Tabs) -> None:
    tab = tabs("medium")
    tab.turn(view="load", scenario=scenarios(tab)[-1])
    counts = [int(text.replace(",", "")) for text in tab.texts(".key b")]
    assert len(counts) == 10
    assert sum(counts) == 512
    assert counts[-1] == len(of_fabric(tab, "fabric.scenarios[fabric.scenarios.length - 1].dead"))


EDGES = [0, 1, 249, 250, 499, 500, 750, 900, 1000, 1001, 1250, 1500]


def test_exactly_full_is_not_over(tabs: Tabs) -> None:
    tab = tabs("small")
    assert tab.page.evaluate("loads => loads.map(loadClass)", EDGES) == [0, 1, 1, 2, 2, 3, 4, 5, 5, 6, 7, 8]


def test_a_mean_is_of_the_living_and_the_badge_counts(tabs: Tabs) -> None:
    tab = tabs("small")
    scenario = "{name: '', up: [100, 1200, 0, 1000], down: [0, 0, 0, 900], dead: [2], dead_devices: []}"
    loads = f"new Loads({scenario}, given, 4, 1).summary([0, 1, 2, 3])"
    made = {way: tab.page.evaluate(f"given => {loads}", way) for way in ("up", "down", "both")}
    assert {way: (found["mean"], found["worst"], found["over"], found["dead"]) for way, found in made.items()} == {
        "up": (pytest.approx(2300 / 3), 1200, 1, 1),
        "down": (300, 900, 0, 1),
        "both": (pytest.approx(2300 / 3), 1200, 1, 1),
    }


def test_bundles_of_the_schematic_hold_the_links_of_the_pod(tabs: Tabs) -> None:
    tab = tabs("medium")
    tab.turn(view="schematic", pod="2")
    labels = [text for text in tab.texts(".picture .strong") if text.startswith("×")]
    assert [int(text[1:].split(" ")[0]) for text in labels] == [8] * 8
    tab.turn(view="schematic", group="3")
    labels = [text for text in tab.texts(".picture .strong") if text.startswith("×")]
    assert [int(text[1:].split(" ")[0]) for text in labels] == [8] * 4


def test_a_dead_switch_is_reported_not_only_coloured(tabs: Tabs) -> None:
    tab = tabs("small")
    tab.turn(view="pod", scenario=scenarios(tab)[-1])
    dead = of_fabric(tab, "fabric.scenarios[fabric.scenarios.length - 1].dead_devices.map((at) => fabric.devices.name[at])")
    switches = tab.page.locator(".choice:has(.gone)")
    assert [(switches.nth(at).get_attribute("aria-label") or "").split(" ")[0] for at in range(switches.count())] == dead
    assert all("dead" in text for text in switches.all_text_contents())


def test_one_rail_at_a_time(tabs: Tabs) -> None:
    tab = tabs("rail-only")
    tab.turn(view="pod", rail="5")
    rails = of_fabric(tab, "given.map((name) => fabric.devices.rail[fabric.byName.get(name)])", shown(tab))
    assert set(rails) == {4}


def shown(tab: Opened) -> list[str]:
    """Names of the switches that are drawn."""
    labels = tab.page.eval_on_selector_all("[data-row='0'], [data-row='1']", "nodes => nodes.map(node => node.ariaLabel)")
    return [label.split(" (")[0] for label in labels]


# paths

ENDS = {
    "medium": [(0, 1), (0, 9), (0, 40), (63, 2)],
    "small": [(0, 31)],
    "planes": [(0, 63), (3, 4)],
    "rail-only": [(0, 63)],
    "dual-tor": [(0, 31), (0, 1)],
    "mixed": [(0, 31), (32, 71)],
    "infiniband": [(0, 62)],
    "no-gpus": [(0, 39), (0, 1)],
}
PATHS = """given.map(([source, target]) => {
    const loads = fabric.loads('', 'both'), pairs = portPairs(portsOf(fabric, source), portsOf(fabric, target), '', '');
    return pathsBetween(fabric, loads, pairs).hops.map(({ name, links }) => [name, links]);
})"""


@pytest.mark.parametrize("design", ENDS)
def test_a_ladder_holds_the_links_of_all_shortest_paths(tabs: Tabs, design: str) -> None:
    fabric = first(plan_of(design).fabrics)
    servers = [device.index for device in fabric.devices if device.role == "server"]
    ends = [(servers[source], servers[target]) for source, target in ENDS[design]]
    for pair, hops in zip(ends, of_fabric(tabs(design), PATHS, ends), strict=True):
        assert [name for name, _ in hops][:: max(1, len(hops) - 1)] == ["server–leaf", "leaf–server"]
        links = [link for _, those in hops for link in those]
        assert set(links) == shortest(fabric, *pair)
        assert len(links) == len(set(links))


def shortest(fabric: FabricPlan, source: int, target: int) -> set[int]:
    """Links on any shortest path between ports of the same NIC and place, found another way: by distances."""
    links = fabric.links
    graph = networkx.MultiGraph()
    for link, (a, b, kind) in enumerate(zip(links.a.tolist(), links.b.tolist(), links.kind.tolist(), strict=True)):
        if kind in (1, 2, 3):
            graph.add_edge(a, b, link)
    found: set[int] = set()
    ports = {(int(links.a_cage[link]), int(links.a_sub[link])): link for link, end in fabric.links.of(target) if end == 0}
    for link, _ in fabric.links.of(source):
        other = ports[int(links.a_cage[link]), int(links.a_sub[link])]
        near, far = int(links.b[link]), int(links.b[other])
        found |= {link, other}
        assert fabric.devices[near].role == LEAF
        if near == far:
            continue
        here, there = (networkx.single_source_shortest_path_length(graph, end) for end in (near, far))
        for a, b, between in graph.edges(keys=True):
            if here.keys() >= {a, b} and min(here[a] + there[b], here[b] + there[a]) + 1 == here[far]:
                found.add(between)
    return found


def test_planes_and_rails_of_their_own_have_no_path(tabs: Tabs) -> None:
    tab = tabs("planes")
    tab.turn(view="path", nic="compute1p1", tonic="compute1p2")
    assert tab.text(".stage .status") == (
        "No path: compute1p1 is on plane 1, compute1p2 on plane 2, and no link joins these networks."
    )
    tab.turn(view="path", nic="plane 2")
    assert "8 × 200G" in tab.text(".stage table")
    tab = tabs("rail-only")
    tab.turn(view="path", nic="compute1", tonic="compute2")
    assert "compute1 is on rail 1, compute2 on rail 2" in tab.text(".stage .status")


def test_a_ladder_says_where_the_ends_stand(tabs: Tabs) -> None:
    tab = tabs("medium")
    messages = {}
    for target in ("quad-0002", "quad-0009", "quad-0064"):
        tab.turn(view="path", **{"from": "quad-0001"}, to=target)
        messages[target] = tab.text(".stage .status").split(". ")[0]
    assert messages == {
        "quad-0002": "2 hops under the same leaves (same unit)",
        "quad-0009": "4 hops in the same pod, over spines",
        "quad-0064": "6 hops over spines and cores (other pod)",
    }
    tab.page.get_by_role("button", name="Swap ends").click()
    assert tab.page.input_value("[data-key=from]") == "quad-0064"
    tab.page.fill("[data-key=to]", "quad-0003")
    tab.page.press("[data-key=to]", "Enter")
    assert tab.hash["to"] == "quad-0003"


def test_dead_links_leave_the_ladder(tabs: Tabs) -> None:
    tab = tabs("medium")
    whole, left, none = of_fabric(
        tab,
        """(() => {
            const pairs = portPairs(portsOf(fabric, given[0]), portsOf(fabric, given[1]), 'compute1', '');
            const up = [...fabric.linksOf(pairs[0][0].leaf)].filter((link) => fabric.links.a[link] === pairs[0][0].leaf);
            return [[], up.slice(0, 3), up].map((dead) => {
                const loads = fabric.loads('', 'both');
                loads.dead.fill(0);
                for (const link of dead) loads.dead[link] = 1;
                const { hops, missed } = pathsBetween(fabric, loads, pairs);
                return [hops.map(({ links }) => links.length), missed.length];
            });
        })()""",
        [80, 143],
    )
    assert whole == [[1, 8, 64, 64, 8, 1], 0]
    assert left == [[1, 5, 40, 40, 5, 1], 0]
    assert none == [[], 1]


@pytest.mark.parametrize("design", ["small", "medium", "large", "planes", "two-fabrics"])
def test_nothing_is_cut_off_at_1280_pixels(browser: Browser, report: Callable[[str], Path], design: str) -> None:
    """No picture scrolls sideways, and no text of one stands outside of it."""
    tab = opened(browser, report(design), viewport={"width": 1280, "height": 900})
    tab.go()
    for view in ("schematic", "load", "pod", "path"):
        tab.turn(view=view)
        cut = tab.page.evaluate(
            """() => {
                const wide = [...document.querySelectorAll('.stage .scroll:has(> svg, > .map-inner)')]
                    .filter(node => node.scrollWidth > node.clientWidth + 1);
                const outside = [...document.querySelectorAll('.stage svg.picture text')].filter(text => {
                    const [own, frame] = [text.getBoundingClientRect(), text.ownerSVGElement.getBoundingClientRect()];
                    return own.left < frame.left - 1 || own.right > frame.right + 1;
                });
                return [wide.map(node => node.className), outside.map(text => text.textContent)];
            }"""
        )
        assert cut == [[], []], view
    assert tab.page.evaluate("document.documentElement.scrollWidth") == 1280
    tab.page.context.close()


def test_words_of_a_path_stand_beside_no_frame(browser: Browser, report: Callable[[str], Path]) -> None:
    tab = opened(browser, report("medium"), viewport={"width": 1280, "height": 900})
    tab.go("view=path")
    covered = tab.page.evaluate(
        """() => {
            const frames = [...document.querySelectorAll('.stage svg rect')].map(node => node.getBoundingClientRect());
            return [...document.querySelectorAll('.stage svg text')].filter(text => {
                const own = text.getBoundingClientRect();
                const within = (frame) => own.left >= frame.left && own.right <= frame.right;
                const across = (frame) => own.left < frame.right && frame.left < own.right;
                const along = (frame) => own.top < frame.bottom && frame.top < own.bottom;
                return frames.some(frame => across(frame) && along(frame) && !within(frame));
            }).map(text => text.textContent);
        }"""
    )
    assert covered == []
    tab.page.context.close()
