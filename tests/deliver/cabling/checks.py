"""What must hold of every floor and every run list."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np

from fabric.deliver.cabling.runs import Runs
from fabric.design.floor.floor import Floor
from fabric.hardware.catalog import media
from fabric.model.plan import SERVER, Plan


def machines(plan: Plan) -> dict[str, tuple[object, ...]]:
    """Device name → the machine that it names; fabrics may name one server differently."""
    found: dict[str, tuple[object, ...]] = {}
    for fabric in plan.fabrics.values():
        for device in fabric.devices:
            own = (device.group, device.number) if device.role == SERVER else (device.name,)
            found[device.name] = own
    return found


def check_floor(plan: Plan, floor: Floor) -> None:
    """Every device has a spot inside a rack, and no two machines share a unit."""
    owners = machines(plan)
    assert set(floor.spots) == set(owners)
    taken: dict[tuple[int, int], tuple[object, ...]] = {}
    for name, spot in floor.spots.items():
        assert 1 <= spot.ru <= spot.ru + spot.height - 1 <= floor.units, name
        for ru in range(spot.ru, spot.ru + spot.height):
            assert taken.setdefault((spot.rack, ru), owners[name]) == owners[name], (name, floor.racks[spot.rack].name, ru)
    assert {spot.rack for spot in floor.spots.values()} == set(range(len(floor.racks)))
    assert all(0 <= rack.place < floor.geometry.racks_per_row for rack in floor.racks)
    assert len({rack.name for rack in floor.racks}) == len(floor.racks)


def check_runs(plan: Plan, found: Runs) -> None:
    """Legs hold every link once, cables reach, and optics, connectors and pieces add up."""
    for name, fabric in plan.fabrics.items():
        leg, links = found.leg[name], fabric.links
        assert len(leg) == len(links)
        assert (found.a[leg] == links.a).all()
        assert (found.b[leg] == links.b).all()
        mine = np.flatnonzero(found.fabric == found.names.index(name))
        assert sorted(set(leg.tolist())) == mine.tolist()
        assert (np.bincount(leg, minlength=len(found))[mine] == found.links[mine]).all()
        speeds = np.zeros(len(found), dtype=np.int64)
        np.add.at(speeds, leg, links.speed_gbps)
        assert (speeds[mine] == found.speed_gbps[mine]).all()
    joined = np.array([bool(name) for name in found.medium], dtype=bool)
    assert joined.all() or found.errors
    assert (found.order_length_m[joined] >= found.length_m[joined] - 1e-9).all()
    assert np.isinf(found.order_length_m[~joined]).all()
    _check_cables(found)
    _check_optics(found)


def _check_cables(found: Runs) -> None:
    """A breakout has no more legs than ends, is bought once, and its name is no other cable's."""
    legs: dict[str, list[int]] = defaultdict(list)
    for row, cable in enumerate(found.cable):
        legs[cable].append(row)
    for cable, rows in legs.items():
        names = {found.medium[row] for row in rows}
        assert len(names) == 1, cable
        name = names.pop()
        assert len({float(found.order_length_m[row]) for row in rows}) == 1, cable
        if not name:
            continue
        its = media.bought(name)
        assert len(rows) <= its.ends, (cable, name, len(rows))
        assert sum(int(found.pieces[row]) for row in rows) >= 1, cable
        assert sum(bool(found.pieces[row]) for row in rows) == 1, cable


def _check_optics(found: Runs) -> None:
    """Both ends are lit or none; what reaches, reaches; a module feeds no more than its speed."""
    known = media.optics()
    for row, name in enumerate(found.medium):
        a, b = found.a_optic[row], found.b_optic[row]
        assert bool(a) == bool(b), found.cable[row]
        if a:
            assert known[a].family == known[b].family
            assert float(found.length_m[row]) <= min(known[a].reach_m, known[b].reach_m)
            assert media.fibres()[name].fibre == known[a].fibre
            assert {media.fibres()[name].connector, media.fibres()[name].far_connector} == {
                known[a].connector,
                known[b].connector,
            }
    bought: Counter[tuple[int, str]] = Counter()
    lit: Counter[tuple[int, str]] = Counter()
    for number, end in ((number, end) for number in range(len(found.names)) for end in "ab"):
        for row in np.flatnonzero(found.fabric == number).tolist():
            if optic := getattr(found, f"{end}_optic")[row]:
                bought[number, optic] += int(getattr(found, f"{end}_optics")[row])
                lit[number, optic] += int(found.speed_gbps[row])
    for key, speed in lit.items():
        assert bought[key] * known[key[1]].speed_gbps >= speed, key
