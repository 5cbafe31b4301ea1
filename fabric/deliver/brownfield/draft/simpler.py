"""Simpler surveys of the same site, for an intent that cannot state all of it: what each of them gives up, it names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, count
from typing import Any

from fabric.deliver.brownfield.survey.records import Host, Survey
from fabric.model.plan import LEAF, PortRef


@dataclass(frozen=True, kw_only=True)
class Rung:
    """A way to state a site.

    Attributes:
        given_up: device, or what of the site → why it is stated in a simpler way.
        tenants: whether its tenants are stated.
        last: it states no links, so nothing else must have a plan.
    """

    survey: Survey
    given_up: Mapping[str, str] = field(default_factory=dict)
    tenants: bool = True
    last: bool = False

    def lost(self, whole: Survey) -> int:
        """Cables of switches, and servers, that this rung states otherwise than they are."""
        gone = whole.switches.keys() - self.survey.switches.keys()
        servers = {name for name, host in whole.hosts.items() if not host.attached}
        kept = {name for name, host in self.survey.hosts.items() if not host.attached}
        return sum(its.b in gone for its in whole.cables) + len(servers - kept)

    def sections(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Sections of an intent, as far as this rung states them."""
        if self.tenants:
            return dict(document)
        if self.last:
            return {key: value for key, value in document.items() if key != "fabrics"}
        fabrics = {
            name: {key: value for key, value in fabric.items() if key not in ("tenants", "topology")}
            for name, fabric in document.get("fabrics", {}).items()
        }
        return {**document, "fabrics": fabrics}


def rungs(survey: Survey) -> Iterator[Rung]:
    """The site whole, then in simpler ways."""
    whole = Rung(survey=survey)
    ways = [whole]
    if below(survey):
        ways.append(_without_below(whole))
    ways += [_bare(way) for way in ways] if any(not host.attached for host in survey.hosts.values()) else []
    yield from ways
    why = {"tenants": "no statement of them has a plan beside the rest of the intent"}
    yield from (replace(way, tenants=False, given_up={**way.given_up, **why}) for way in ways)
    yield _alone(ways[-1])


def _alone(rung: Rung) -> Rung:
    """Every switch by itself."""
    survey = rung.survey
    names: dict[str, str] = {}
    for name in survey.switches:
        base = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "switch"
        base = base if base[0].isalpha() else f"switch-{base}"
        names[name] = next(one for one in chain((base,), (f"{base}-{n}" for n in count(2))) if one not in names.values())
    fabrics = {names[name]: [replace(its, role=LEAF, fabric=names[name], pod=-1)] for name, its in survey.switches.items()}
    why = {"links": "no rule of wiring fits them: every switch is a fabric of its own, without links"}
    bare = replace(survey, fabrics=dict(sorted(fabrics.items())), cables=(), hosts={})
    return replace(rung, survey=bare, tenants=False, last=True, given_up={**rung.given_up, **why})


def alone(survey: Survey) -> Survey:
    """The fabrics that hang below no other, whose tenants those below carry."""
    names = below(survey)
    gone = {switch.name for name in names for switch in survey.fabrics[name]}
    if not gone:
        return survey
    cables = [its for its in survey.cables if not {its.a, its.b} & gone]
    return replace(survey, fabrics={name: its for name, its in survey.fabrics.items() if name not in names}, cables=cables)


# --- bridges below leaves -------------------------------------------------------------------------------------


def below(survey: Survey) -> list[str]:
    """Fabrics whose leaves hang below those of others."""
    fabric_of = {name: switch.fabric for name, switch in survey.switches.items()}
    found = (fabric_of[its.a] for its in survey.cables if its.a in fabric_of and its.a_ref and fabric_of.get(its.b))
    own = {its.a: fabric_of[its.b] for its in survey.cables if its.a in fabric_of and its.a_ref and its.b in fabric_of}
    return sorted({fabric_of[name] for name, above in own.items() if fabric_of[name] != above} & set(found))


def _without_below(rung: Rung) -> Rung:
    """Switches that bridge below leaves are other devices at the ports of these."""
    survey = rung.survey
    names = below(survey)
    gone = {switch.name for name in names for switch in survey.fabrics[name]}
    fabrics = {name: its for name, its in survey.fabrics.items() if name not in names}
    cables = [its for its in survey.cables if its.b not in gone]
    hosts = {name: host for name, host in survey.hosts.items() if any(its.a == name for its in cables)}
    above = {its.a: survey.switches[its.b].fabric for its in cables if its.a in gone}
    hosts |= {
        name: Host(name=name, group="", number=number, attached=True, fabric=fabric)
        for number, (name, fabric) in enumerate(sorted(above.items()), len(hosts) + 1)
    }
    why = "a switch below leaves, and the intent has no single tenant that it bridges: an attachment of these"
    return replace(
        rung,
        survey=replace(survey, fabrics=fabrics, cables=cables, hosts=dict(sorted(hosts.items()))),
        given_up={**rung.given_up, **dict.fromkeys(sorted(gone), why)},
    )


# --- hosts whose NICs follow no rule --------------------------------------------------------------------------


def _bare(rung: Rung) -> Rung:
    """Leaves without servers: every host is an attachment."""
    hosts = {
        name: replace(host, group="", number=number, attached=True, model="")
        for number, (name, host) in enumerate(rung.survey.hosts.items(), 1)
    }
    ports = {name: count(1) for name in hosts}
    cables = [
        its if its.a not in hosts else replace(its, a_ref=PortRef(next(ports[its.a]), 0, 1, its.speed_gbps))
        for its in rung.survey.cables
    ]
    why = {"servers": "their NICs follow no rule of wiring: they are attachments of leaves"}
    return replace(rung, survey=replace(rung.survey, hosts=hosts, cables=cables), given_up={**rung.given_up, **why})
