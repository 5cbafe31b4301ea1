"""The four questions at the top: their figures are those of the other commands; every figure of a page has its meaning."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from fabric import pipeline
from fabric.base.text import percent, time
from fabric.configs.hosts.nccl import spreading
from fabric.deliver.bom.gather import BomRequest
from fabric.deliver.bom.prices import Prices, read
from fabric.deliver.report import comparison_page, hardware, summary
from fabric.deliver.report.answers import Answer, Part, answers
from fabric.deliver.report.assets import term_of, terms
from fabric.deliver.report.comparison import GivenDesign
from fabric.deliver.report.loads import scenarios
from fabric.deliver.report.page import page
from fabric.deliver.report.study import ReportRequest, studies
from fabric.model.plan import Plan
from fabric.solver.estimate.request import EstimateRequest
from tests import ROOT
from tests.deliver.report.designs import DESIGNS, page_of, plan_of, write
from tests.deliver.report.page_reader import Page
from tests.deliver.report.test_cli import run

EVERY = [name for name in DESIGNS if name != "large"]
PRICES = ROOT / "docs" / "prices-example.yaml"
QUESTIONS = ["What is it?", "Does it fit?", "What limits it?", "What does it cost?"]


def answered(plan: Plan, request: ReportRequest | None = None) -> tuple[Answer, ...]:
    """The answers as the page makes them."""
    request = request or ReportRequest()
    parts = [Part(study, scenarios(study)) for study in studies(plan, request)]
    bill = hardware.bill(plan, request.prices)
    found = summary.findings(plan, [*hardware.sites(plan).diagnostics, *hardware.over(bill, None)])
    return answers(parts, bill, summary.overview(found, None), request)


def shown(found: tuple[Answer, ...]) -> dict[str, tuple[str, str]]:
    return {figure.term: (figure.value, figure.note) for answer in found for figure in answer.figures}


@pytest.mark.parametrize("name", EVERY)
def test_every_kind_of_fabric_answers_four_questions_in_order(name: str) -> None:
    found = answered(plan_of(name))
    assert [answer.question for answer in found] == QUESTIONS
    assert all(answer.words and len(answer.figures) > 1 for answer in found)
    assert found[1].badge in ("good", "warn", "bad")
    text = Page(page_of(name)).lines
    assert [line for line in text.splitlines() if line in QUESTIONS] == QUESTIONS
    for answer in found:
        assert answer.words in text


def test_figures_are_those_of_the_other_commands() -> None:
    plan = plan_of("medium")
    fabric = plan.fabrics["backend"]
    figures = shown(answered(plan))
    row = studies(plan, ReportRequest())[0].row
    assert figures["switches"] == ("80", "32 leaf, 32 spine, 16 core")
    assert figures["links"] == (f"{sum(row['links'].values())}", f"{sum(row['cables'].values())} cables")
    assert figures["free ports"][0] == ", ".join(
        f"{tier} {row['ports'][tier]['spare']}" for tier in ("leaf", "spine", "core")
    )
    assert figures["maximum size"][0] == f"{row['limits']['max_servers']} servers"
    routing, queue_pairs = spreading(fabric)
    asked = EstimateRequest(collective="all_reduce", sizes=(8 << 30,), routing=routing, queue_pairs=queue_pairs)
    estimated = pipeline.estimate(fabric, asked)[0].rows[0]
    assert figures["collective time"][0] == time(estimated.time_us)
    assert figures["busbw"][0] == f"{estimated.busbw_GBps:,.0f} GB/s"
    assert figures["worst failure"] == ("6.5 % of traffic", "core")
    buffers = [entry.qos.buffer for entry in (fabric.lossless.roles if fabric.lossless else {}).values()]
    known = [buffer.reserved_bytes / buffer.total_bytes for buffer in buffers if buffer.total_bytes]
    assert figures["headroom"][0] == (percent(max(known)) if known else "not known")
    bill = pipeline.bill(plan, BomRequest())[0]
    assert figures["network power"][1] == f"worst case {bill.network.max_w / 1000:,.1f} kW"


def test_a_site_of_several_fabrics_names_them() -> None:
    found = answered(plan_of("two-fabrics"))
    assert found[0].words == "64 servers with 512 GPUs on 2 fabrics: backend, storage"
    assert "of backend" in found[2].words
    figures = shown(found)
    assert figures["oversubscription"] == ("backend 1:1, storage 2.6667:1", "")
    assert figures["worst failure"][1].split(":")[0] in ("backend", "storage")
    rows = re.findall(r"Figures of the design</caption>\s*<thead>(.*?)</thead>", page_of("two-fabrics"), re.DOTALL)
    assert [re.sub("<[^>]*>", " ", row).split() for row in rows] == [["figure", "backend", "storage"]]


def test_what_does_not_fit_is_reported(tmp_path: Path) -> None:
    path = write(tmp_path, "small")
    path.write_text(path.read_text(encoding="utf-8") + "floor: {rack_power_max_w: 20000}\n", encoding="utf-8")
    found = answered(pipeline.plan(pipeline.load(path)))
    assert found[1].badge in ("warn", "bad")
    assert not found[1].words.startswith("Yes")
    value, note = shown(found)["power per rack"]
    assert float(value.split(" ")[0]) > 20
    assert value.endswith(" of 20.0 kW")
    assert note.endswith(" over")


def test_money_where_prices_are_given() -> None:
    plan = plan_of("small")
    assert shown(answered(plan))["price"][0] == "not given"
    prices: Prices = read(PRICES)
    request = ReportRequest(prices=prices)
    figures = shown(answered(plan, request))
    cost = pipeline.bill(plan, BomRequest(prices=prices, spares=prices.spares, pue=1.3, years=5))[0].cost
    assert cost is not None
    least = "≥ " if cost.unpriced else ""
    assert figures["price"][0] == f"{least}{cost.capex:,.0f} USD"
    assert figures["total cost"] == (f"{least}{cost.tco:,.0f} USD", "over 5 years")
    text = page(plan, request)
    assert "price, USD</button>" in text
    assert "price, USD</button>" not in page_of("small")


# every figure has a meaning


def titles(text: str) -> list[str]:
    """What stands over a figure: titles of columns of numbers, terms of lists, first cells of tables by row."""
    text = text[: text.index('<section id="terms"')]
    heads = re.findall(r'<th scope="col" class="number">(.*?)</th>', text)
    return [unescape(re.sub("<[^>]*>", "", title)) for title in heads + re.findall(r"<dt>(.*?)</dt>", text)]


def buttons(text: str) -> set[str]:
    return set(re.findall(r'popovertarget="(term-[^"]*)"', text))


@pytest.mark.parametrize("name", EVERY)
def test_every_figure_has_a_meaning(name: str) -> None:
    text = page_of(name)
    assert [title for title in titles(text) if not term_of(title)] == []
    assert buttons(text) <= set(Page(text).values("id"))


def test_figures_of_a_job_have_meanings(tmp_path: Path) -> None:
    output = tmp_path / "report.html"
    run(write(tmp_path, "small"), output, model=ROOT / "docs" / "goodput-70b.yaml", prices=PRICES)
    found = titles(output.read_text(encoding="utf-8"))
    assert {"tokens per day", "training step", "cost per year"} <= set(found)
    assert [title for title in found if not term_of(title)] == []


def test_every_column_of_numbers_has_a_meaning() -> None:
    """Those of sections too that no design here has: a change, tenants, failures that are asked for."""
    sources = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "fabric/deliver/report").glob("*.py"))]
    found = [title for source in sources for title in re.findall(r'"#([a-zA-Z0-9][^"{]*)"', source)]
    assert {"ports down", "VNI", "healthy, GB/s"} <= set(found)
    assert [title for title in found if not term_of(title) and title != "all designs"] == []


def test_figures_of_designs_side_by_side_have_meanings(tmp_path: Path) -> None:
    sides = []
    for name in ("small", "medium", "planes"):
        intent = pipeline.load(write(tmp_path, name))
        sides.append(GivenDesign(name, pipeline.plan(intent), intent.keys()))
    text = comparison_page.page(sides, ReportRequest())
    rows = re.findall(r'<tr><th scope="row">(.*?)</th>', text[: text.index('id="keys"')])
    names = [unescape(re.sub("<[^>]*>", "", row)) for row in rows]
    assert len(names) > 20
    assert [row for row in names if not term_of(row)] == []
    assert text.count('class="term"') >= len(names)


def test_a_title_has_the_longest_term_that_it_begins_with() -> None:
    assert term_of("busbw, GB/s") == "busbw"
    assert term_of("slowest pair loses") == "slowest pair loses"
    assert term_of("slowest, GB/s") == "slowest"
    assert term_of("coastal") == term_of("") == ""
    assert all(meaning.endswith(".") for meaning in terms().values())


def test_hostile_titles_stay_text() -> None:
    plan = plan_of("small")
    text = page(replace(plan, site="<b>busbw"), ReportRequest())
    assert "<b>busbw" not in text
