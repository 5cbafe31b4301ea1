"""From a survey to an intent: each way to state the site is drafted, and the best of them is refined once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fabric.base.diagnostics import InputError
from fabric.deliver.brownfield.draft.draft import Draft, draft
from fabric.deliver.brownfield.draft.judge import merged, planned
from fabric.deliver.brownfield.draft.simpler import Rung, alone, rungs
from fabric.deliver.brownfield.refused import taken
from fabric.deliver.brownfield.sections.services import Sections, refined, shapes_of, stated, with_tenants, without_room
from fabric.deliver.brownfield.survey.assumptions import assumed
from fabric.deliver.brownfield.survey.records import Inference, Survey
from fabric.model.plan.lock import Lock

MANY_SWITCHES = 200  # more are stated in the first way that has a plan


@dataclass(frozen=True, kw_only=True)
class Drafted:
    """An intent as data, and the numbers that it keeps."""

    document: Mapping[str, Any]
    lock: Lock
    inferences: Sequence[Inference] = ()
    refused: Mapping[str, str] = field(default_factory=dict)  # what was found and the language refuses: path → why
    given_up: Mapping[str, str] = field(
        default_factory=dict
    )  # device, or what of the site → why it is stated in a simpler way


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One way to state a site.

    Attributes:
        survey: what of the site it states, with what is assumed.
        services: what the statements tell beside the topology.
        kept: of that, what the planner takes.
        refused: the rest: path → why.
        topology: drafted beside what is kept.
    """

    rung: Rung
    survey: Survey
    services: Sections
    kept: Mapping[str, Any]
    refused: Mapping[str, str]
    topology: Draft

    def score(self, whole: Survey) -> tuple[bool, int, int]:
        """What of a site this way has otherwise: no plan at all, switches, then cables and servers."""
        wrong = Counter(its.what for its in self.topology.left_over)
        gone = len(whole.switches) - len(self.rung.survey.switches)
        return wrong["plan"] > 0, gone + wrong["device"], self.rung.lost(whole) + wrong["link"]

    @property
    def document(self) -> dict[str, Any]:
        """The intent."""
        result: dict[str, Any] = merged(self.topology.document, self.kept)
        return result

    @property
    def lock(self) -> Lock:
        """Numbers of the intent, with those of tenants where they are possible."""
        own = self.services.lock.fabrics.items() if self.rung.tenants else ()
        joined = with_tenants(self.topology.lock, {name: its.tenants for name, its in own if its.tenants})
        try:
            planned(self.document, joined)
        except InputError:
            return self.topology.lock
        return joined


def drafted(survey: Survey) -> Drafted:
    """The intent of a survey, in the first way that plans all of it; else in the way that plans most."""
    best: tuple[tuple[bool, int, int], Attempt] | None = None
    refusals: list[InputError] = []
    for rung in rungs(survey):
        if best is not None and not best[0][0] and (rung.last or not rung.tenants):
            break  # without tenants nothing else is stated better
        try:
            attempt = _attempted(rung)
        except InputError as error:
            refusals.append(error)
            continue
        score = attempt.score(survey)
        if best is None or score < best[0]:
            best = score, attempt
        if not any(best[0]) or (not best[0][0] and len(survey.switches) > MANY_SWITCHES):
            break
    if best is None:
        raise refusals[0]
    found = _refined(best[1])
    return Drafted(
        document=found.document,
        lock=found.lock,
        inferences=(*found.survey.inferences, *found.topology.inferences, *found.services.inferences),
        refused=found.refused,
        given_up=found.rung.given_up,
    )


def _attempted(rung: Rung) -> Attempt:
    """The topology, what else its statements tell, and the topology again beside that."""
    survey = assumed(rung.survey)
    bare = alone(survey)
    first = draft(bare)
    if any(its.what == "plan" for its in first.left_over):
        first = draft(bare, {"fabrics": shapes_of(bare, first.document)})
    services = stated(bare, first.document, first.lock)
    kept, refused = taken(first.document, rung.sections(services.document), first.lock)
    topology = draft(survey, kept)
    if any(its.what == "plan" for its in topology.left_over):
        kept, more = taken(topology.document, kept, topology.lock)
        topology, refused = draft(survey, kept) if more else topology, {**refused, **more}
    return Attempt(rung=rung, survey=survey, services=services, kept=kept, refused=refused, topology=topology)


def _refined(attempt: Attempt) -> Attempt:
    """With what only a comparison of the whole plan with the configs tells, as far as the plan then has all that it had."""
    if "fabrics" not in attempt.kept:
        return attempt
    found, inferences = refined(attempt.survey, attempt.topology.document, dict(attempt.kept), attempt.lock)
    if found == attempt.kept:
        return attempt
    services = replace(attempt.services, inferences=(*attempt.services.inferences, *inferences))
    for kept in (found, without_room(found)):
        topology = draft(attempt.survey, kept)
        if len(topology.left_over) <= len(attempt.topology.left_over):
            break
    return replace(attempt, services=services, kept=kept, topology=topology)
