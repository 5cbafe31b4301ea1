"""Random designs through files: planned, generated, imported from their configs, planned again and compared.

`python -m tests.deliver.brownfield.through_files --designs 500 --seed 7` is the long run: designs whose plan is what the
configs say, the length of the imported intents, and what differs, by kind. `--only drawing:7` shows one design;
`--oracle` takes the survey of the plan in place of the one that is read from the configs.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from fabric import pipeline
from fabric.base.diagnostics import InputError
from fabric.base.formats import yaml
from fabric.deliver.brownfield.importing import Imported, imported
from fabric.deliver.brownfield.proof import DeviceProof
from fabric.model.plan import FabricPlan, Plan
from fabric.nos.reading import scan
from tests.deliver.brownfield.oracle import survey_of
from tests.system.random_designs.drawing import Design, draw
from tests.system.random_designs.everyday import draw_everyday

DRAWS: dict[str, Callable[[int, int], Design]] = {"drawing": draw, "everyday": draw_everyday}
MAX_RATIO = 1.5  # lines of an imported intent, without overrides, to those of the original one


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of a design; `planned` is False where there is nothing to import."""

    planned: bool = True
    statements: int = 0
    differing: int = 0  # statements that the plan without overrides has otherwise
    left: int = 0  # … with the overrides
    kinds: Counter[str] = field(default_factory=Counter)
    network: tuple[str, ...] = ()  # what differs between the plans
    lines: int = 0
    lines_before: int = 0
    crash: str = ""
    made: Imported | None = None

    @property
    def good(self) -> bool:
        return not (self.differing or self.network or self.crash)


def through_files(design: Design, folder: Path, *, oracle: bool = False) -> Outcome:
    """A design planned, generated, imported and compared."""
    path = folder / f"{design.name}.yaml"
    for name, text in design.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    path.write_text(design.text, encoding="utf-8")
    try:
        intent = pipeline.load(path, folder / "generated")
        before = pipeline.plan(intent)
        pipeline.generate(intent, jobs=1).write()
    except InputError:
        return Outcome(planned=False)
    configs, output = intent.folder / "configs", folder / "import" / "imported.yaml"
    if not configs.is_dir():  # InfiniBand alone
        return Outcome(planned=False)
    try:
        found = scan(configs)
        if oracle:
            survey = survey_of(before, {device.name: device.facts for device in found.devices})
        else:
            from fabric.deliver.brownfield.survey.site import survey as of_files

            survey = of_files(found, before.site)
        made = imported(survey, found, output, pipeline.plan, jobs=1)
    except InputError as error:
        return Outcome(crash=f"refused: {error.diagnostics[0].message}"[:200])
    except Exception:
        return Outcome(crash=traceback.format_exc())
    return _compared(design, before, made)


def _compared(design: Design, before: Plan, made: Imported) -> Outcome:
    assert made.before is not None
    assert made.after is not None
    kinds = Counter(
        f"{one.state} {one.topic}"
        for device in made.before.devices
        for one in device.residuals
        for _ in range(one.statements)
    )
    kinds.update(f"not compared: {reason}" for device in made.before.devices if (reason := _reason(device)))
    document = {key: value for key, value in yaml.load(made.text).items() if key != "overrides"}
    original = {key: value for key, value in design.intent.items() if key not in ("overrides", "checks", "output", "floor")}
    return Outcome(
        statements=made.coverage[-1].total,
        differing=sum(kinds.values()),
        left=sum(one.statements for device in made.after.devices for one in device.residuals),
        kinds=kinds,
        network=tuple(_differences(before, made.plan)),
        lines=len(yaml.compact(document).splitlines()),
        lines_before=len(yaml.compact(json.loads(json.dumps(original))).splitlines()),
        made=made,
    )


def _reason(device: DeviceProof) -> str:
    return device.reason.replace(device.device, "DEVICE")


