"""Converged pairs with switches below them: the example sites come back from their configs, with few plans on the way."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabric import pipeline
from fabric.deliver.brownfield.importing import imported
from fabric.deliver.brownfield.sections.refine import Comparison
from fabric.deliver.brownfield.sources.topology import wires_of
from fabric.deliver.brownfield.survey.site import survey
from fabric.nos.reading import scan

INTENTS = Path(__file__).parents[3] / "intent"
MAX_COMPARED = 12  # plans that are rendered where what is found fits


@pytest.mark.parametrize("site", ["era-2-4-3-200", "era-2-8-5-200", "era-2-8-9-400"])
def test_an_example_comes_back(site: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / f"{site}.yaml"
    path.write_bytes((INTENTS / path.name).read_bytes())
    intent = pipeline.load(path, tmp_path / "generated")
    before = pipeline.plan(intent)
    pipeline.generate(intent, jobs=1).write()
    compared, count = Comparison.compared, 0

    def counted(*arguments: object) -> object:
        nonlocal count
        count += 1
        return compared(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Comparison, "compared", counted)
    found = scan(intent.folder / "configs")
    for wires in ([], wires_of([intent.folder / "links.csv"])):
        count = 0
        made = imported(survey(found, site, wires=wires), found, tmp_path / "out.yaml", pipeline.plan, jobs=1)
        assert made.before is not None
        assert made.before.in_sync
        assert not made.own.rules
        assert {name: len(fabric.links) for name, fabric in made.plan.fabrics.items()} == {
            name: len(fabric.links) for name, fabric in before.fabrics.items()
        }
        assert count <= MAX_COMPARED
