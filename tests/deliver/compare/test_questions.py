"""Thirty questions of a buyer about two topologies: the text of `fabric compare` names what each answer assumes, and its
figures are those of `fabric estimate` under the same options."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from fabric import pipeline
from fabric.deliver.compare.designs import Design, document
from fabric.deliver.compare.lines import lines
from fabric.model.plan import FabricPlan
from fabric.solver.estimate.request import EstimateRequest

INTENT = """version: 1
site: dc
fabrics:
  backend:
    servers: {model: dgx-h100, count: SERVERS}
    topology: {switch: SWITCH, kind: KIND, unit: {servers: UNIT}, leaf: {oversubscription: RATIO}}
"""
DESIGNS = {  # name → servers, switch, kind, oversubscription, servers of a unit
    "even": ("16", "7060dx5-64s", "rail-optimized", "1", "4"),
    "half": ("16", "7060dx5-64s", "rail-optimized", "2", "4"),
    "quarter": ("16", "7060dx5-64s", "rail-optimized", "4", "8"),
    "racks": ("16", "7060dx5-64s", "rack", "2", "2"),
    "infiniband": ("8", "qm9700", "rail-optimized", "2", "4"),
    "one-unit": ("8", "7060dx5-64s", "rail-optimized", "2", "8"),
}
ECMP = "routing as planned: ECMP by hash, 4 queue pairs per connection"
PACKED = "packed: unit after unit; few bytes of a ring or tree then cross a spine"
SPREAD = "spread: one server of each unit in turn, as where jobs come and go"
WORST = "worst switch failed: of every kind, the one that costs this call the most"
REDUCE, ALL = "all_reduce", "alltoall"


@dataclass(frozen=True)
class Ask:
    """A call of one design, as `fabric estimate` takes it; `failed` is a tier whose worst failure is meant."""

    design: str
    collective: str = REDUCE
    placement: str = "packed"
    failed: str = ""
    gpus: int | None = None


def slower(design: str, **more: Any) -> tuple[Ask, Ask]:
    return Ask("even", **more), Ask(design, **more)


QUESTIONS = [  # question; what the text must name; the two calls; how the second compares with the first
    ("does 2:1 slow a packed all-reduce", PACKED, *slower("half"), "equal"),
    ("does 4:1 slow a packed all-reduce", PACKED, *slower("quarter"), "equal"),
    ("does 2:1 slow an all-reduce on a cluster in use", SPREAD, *slower("half", placement="spread"), "slower"),
    ("does 4:1 slow it more", SPREAD, *slower("quarter", placement="spread"), "slower"),
    ("does 2:1 slow a packed alltoall", ECMP, *slower("half", collective=ALL), "slower"),
    ("does 4:1 slow a packed alltoall", ECMP, *slower("quarter", collective=ALL), "slower"),
    ("does 2:1 slow a spread alltoall", SPREAD, *slower("half", collective=ALL, placement="spread"), "slower"),
    ("what does placement cost at 1:1", "even: spread all_reduce", Ask("even"), Ask("even", REDUCE, "spread"), "slower"),
    ("what does placement cost at 2:1", "half: spread all_reduce", Ask("half"), Ask("half", REDUCE, "spread"), "slower"),
    (
        "what does placement cost at 4:1",
        "quarter: spread all_reduce",
        Ask("quarter"),
        Ask("quarter", REDUCE, "spread"),
        "slower",
    ),
    ("how much leaves a leaf", "leaves its leaf, packed", Ask("half"), Ask("half", REDUCE, "spread"), "slower"),
    ("what does a failed spine cost a packed all-reduce", WORST, Ask("half"), Ask("half", failed="spine"), "equal"),
    ("what does a failed leaf cost a packed all-reduce", "leaf, ", Ask("half"), Ask("half", failed="leaf"), "slower"),
    (
        "what does a failed spine cost it spread",
        WORST,
        Ask("half", REDUCE, "spread"),
        Ask("half", REDUCE, "spread", "spine"),
        "slower",
    ),
    ("what does a failed spine cost a packed alltoall", WORST, Ask("half", ALL), Ask("half", ALL, failed="spine"), "slower"),
    (
        "what does a failed spine cost a spread alltoall",
        WORST,
        Ask("half", ALL, "spread"),
        Ask("half", ALL, "spread", "spine"),
        "slower",
    ),
    (
        "is 2:1 with a spine down slower than 1:1 with one",
        WORST,
        *slower("half", placement="spread", failed="spine"),
        "slower",
    ),
    (
        "is 4:1 with a spine down slower than 1:1 with one",
        WORST,
        *slower("quarter", collective=ALL, failed="spine"),
        "slower",
    ),
    ("what does a failed leaf cost an alltoall at 1:1", WORST, Ask("even", ALL), Ask("even", ALL, failed="leaf"), "slower"),
    ("do racks slow a packed all-reduce", PACKED, Ask("half"), Ask("racks"), "slower"),
    ("do racks slow a spread all-reduce", SPREAD, Ask("half", REDUCE, "spread"), Ask("racks", REDUCE, "spread"), "slower"),
    ("do racks slow an alltoall", ECMP, Ask("half", ALL), Ask("racks", ALL), "slower"),
    (
        "does a job outlive a leaf of racks",
        "racks: a failed leaf (backend-leaf001) stops the job: 2 servers cut off",
        Ask("racks"),
        Ask("racks", failed="spine"),
        "slower",
    ),
    ("what does a failed spine cost racks", WORST, Ask("racks", ALL), Ask("racks", ALL, failed="spine"), "slower"),
    (
        "which routing has InfiniBand",
        "routing of infiniband as planned: adaptive routing, 1 queue pair per connection",
        Ask("infiniband"),
        Ask("infiniband", REDUCE, "spread"),
        "slower",
    ),
    (
        "which routing have the others",
        "routing of half as planned: ECMP by hash",
        Ask("infiniband"),
        Ask("infiniband", ALL),
        "slower",
    ),
    (
        "does placement matter in one unit",
        "one-unit: one unit, where packed and spread are the same",
        Ask("one-unit"),
        Ask("one-unit", REDUCE, "spread"),
        "equal",
    ),
    (
        "does oversubscription matter in one unit",
        "one-unit: one unit",
        Ask("one-unit", ALL),
        Ask("one-unit", ALL, "spread"),
        "equal",
    ),
    (
        "what does a small job get packed",
        "GPUs of the job  64 of 128",
        Ask("half", gpus=64),
        Ask("half", REDUCE, "spread", gpus=64),
        "slower",
    ),
    (
        "and its alltoall without a spine",
        WORST,
        Ask("half", ALL, gpus=64),
        Ask("half", ALL, failed="spine", gpus=64),
        "slower",
    ),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("designs")


@cache
def planned(folder: Path, name: str) -> tuple[pipeline.Intent, Any]:
    text = INTENT
    for word, value in zip(("SERVERS", "SWITCH", "KIND", "RATIO", "UNIT"), DESIGNS[name], strict=True):
        text = text.replace(word, value)
    path = folder / f"{name}.yaml"
    path.write_text(text, encoding="utf-8")
    intent = pipeline.load(path)
    return intent, pipeline.plan(intent)


@cache
def compared(folder: Path, name: str, gpus: int | None) -> Design:
    intent, plan = planned(folder, name)
    asked = EstimateRequest(gpus=gpus, routing="", queue_pairs=0)
    return pipeline.design(name, intent, plan, plan.fabrics["backend"], asked)


def answer(folder: Path, ask: Ask) -> float:
    """Time in µs as `compare` has it; it must be that of `estimate`."""
    calls = compared(folder, ask.design, ask.gpus).calls
    call = calls.worst(ask.collective, ask.placement, ask.failed) if ask.failed else calls.of(ask.collective, ask.placement)
    assert call is not None
    assert (call.placement, call.failed_role) == (ask.placement, ask.failed)
    fail = (call.failed,) if call.failed else ()
    asked = EstimateRequest(collective=ask.collective, sizes=(1 << 30,), gpus=ask.gpus, routing="", queue_pairs=0, fail=fail)
    row = pipeline.estimate(fabric(folder, ask.design), asked, ask.placement)[0].rows[0]
    assert (call.time_us, call.busbw_GBps, call.bottleneck) == (row.time_us, row.busbw_GBps, row.bottleneck)
    return call.time_us


def fabric(folder: Path, name: str) -> FabricPlan:
    found: FabricPlan = planned(folder, name)[1].fabrics["backend"]
    return found


def squeezed(text: str) -> str:
    """A table without the blanks that align it."""
    return "\n".join(_squeezed(text))


def _squeezed(text: str) -> Iterator[str]:
    for line in text.splitlines():
        title, *cells = [part for part in line.split("  ") if part.strip()]
        yield "  ".join([title.strip(), *(cell.strip() for cell in cells)])


def test_there_are_thirty() -> None:
    assert len({question for question, *_ in QUESTIONS}) == len(QUESTIONS) == 30


@pytest.mark.parametrize(("question", "named", "first", "second", "how"), QUESTIONS, ids=[row[0] for row in QUESTIONS])
def test_a_question(folder: Path, question: str, named: str, first: Ask, second: Ask, how: str) -> None:
    designs = [compared(folder, name, ask.gpus) for name, ask in {first.design: first, second.design: second}.items()]
    if "InfiniBand" in question or "others" in question:
        designs.insert(0, compared(folder, "half", None))
    text = squeezed("\n".join(line for line in lines(designs) if line))
    assert named in text
    assert all(len(line) <= 80 for line in lines(designs) if "  " not in line.strip())
    one, other = answer(folder, first), answer(folder, second)
    assert (other > 1.01 * one) if how == "slower" else other == pytest.approx(one, rel=0.005)


def test_the_document_has_the_same(folder: Path) -> None:
    """Counts are those of the plan, and one call is one entry."""
    designs = [compared(folder, name, None) for name in ("even", "half")]
    for row, name in zip(document(designs)["designs"], ("even", "half"), strict=True):
        plan = pipeline.summarize(planned(folder, name)[0])["fabrics"]["backend"]
        assert row["links"] == sum(plan["links"].values()) == len(fabric(folder, name).links)
        assert row["switch_links"] == plan["links"]["leaf-spine"]
        assert row["oversubscription"] == plan["oversubscription"]["leaf"]
        assert row["cables"] == sum(plan["cables"].values())
        calls = {(call["collective"], call["placement"], call["failed_role"]): call["time_us"] for call in row["calls"]}
        assert set(calls) == {
            (collective, placement, role)
            for collective in (REDUCE, ALL)
            for placement in ("packed", "spread")
            for role in ("", "leaf", "spine")
        }
        assert row["all_reduce_us"] == calls[REDUCE, "packed", ""]
        assert "step_ms" not in row
