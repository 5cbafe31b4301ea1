"""The page as a file: one document, nothing fetched, nothing run but its own, the same bytes every time."""

from __future__ import annotations

import base64
import re
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise

import pytest

from fabric import pipeline
from fabric.deliver.report.page import page
from fabric.deliver.report.study import ReportRequest
from fabric.model.plan import Device
from tests import ROOT
from tests.deliver.report.designs import DESIGNS, SIZES, page_of, plan_of
from tests.deliver.report.page_reader import Page

HOSTILE = ("</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "-->\"'&<b>", "=1+1", "{{ 7*7 }}", "é\u2028")
LOSSY = ("infiniband", "no-gpus", "oob")  # fabrics without a lossless class of Ethernet


@pytest.fixture(scope="module")
def pages() -> dict[str, Page]:
    """Every design but the largest."""
    return {name: Page(page_of(name)) for name in DESIGNS if name != "large"}


@pytest.mark.parametrize("name", [name for name in DESIGNS if name != "large"])
def test_every_kind_of_fabric_makes_a_page(pages: dict[str, Page], name: str) -> None:
    found = pages[name]
    assert found.problems == []
    ids = found.values("id")
    assert len(ids) == len(set(ids))
    sections = [attrs["id"] for tag, attrs in found.tags if tag == "section"]
    linked = [href.removeprefix("#") for tag, attrs in found.tags if tag == "a" and (href := attrs["href"])]
    assert linked[1:] == sections  # behind the skip link
    assert {"glance", "topology", "performance", "failures", "racks", "parts", "addresses", "tables"} <= set(sections)
    assert ("qos" in sections) == (name not in LOSSY)


@pytest.mark.parametrize("name", [name for name in DESIGNS if name != "large"])
def test_nothing_is_fetched(pages: dict[str, Page], name: str) -> None:
    found = pages[name]
    assert not {"link", "img", "iframe", "object", "embed", "base", "form", "audio", "video"} & {tag for tag, _ in found.tags}
    assert found.values("src") == found.values("style") == []
    assert all(href.startswith("#") for href in found.values("href"))
    assert not [key for _, attrs in found.tags for key in attrs if key.startswith("on")]
    sheet = found.inside["style"][0]
    assert not re.search(r"@import|url\(", sheet)


@pytest.mark.parametrize("name", SIZES)
def test_policy_allows_the_own_style_and_script_alone(pages: dict[str, Page], name: str) -> None:
    if name == "large":
        pytest.skip("as the others")
    found = pages[name]
    rules = dict(rule.split(" ", 1) for rule in found.policy.split("; "))
    assert rules["default-src"] == "'none'"
    own = found.inside["script"][1] if len(found.inside["script"]) > 1 else ""
    for rule, text in (("style-src", found.inside["style"]), ("script-src", [own])):
        hashes = [f"'sha256-{base64.b64encode(sha256(part.encode()).digest()).decode()}'" for part in text]
        assert rules[rule] == " ".join(hashes)
    assert "\r" not in found.text  # a browser would turn it into another byte, and the hash would not fit


def test_hostile_names_stay_text() -> None:
    plan = plan_of("two-fabrics")
    fabrics = {
        name: replace(fabric, devices=tuple(_wild(device) for device in fabric.devices))
        for name, fabric in plan.fabrics.items()
    }
    tame = Page(page(plan, ReportRequest()))
    wild = Page(page(replace(plan, site=HOSTILE[0], fabrics=fabrics), ReportRequest()))
    assert wild.problems == []
    assert {tag for tag, _ in wild.tags} == {tag for tag, _ in tame.tags}
    assert not [key for _, attrs in wild.tags for key in attrs if key.startswith("on")]
    assert wild.policy == tame.policy
    assert wild.data["site"] == HOSTILE[0]
    assert HOSTILE[0] in wild.words
    assert "{{ 7*7 }}" in wild.messages
    assert [name for name in wild.data["fabrics"][0]["devices"]["name"] if name.startswith("<img")]


def _wild(device: Device) -> Device:
    bad = HOSTILE[device.index % len(HOSTILE)]
    return replace(device, name=f"{bad}{device.index}", model=bad)


def test_same_bytes_every_time() -> None:
    assert page(plan_of("small"), ReportRequest()) == page_of("small")


def test_largest_page_is_below_a_megabyte() -> None:
    text = page_of("large")
    assert len(text.encode()) < 1_000_000
    found = Page(text)
    assert found.problems == []
    fabric = found.data["fabrics"][0]
    assert sum(role in (1, 2, 3) for role in _unpacked(fabric["devices"]["role"])) == 1280


def test_the_design_alone() -> None:
    found = Page(page(plan_of("small"), ReportRequest(load=False)))
    assert found.data["fabrics"][0]["scenarios"] == []
    assert "Highest link load by traffic pattern" not in found.messages
    assert "8 GiB" in found.messages  # the collective is estimated all the same


@pytest.mark.parametrize("name", ["ai-sonic", "evpn-lab", "gb300-twin-plane"])
def test_headings_of_examples_leave_out_no_level(name: str) -> None:
    """Sites of several fabrics, tenants and planes."""
    plan = pipeline.plan(pipeline.load(ROOT / "intent" / f"{name}.yaml"))
    found = Page(page(plan, ReportRequest()))
    levels = [int(tag[1]) for tag, _ in found.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    tenants = {tenant.name for fabric in plan.fabrics.values() for tenant in fabric.tenancy.tenants}
    assert tenants <= set(found.words)


def _unpacked(column: object) -> list[int]:
    if isinstance(column, list):
        return column
    assert isinstance(column, dict)
    total, found = 0, []
    for step in column["delta"]:
        total += step
        found.append(total)
    return found
