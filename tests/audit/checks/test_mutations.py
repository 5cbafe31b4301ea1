"""Faults injected into rendered files and the share that is found: the figures of `docs/mutations.md`."""

from __future__ import annotations

import pytest

from tests import ROOT, samples
from tests.audit.checks import mutations

PAGE = ROOT / "docs" / "mutations.md"
COUNT = mutations.CASES if samples.WHOLE else 130


@pytest.mark.parametrize("system", mutations.SYSTEMS)
def test_undamaged_files_have_no_findings(system: str) -> None:
    for switch in mutations.switches(system):
        assert [str(one) for one in mutations.site.judge(switch.view, switch.facts, switch.files)] == []


def test_every_kind_in_every_format() -> None:
    """A format without a line of the kind is the only reason for a gap."""
    gaps = {(system, kind) for system in mutations.SYSTEMS for kind in mutations.KINDS} - set(mutations.score(COUNT).done)
    assert gaps == {("frr", "threshold"), ("frr", "dscp"), ("cumulus", "dscp")}


def test_with_the_plan() -> None:
    result = mutations.score(COUNT)
    assert result.share(result.planned) >= 95, [line for line in result.missed if line.startswith("plan")]


def test_from_the_configs_alone() -> None:
    result = mutations.score(COUNT)
    assert result.share(result.alone) >= 70, [line for line in result.missed if line.startswith("configs")]


def test_another_seed() -> None:
    """The figures do not depend on one seed."""
    damages = list(mutations.damages(60, seed=99))
    planned = sum(mutations.found(damage, mutations.with_plan(damage)) for damage in damages)
    assert planned >= 0.95 * len(damages)


@pytest.mark.slow
def test_page() -> None:
    assert PAGE.read_text(encoding="utf-8") == mutations.page()
