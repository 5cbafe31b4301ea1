"""An intent planned, surveyed, drafted and planned again: the two plans are the same network.

`python -m tests.deliver.brownfield.round_trip --designs 500` draws random designs; `--only drawing:7` shows one.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import yaml

from fabric.base.diagnostics import InputError
from fabric.deliver.brownfield.draft.draft import Draft, draft
from fabric.deliver.brownfield.draft.judge import Difference, differences, merged, planned
from fabric.deliver.brownfield.survey.nic_numbers import with_numbers
from fabric.model.plan import SERVER, Plan
from tests.deliver.brownfield.oracle import plain, survey_of
from tests.system.random_designs.drawing import Design, draw
from tests.system.random_designs.everyday import draw_everyday

DRAWS: dict[str, Callable[[int, int], Design]] = {"drawing": draw, "everyday": draw_everyday}
OF_GROUPS = ("homing",)
OF_ATTACHMENTS = ("tenant", "network", "bond", "external", "lossless")
OF_FABRICS = ("underlay", "overlay", "tenants", "qos", "management", "transport", "releases", "checks", "below")
OF_SITES = ("management", "releases", "checks", "overrides", "output", "floor")


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of a design."""

    planned: bool
    found: Draft | None = None
    left: tuple[Difference, ...] = ()
    lines: int = 0  # of the drafted intent, with the sections that are no part of a draft
    lines_before: int = 0
    crash: str = ""

    @property
    def good(self) -> bool:
        return not self.left and not self.crash


def sections_of(intent: Mapping[str, Any], plan: Plan) -> dict[str, Any]:
    """The sections of an intent that a draft takes from elsewhere; racks of tenants, which no config names, by servers."""
    result: dict[str, Any] = {key: deepcopy(intent[key]) for key in OF_SITES if key in intent}
    switches = intent.get("catalog", {}).get("switches")
    breakouts = intent.get("catalog", {}).get("breakouts")
    result |= {"catalog": {"switches": switches} if switches else {} | ({"breakouts": breakouts} if breakouts else {})}
    result["fabrics"] = {}
    for name, fabric in intent["fabrics"].items():
        part = {key: deepcopy(fabric[key]) for key in OF_FABRICS if key in fabric}
        part.get("underlay", {}).pop("asn", None)
        part.get("below", {}).pop("links", None)
        for tenant in _list(part.get("tenants", [])):
            if racks := _list(tenant.pop("racks", [])):
                inside = [its.name for its in plan.fabrics[name].devices if its.role == SERVER and its.rack + 1 in racks]
                tenant["servers"] = sorted({*_list(tenant.get("servers", [])), *inside})
        groups = fabric["servers"] if isinstance(fabric["servers"], list) else [fabric["servers"]]
        homed = [
            {"name": group.get("name", group["model"])} | {key: group[key] for key in OF_GROUPS if key in group}
            for group in groups
            if any(key in group for key in OF_GROUPS)
        ]
        part |= {"servers": homed} if homed else {}
        attached = fabric["topology"].get("attachments", [])
        attached = attached if isinstance(attached, list) else [attached]
        kept = [{"name": its["name"]} | {key: its[key] for key in OF_ATTACHMENTS if key in its} for its in attached]
        lengths = fabric["topology"].get("cable_length_m")
        topology = {"attachments": [its for its in kept if len(its) > 1]} if any(len(its) > 1 for its in kept) else {}
        topology |= {"cable_length_m": lengths} if lengths else {}
        part |= {"topology": topology} if topology else {}
        result["fabrics"][name] = part
    return {key: value for key, value in result.items() if value}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def round_trip(intent: Mapping[str, Any], *, bare: bool = False) -> Outcome:
    """Plans an intent, drafts what its survey shows, and compares the plans. `bare`: without models and coordinates."""
    intent = deepcopy(dict(intent))
    for fabric in intent["fabrics"].values():  # no import sees which formula numbers the servers
        fabric.get("underlay", {}).pop("server_subnets", None)
    try:
        before = planned(intent)
    except InputError:
        return Outcome(planned=False)
    if not any(fabric.switches for fabric in before.fabrics.values()):
        return Outcome(planned=False)
    survey, sections = survey_of(before), sections_of(intent, before)
    survey = plain(survey) if bare else survey
    try:
        found = draft(survey, sections)
        whole = merged(found.document, sections)
        after = planned(whole, found.lock)
        left = tuple(differences(with_numbers(survey), after))
    except InputError as error:
        return Outcome(planned=True, crash=error.diagnostics[0].message)
    except Exception:
        return Outcome(planned=True, crash=traceback.format_exc())
    return Outcome(planned=True, found=found, left=left, lines=lines(whole), lines_before=lines(intent))


def lines(document: Mapping[str, Any]) -> int:
    """Lines of an intent as YAML."""
    return len(yaml.safe_dump(document, sort_keys=False, width=120).splitlines())


def designs(kinds: list[str], first: int, count: int, seed: int) -> Iterator[tuple[str, Design]]:
    for at in range(first, first + count):
        kind = kinds[at % len(kinds)]
        yield f"{kind}:{at}", DRAWS[kind](seed, at)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.deliver.brownfield.round_trip", description=__doc__)
    parser.add_argument("--designs", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--bare", action="store_true", help="surveys without models of servers and coordinates")
    parser.add_argument("--only", metavar="KIND:NUMBER")
    asked = parser.parse_args()
    if asked.only:
        kind, _, number = asked.only.partition(":")
        design = DRAWS[kind](asked.seed, int(number))
        outcome = round_trip(design.intent, bare=asked.bare)
        print(yaml.safe_dump(design.intent, sort_keys=False, width=120, default_flow_style=None))
        if outcome.found:
            print(yaml.safe_dump(outcome.found.document, sort_keys=False, width=120, default_flow_style=None))
        print(outcome.crash, *outcome.left[:30], sep="\n")
        print(len(outcome.left), outcome.lines, outcome.lines_before)
        return 0
    start, tally, failed = time.process_time(), Counter[str](), []
    ratios = []
    for name, design in designs(list(DRAWS), asked.first, asked.designs, asked.seed):
        outcome = round_trip(json.loads(json.dumps(design.intent)), bare=asked.bare)
        tally["designs"] += 1
        tally["planned"] += outcome.planned
        if not outcome.planned:
            continue
        tally["good"] += outcome.good
        if outcome.lines:
            ratios.append(outcome.lines / outcome.lines_before)
        if not outcome.good:
            kinds = Counter(its.what for its in outcome.left)
            why = (outcome.crash.strip().splitlines() or [""])[-1][:150]
            failed.append(name)
            print(name, dict(kinds), why, flush=True)
    over = sum(ratio > 1.5 for ratio in ratios)
    print(dict(tally), f"{time.process_time() - start:.0f} s of CPU", f"{over} longer than 1.5 times", max(ratios, default=0))
    return 0


if __name__ == "__main__":
    random.seed(0)
    sys.exit(main())
