"""Designs that leave most of their ports free are reported what would fill them; sensible and small ones are left alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from fabric import pipeline
from fabric.audit.checks import Scope
from fabric.base.diagnostics import Diagnostic, InputError
from fabric.design.planner import warnings
from tests import ROOT

SILENCE = "    checks: {silence: {FAB197: the racks are rented with a leaf each}}\n"


def intent(topology: str, servers: str = "count: 512", more: str = "") -> str:
    return (
        "version: 1\nsite: w\nfabrics:\n  storage:\n    purpose: storage\n"
        f"    servers: {{model: dgx-h200, nics: storage, {servers}}}\n    topology: {{{topology}}}\n{more}"
    )


def planned(folder: Path, text: str) -> tuple[pipeline.Intent, tuple[Diagnostic, ...]]:
    path = folder / "w.yaml"
    path.write_text(text, encoding="utf-8")
    made = pipeline.load(path)
    return made, tuple(one for one in pipeline.plan(made).warnings if one.code in ("FAB197", "FAB198"))


RACK = "kind: rack, switch: 7060x6-64pe"


@pytest.mark.parametrize(
    ("topology", "servers", "more", "notes"),
    [
        (
            RACK,
            "count: 512, per_rack: 4",
            "",
            [
                "fabric 'storage': the 128 leaves (7060x6-64pe) use 12% of their bandwidth; most of their ports stay free\n"
                "    hint: `kind: rail-optimized` and `unit: {servers: 64}`, `per_rack` stays: 16 leaves, 8 spines in place "
                "of 128 leaves, 8 spines; or `unit: {servers: 32}` without `per_rack`, a leaf for several racks: 16 leaves, "
                "8 spines in place of 128 leaves, 8 spines",
            ],
        ),
        (RACK, "count: 512", "", []),  # the default unit fills its leaf
        (RACK, "count: 28, per_rack: 4", "", []),  # seven racks: a first row
        (RACK, "count: 28, per_rack: 4", "    planned: {servers: 512}\n", ["the 128 leaves (7060x6-64pe) use 12%"]),
        (RACK, "count: 512, per_rack: 4", SILENCE, []),
        (
            "kind: rail-optimized, switch: 7060x6-64pe, unit: {servers: 8}",
            "count: 512",
            "",
            ["`unit: {servers: 64}`: 16 leaves"],
        ),
        ("kind: rail-optimized, switch: 7060x6-64pe, unit: {servers: 64}", "count: 512", "", []),
        (
            "kind: rail-optimized, switch: 7060x6-64pe, leaf: {oversubscription: 2}",
            "count: 512",
            "",
            ["the unit is not stated, so it is that of 1:1; at 2:1 a leaf has ports for more servers"],
        ),
        (
            f"{RACK}, unit: {{servers: 32}}",
            "count: 512, per_rack: 4",
            SILENCE,
            [
                "a unit of 32 servers has no effect on the number of leaves: with `per_rack: 4` every rack has 1 leaf of its",
            ],
        ),
        (f"{RACK}, unit: {{servers: 4}}", "count: 512, per_rack: 4", SILENCE, []),
    ],
)
def test_notes(topology: str, servers: str, more: str, notes: list[str], tmp_path: Path) -> None:
    _, found = planned(tmp_path, intent(topology, servers, more))
    assert len(found) == len(notes), [str(one) for one in found]
    for note, words in zip(found, notes, strict=True):
        assert note.severity == "note"
        assert words in f"{note.message}\n    hint: {note.hint}"


def test_what_a_hint_says_is_what_comes_of_it(tmp_path: Path) -> None:
    _, (note,) = planned(tmp_path, intent(RACK, "count: 512, per_rack: 4"))
    shared = intent(f"{RACK}, unit: {{servers: 32}}", "count: 512")
    rails = intent("kind: rail-optimized, switch: 7060x6-64pe, unit: {servers: 64}", "count: 512, per_rack: 4")
    for text in (shared, rails):
        made, again = planned(tmp_path, text)
        row = pipeline.summarize(made)["fabrics"]["storage"]["switches"]
        assert f"{row['leaf']} leaves, {row['spine']} spines in place of" in note.hint
        assert again == ()


def test_check_has_it_as_a_note(tmp_path: Path) -> None:
    made, _ = planned(tmp_path, intent(RACK, "count: 64, per_rack: 4"))
    verdict = pipeline.check(Scope(files=(made.path,))).verdict
    assert [finding.severity for finding in verdict.findings if finding.id == "FAB197"] == ["note"]


@pytest.mark.parametrize("file", sorted((ROOT / "intent").glob("*.yaml")), ids=lambda path: path.stem)
def test_shipped_examples_are_sensible(file: Path) -> None:
    made = pipeline.plan(pipeline.load(file))
    assert [str(one) for one in made.warnings if one.code in ("FAB197", "FAB198")] == []


@settings(max_examples=12, deadline=None)
@given(
    kind=st.sampled_from(("rack", "rail-optimized", "rail-only")),
    servers=st.integers(8, 600),
    rack=st.sampled_from((None, 1, 2, 4)),
    unit=st.sampled_from((None, 2, 8, 20)),
    ratio=st.sampled_from((1, 1.5, 2, 4)),
)
def test_every_note_saves_switches_and_keeps_the_ratio(
    kind: str, servers: int, rack: int | None, unit: int | None, ratio: float, tmp_path_factory: pytest.TempPathFactory
) -> None:
    per_rack = f", per_rack: {rack}" if rack else ""
    stated = f", unit: {{servers: {unit}}}" if unit and not (kind == "rack" and rack and unit % rack) else ""
    text = intent(
        f"kind: {kind}, switch: 64x400g, leaf: {{oversubscription: {ratio}}}{stated}", f"count: {servers}{per_rack}"
    )
    try:
        made, found = planned(tmp_path_factory.mktemp("w"), text)
    except InputError:
        return
    fabric = pipeline.plan(made).fabrics["storage"]
    for note in (one for one in found if one.code == "FAB197"):
        now = warnings.switches(fabric.sizing)
        for better in re.findall(r": (\d+ .*?) in place of", note.hint):
            assert sum(map(int, re.findall(r"\d+", better))) < now
