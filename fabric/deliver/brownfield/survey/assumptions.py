"""What no source tells and a plan needs: models of switches and speeds of cables, as the names of the ports allow."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from ipaddress import ip_address
from typing import Any

from fabric.base.formats import json_line
from fabric.base.grouping import grouped
from fabric.deliver.brownfield.survey.devices import lines_of
from fabric.deliver.brownfield.survey.hosts import UNDESCRIBED
from fabric.deliver.brownfield.survey.nic_numbers import with_numbers
from fabric.deliver.brownfield.survey.ports import panel, port_names, ports_named, prefix_of
from fabric.deliver.brownfield.survey.records import Cable, Inference, Survey, Switch
from fabric.hardware import catalog
from fabric.hardware.catalog.models import SwitchModel, generic_switch
from fabric.model.plan import PortRef
from fabric.model.settings.base import HOST, NAME
from fabric.nos.target import installed, target

CAGES = (16, 32, 48, 64, 128, 256)  # of switches without a model
MOST_CAGES = 0.9  # of a model, before their names tell it
CAGE_GBPS = (1, 10, 25, 40, 100, 200, 400, 800)
SPEEDS_GBPS = (100, 400, 800, 25, 10, 1)  # of their ports, the likeliest first
GENERIC_NAME = "256x100g"
GENERIC = generic_switch(GENERIC_NAME)
FIRST = PortRef(1, 0, 1, 0)
SOURCE = "the names of its ports; no source names the hardware: `--model NAME=MODEL` states it"

WORDS = "letters, digits and hyphens of its name, as an intent takes them"
UNNAMED = "counted by its port, as no source names it"

NAMED_SPEED = re.compile(r"(?<![\w.])[A-Za-z][\w-]*?-(\d+)G(?:b?E)?(?![\w-])")  # `ROCE-400G`
NUMBERED = re.compile(r"(.*?)(\d+)")
WORD = re.compile(r"[^\s,|]+")

Port = tuple[str, PortRef]  # name and place
Document = dict[str, Any]


def assumed(survey: Survey) -> Survey:
    """The survey with a model for every switch, a speed for every cable, and names that an intent takes."""
    return with_numbers(_with_hardware(_on_panel(_counted(_with_names(survey)))))


def _on_panel(survey: Survey) -> Survey:
    """Without cables at ports that the stated model of a switch does not have."""
    cages = {name: model.cages for name, its in survey.switches.items() if (model := catalog.switch(its.model)) is not None}
    left_out = dict(survey.left_out)
    for its in survey.cables:
        for name, port, ref in ((its.a, its.a_port, its.a_ref), (its.b, its.b_port, its.b_ref)):
            if ref is not None and ref.cage > cages.get(name, ref.cage):
                left_out[f"{name} {port}"] = f"{survey.switches[name].model} has no such port"
    if len(left_out) == len(survey.left_out):
        return survey
    ends = left_out.keys()
    cables = [its for its in survey.cables if not {f"{its.a} {its.a_port}", f"{its.b} {its.b_port}"} & ends]
    named = {its.a for its in cables}
    hosts = {name: host for name, host in survey.hosts.items() if name in named}
    return replace(survey, cables=cables, hosts=hosts, left_out=left_out)


# --- names ----------------------------------------------------------------------------------------------------


def _with_names(survey: Survey) -> Survey:
    """Hosts whose names an intent refuses get the next best ones; addresses that are none go."""
    taken = set(survey.hosts)
    names: dict[str, str] = {}
    for name, host in survey.hosts.items():
        pattern = NAME if host.attached else HOST
        if host.group == UNDESCRIBED and (new := f"{UNDESCRIBED}-{host.number:04}") not in taken:
            names[name] = new
            taken.add(new)
        elif not pattern.fullmatch(name):
            base = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:28].rstrip("-") or "host"
            new = next(own for own in (base, *(f"{base}-{number}" for number in range(2, 1000))) if own not in taken)
            names[name] = new
            taken.add(new)
    fabrics = {
        name: [replace(own, vtep=own.vtep if _is_address(own.vtep) and own.vtep != own.loopback else "") for own in switches]
        for name, switches in survey.fabrics.items()
    }
    if not names and all(
        one.vtep == own.vtep for name in fabrics for one, own in zip(fabrics[name], survey.fabrics[name], strict=True)
    ):
        return survey
    found = [
        Inference(subject=old, what="name", value=new, source=UNNAMED if survey.hosts[old].group == UNDESCRIBED else WORDS)
        for old, new in sorted(names.items())
    ]
    hosts = {names.get(name, name): replace(host, name=names.get(name, name)) for name, host in survey.hosts.items()}
    cables = [replace(cable, a=names.get(cable.a, cable.a), b=names.get(cable.b, cable.b)) for cable in survey.cables]
    return replace(survey, fabrics=fabrics, hosts=hosts, cables=cables, inferences=(*survey.inferences, *found))


def _counted(survey: Survey) -> Survey:
    """Groups of servers whose names count from 1 behind digits that all of them have: `n201` to `n206` are of `n20`."""
    hosts = dict(survey.hosts)
    for members in grouped((host.group, host) for host in hosts.values() if not host.attached).values():
        parts = [NUMBERED.fullmatch(host.name) for host in members]
        digits = [match[2] for match in parts if match]
        stems = {match[1] for match in parts if match}
        shared = prefix_of(digits) if digits else ""
        ends = [text[len(shared) :] for text in digits]
        if len(ends) < len(members) or len(stems) > 1 or not all(ends) or 1 in map(int, digits):
            continue
        if sorted(map(int, ends)) == list(range(1, len(ends) + 1)):
            group = f"{stems.pop()}{shared}"
            hosts |= {host.name: replace(host, group=group, number=int(end)) for host, end in zip(members, ends, strict=True)}
    return replace(survey, hosts=hosts)


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return not text
    return True


# --- hardware -------------------------------------------------------------------------------------------------


def _with_hardware(survey: Survey) -> Survey:
    stated = {end for its in survey.cables if its.speed_gbps for end in ((its.a, its.a_port), (its.b, its.b_port))}
    survey = replace(survey, cables=_with_named_speeds(survey))
    found = list(_models(survey, stated))
    models = {switch.name: model for switch, model, _ in found}
    hardware = {model: entry for _, model, entry in found if entry}
    if not models and all(cable.speed_gbps for cable in survey.cables):
        return survey
    fabrics = {
        name: [replace(switch, model=models.get(switch.name, switch.model)) for switch in switches]
        for name, switches in survey.fabrics.items()
    }
    named = {switch.name: switch.model for switches in fabrics.values() for switch in switches}
    own = {model: SwitchModel.model_validate_json(json_line(entry)) for model, entry in hardware.items()}
    cables = [cable if cable.speed_gbps else _with_speed(cable, named, own) for cable in survey.cables]
    known = {one: cable.speed_gbps for cable in cables for one in ((cable.a, cable.a_port), (cable.b, cable.b_port))}
    inferred = [
        Inference(subject=name, what="model", value=f"{model} (assumed)", source=SOURCE)
        for name, model in sorted(models.items())
    ]
    without = sum(not cable.speed_gbps for cable in survey.cables)
    if without and known:
        inferred.append(
            Inference(
                subject=f"{without} cables", what="speed", value="assumed", source="the fastest that both ends may have"
            )
        )
    return replace(survey, fabrics=fabrics, cables=cables, hardware=hardware, inferences=(*survey.inferences, *inferred))


def _with_named_speeds(survey: Survey) -> list[Cable]:
    """The cables; those whose ports state no speed with the one in the name of a policy or profile that the port has.

    A switch whose names have a single speed has it on all of its ports.
    """
    lacking = [cable for cable in survey.cables if not cable.speed_gbps]
    ports = grouped((end, port) for cable in lacking for end, port in ((cable.a, cable.a_port), (cable.b, cable.b_port)))
    named: dict[tuple[str, str], int] = {}
    for switch in survey.switches.values():
        its = dict.fromkeys(ports.get(switch.name, ()))
        lines = lines_of(switch.nos, switch.facts.texts) if its and switch.facts is not None else ()
        found = [(int(match[1]), line) for line in lines if (match := NAMED_SPEED.search(line))]
        every = {speed for speed, _ in found}
        for speed, line in found:
            named |= {(switch.name, word): speed for word in WORD.findall(line) if word in its}
        if len(every) == 1:
            named |= {(switch.name, port): next(iter(every)) for port in its}
    ends = ((cable, (cable.b, cable.b_port), (cable.a, cable.a_port)) for cable in survey.cables)
    return [_at(cable, named.get(upper) or named.get(lower, 0)) for cable, upper, lower in ends]


def _at(cable: Cable, gbps: int) -> Cable:
    """A cable without a speed at this one."""
    if cable.speed_gbps or not gbps:
        return cable
    a, b = (replace_speed(ref, gbps) if ref is not None else None for ref in (cable.a_ref, cable.b_ref))
    return replace(cable, speed_gbps=gbps, a_ref=a, b_ref=b)


def _models(survey: Survey, stated: Collection[tuple[str, str]]) -> Iterator[tuple[Switch, str, Document]]:
    """Every switch without a model, one that has ports of the names that it has, and the entry of that, {} for a generic one.

    Switches of one role of a fabric have the same, with the ports of all of them.

    Args:
        stated: switches and ports whose statements tell their speed.
    """
    ports: dict[str, list[tuple[Port, int]]] = {}
    for cable in survey.cables:
        for device, name, ref in ((cable.a, cable.a_port, cable.a_ref), (cable.b, cable.b_port, cable.b_ref)):
            if ref is not None:
                ports.setdefault(device, []).append(((name, ref), cable.speed_gbps))
    for fabric, every in survey.fabrics.items():
        unknown = [switch for switch in every if not switch.model and switch.nos]
        for nos, switches in grouped((switch.nos, switch) for switch in unknown).items():
            theirs = [row for switch in switches for row in ports.get(switch.name, ())]
            gbps, like = _speed(nos, theirs), _like(nos, [name for (name, _), _ in theirs])
            for role in dict.fromkeys(switch.role for switch in switches):
                alike = [switch for switch in switches if switch.role == role]
                rows = [row for switch in alike for row in ports.get(switch.name, ())]
                known = sum((its.name, port) in stated for its in alike for (port, _), _ in ports.get(its.name, ()))
                most = max((ref.cage for (_, ref), _ in rows), default=1)
                size = _listed(alike, {ref.cage for (_, ref), _ in rows})
                size = size if size >= most else next((count for count in CAGES if count >= most), most)
                model, entry = f"{size}x{gbps}g" if gbps else like, Document()
                if board := next((its for switch in alike if (its := _board(switch))), None):
                    model, entry = board
                elif 2 * known < len(rows) and (listed := _with_every_cage(nos, alike)):
                    model = listed
                elif not model or (gbps and not _takes(model, rows)):
                    model, entry = _own(nos, f"{fabric}-{role}", rows, gbps, size)
                yield from ((switch, model, entry) for switch in alike)


def _takes(name: str, ports: Sequence[tuple[Port, int]]) -> bool:
    """Whether a switch of the catalog may have ports of these speeds."""
    model = catalog.switch(name)
    known = {(split, speed) for group in model.ports for speed, split in group.splits.items()} if model is not None else set()
    return all((ref.split, speed) in known for (_, ref), speed in ports if speed)


def _board(switch: Switch) -> tuple[str, Document] | None:
    """The model and entry of a switch whose files list its ports, whatever runs on them."""
    record = installed(switch.nos)
    if switch.facts is None or record is None or record.reader is None or record.reader.board is None:
        return None
    return record.reader.board.get()(switch.facts.texts)


def _with_every_cage(nos: str, switches: Sequence[Switch]) -> str:
    """The model of the catalog whose cages configs name nearly all, where few speeds are known; "" for none.

    Of several the one whose breakouts take lanes of cages that configs give up, with most of their ports, then the fastest.
    """
    facts = [switch.facts for switch in switches if switch.facts is not None]
    names = {name for its in facts for name in port_names(its)}
    off = {name for its in facts for name, cage in its.cages.items() if cage.ports is not None and not cage.ports.value}
    overlay = {"l3vni": any(vrf.vni for its in facts for vrf in its.vrfs.values()), "l2vni": any(its.vnis for its in facts)}
    found: list[tuple[tuple[bool, int, int], str]] = []
    for name in catalog.switch_names():
        model = catalog.switch(name)
        if (
            model is None
            or nos not in model.nos
            or not all(target(nos).can(model, what) for what in overlay if overlay[what])
        ):
            continue
        known = ports_named(nos, name)
        cages = {ref.cage for its in facts for ref in panel(its, name, [*port_names(its), *off], {}).values()}
        if max(cages, default=0) == 0 or max(cages) > model.cages or len(cages) < MOST_CAGES * model.cages:
            continue
        fits = (model.disables_next is not None) == bool(off), len(names & known.keys()), model.native_gbps
        found.append((fits, name))
    return max(found, key=lambda its: its[0])[1] if found else ""


def _listed(switches: Sequence[Switch], cabled: Collection[int]) -> int:
    """Cages of switches whose configs name every one, also those that nothing is cabled to; 0 where they do not."""
    facts = [switch.facts for switch in switches if switch.facts is not None]
    named = {ref.cage for its in facts for ref in panel(its, "", port_names(its), {}).values()}
    return len(named) if named == set(range(1, len(named) + 1)) and named - set(cabled) else 0


def _own(nos: str, name: str, ports: Sequence[tuple[Port, int]], gbps: int, size: int) -> tuple[str, Document]:
    """An entry for switches of one kind, with the cages that are there: its name, and its keys.

    Args:
        gbps: of cages whose speed nothing tells; 0 where no source has any.
        size: cages.
    """
    named = target(nos).port_speeds
    kinds: dict[int, set[tuple[int, int]]] = {}
    for (_, ref), speed in ports:
        if speed:
            kinds.setdefault(ref.cage, set()).add((ref.split, speed))
    speeds = {speed for its in kinds.values() for _, speed in its}
    usual = gbps or max((split * speed for its in kinds.values() for split, speed in its), default=SPEEDS_GBPS[0])
    native: list[int] = []
    names = {ref.cage: (port, ref) for (port, ref), _ in ports}
    for cage in range(1, size + 1):
        least = max((split * speed for split, speed in kinds.get(cage, ())), default=0)
        fits = [
            one
            for one in CAGE_GBPS
            if one >= least and cage in names and _name(nos, f"{size}x{one}g", one, names[cage][1]) == names[cage][0]
        ]
        unseen = native[-1] if native and cage not in names else usual
        native.append(unseen if not least else fits[0] if fits and not named else least)
    entry: list[Document] = []
    for at, speed in enumerate(native):
        if entry and entry[-1]["speed_gbps"] == speed:
            entry[-1]["count"] += 1
        else:
            entry.append({"count": 1, "speed_gbps": speed})
        splits = {kind for kind in kinds.get(at + 1, ()) if kind != (1, speed)} | {(1, one) for one in speeds if one < speed}
        if texts := [f"{split}x{one}" for split, one in sorted(splits)]:
            entry[-1]["breakouts"] = list(dict.fromkeys((*entry[-1].get("breakouts", ()), *texts)))
    by_speed = any(port.startswith(tuple(named)) for (port, _), _ in ports) if named else False
    return f"{nos}-{name}" if by_speed else name, {"ports": entry, "nos": [nos]}


def _speed(nos: str, ports: Sequence[tuple[Port, int]]) -> int:
    """Speed of the cages with which most ports have the names that they have; 0 where no generic switch has such ports."""
    least = max((speed * ref.split for (_, ref), speed in ports), default=0)
    size = max((ref.cage for (_, ref), _ in ports), default=1)
    candidates = [gbps for gbps in SPEEDS_GBPS if gbps >= least] or [max(SPEEDS_GBPS)]
    fitting = {gbps: sum(_name(nos, f"{size}x{gbps}g", gbps, ref) == name for (name, ref), _ in ports) for gbps in candidates}
    best = max(fitting, key=lambda gbps: fitting[gbps])
    return best if fitting[best] or not ports else 0


def _like(nos: str, names: Sequence[str]) -> str:
    """The model of the catalog that has most of some port names, "" for none."""
    fitting: dict[str, int] = {}
    for model in catalog.switch_names():
        switch = catalog.switch(model)
        if switch is not None and nos in switch.nos:
            own = {_name(nos, model, switch.native_gbps, PortRef(cage, 0, 1, 0)) for cage in range(1, switch.cages + 1)}
            fitting[model] = sum(name in own for name in names)
    best = max(sorted(fitting), key=lambda model: fitting[model], default="")
    return best if best and fitting[best] else ""


def _name(nos: str, model: str, gbps: int, ref: PortRef) -> str:
    switch = catalog.switch(model)
    if switch is None or gbps % ref.split:
        return ""
    try:
        return target(nos).port_name(switch, replace_speed(ref, gbps // ref.split), model)
    except (KeyError, ValueError, ArithmeticError):
        return ""


def replace_speed(ref: PortRef, gbps: int) -> PortRef:
    """The same port with another speed."""
    return PortRef(ref.cage, ref.sub, ref.split, gbps)


def _with_speed(cable: Cable, models: Mapping[str, str], own: Mapping[str, SwitchModel]) -> Cable:
    """A cable at the fastest speed that both ends may have."""
    ends = ((cable.a, cable.a_ref), (cable.b, cable.b_ref))
    known = [(catalog.switch(model) or own.get(model), ref) for name, ref in ends if (model := models.get(name, ""))]
    speeds = [
        switch.group_of(min(ref.cage, switch.cages)).speed_gbps // ref.split if ref else switch.native_gbps
        for switch, ref in known
        if switch is not None
    ]
    return _at(cable, min(speeds, default=SPEEDS_GBPS[0]))