def _differences(before: Plan, after: Plan) -> Iterator[str]:
    """What the statements need not show: the ends of cables. Speeds that matter are statements."""
    one, other = (set().union(*map(_cables, plan.fabrics.values())) for plan in (before, after))
    if one != other:
        yield f"cables: {len(one - other)} lost, {len(other - one)} new, such as {sorted(one ^ other)[:2]}"


def _cables(fabric: FabricPlan) -> set[tuple[str, ...]]:
    names = [device.name for device in fabric.devices]
    links = fabric.links.lists()
    rows = zip(links["a"], links["b"], range(len(fabric.links)), strict=True)
    ends = ((names[a], names[b], fabric.ref(at, "b")) for a, b, at in rows)
    return {(a, b, f"{ref.cage}/{ref.sub} of {ref.split}") for a, b, ref in ends}


def designs(kinds: list[str], first: int, count: int, seed: int) -> Iterator[tuple[str, Design]]:
    for at in range(first, first + count):
        kind = kinds[at % len(kinds)]
        yield f"{kind}:{at}", DRAWS[kind](seed, at)


def bare(design: Design) -> Design:
    """A design without its own overrides, whose lines are by definition what no other key of an intent gives."""
    if "overrides" not in design.intent:
        return design
    intent = {key: value for key, value in design.intent.items() if key != "overrides"}
    return replace(design, intent=intent)


def show(design: Design, outcome: Outcome) -> None:
    print(yaml.compact(json.loads(json.dumps(design.intent))))
    if outcome.made is not None:
        print(outcome.made.text)
        for device in outcome.made.before.devices if outcome.made.before else ():
            for one in device.residuals[:20]:
                print(f"{device.device}: {one.place}: {one.state}: {one.message}")
    print(outcome.crash, *outcome.network, sep="\n")
    print(dict(outcome.kinds), f"left {outcome.left}, lines {outcome.lines} of {outcome.lines_before}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.deliver.brownfield.through_files", description=__doc__)
    parser.add_argument("--designs", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--oracle", action="store_true", help="survey of the plan in place of that of the configs")
    parser.add_argument("--overrides", action="store_true", help="designs with their own overrides, which an import repeats")
    parser.add_argument("--only", metavar="KIND:NUMBER")
    asked = parser.parse_args()
    if asked.only:
        kind, _, number = asked.only.partition(":")
        design = DRAWS[kind](asked.seed, int(number))
        design = design if asked.overrides else bare(design)
        with tempfile.TemporaryDirectory() as folder:
            show(design, through_files(design, Path(folder), oracle=asked.oracle))
        return 0
    start, tally, kinds, ratios = time.process_time(), Counter[str](), Counter[str](), list[float]()
    total = differing = left = 0
    for name, design in designs(list(DRAWS), asked.first, asked.designs, asked.seed):
        with tempfile.TemporaryDirectory() as folder:
            outcome = through_files(design if asked.overrides else bare(design), Path(folder), oracle=asked.oracle)
        tally["designs"] += 1
        if not outcome.planned:
            continue
        tally["planned"] += 1
        tally["good"] += outcome.good
        tally["crashed"] += bool(outcome.crash)
        tally["other cables"] += bool(outcome.network)
        total, differing, left = total + outcome.statements, differing + outcome.differing, left + outcome.left
        kinds.update(outcome.kinds.keys())
        if outcome.lines:
            ratios.append(outcome.lines / outcome.lines_before)
        if not outcome.good:
            crash = (outcome.crash.strip().splitlines() or [""])[-1][:150]
            print(f"{name}: {dict(outcome.kinds.most_common(4))} {'; '.join(outcome.network)[:120]} {crash}", flush=True)
    print(dict(tally), f"{time.process_time() - start:.0f} s of CPU")
    print(f"{total:,} statements, {differing:,} differ from the plan without overrides, {left:,} from that with them")
    print("designs by kind of difference:", dict(kinds.most_common(20)))
    print(f"lines: {sum(ratio > MAX_RATIO for ratio in ratios)} above {MAX_RATIO} times, most {max(ratios, default=0):.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
