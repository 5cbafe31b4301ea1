"""The catalog of media, and what is chosen of it: a table of ends, lengths and the medium that an engineer would take."""

from __future__ import annotations

import pytest

from fabric.deliver.cabling.cable_segments import Task, candidates
from fabric.deliver.cabling.ends import MESH, STAR, STRAIGHT, Module
from fabric.hardware.catalog import media


def module(speed: int, lane: int, form: str = "") -> Module:
    return Module(speed, frozenset({lane}) if lane else frozenset(), form)


OSFP = module(800, 100, "OSFP")
QSFP_DD = module(400, 50, "QSFP-DD")
NIC = module(400, 100, "QSFP112")
NIC_200 = module(200, 100, "QSFP112")
HDR = module(200, 50, "QSFP56")
QSFP28 = module(100, 25, "QSFP28")
SFP28 = module(25, 25, "SFP28")
XDR = module(1600, 200, "OSFP")


def best(shape: int, a: Module, b: Module, link: int, metres: float, requested: str = "") -> tuple[str, str, str]:
    hub = 0 if a.speed_gbps > b.speed_gbps else 1 if b.speed_gbps > a.speed_gbps else -1
    for way in candidates(Task(shape, ((a, b, hub, link),), requested)):
        if metres <= way.longest_m:
            return way.cable, way.optic(a.speed_gbps), way.optic(b.speed_gbps)
    return "", "", ""


CHOICES = [
    # straight, the length decides
    (STRAIGHT, OSFP, OSFP, 800, 1.9, ("dac-800g", "", "")),
    (STRAIGHT, OSFP, OSFP, 800, 2.1, ("acc-800g", "", "")),
    (STRAIGHT, OSFP, OSFP, 800, 5.1, ("", "800g-2xsr4", "800g-2xsr4")),
    (STRAIGHT, OSFP, OSFP, 800, 50.1, ("", "800g-2xdr4", "800g-2xdr4")),
    (STRAIGHT, OSFP, OSFP, 800, 501, ("", "800g-2xfr4", "800g-2xfr4")),
    (STRAIGHT, OSFP, OSFP, 800, 2001, ("", "800g-2xlr4", "800g-2xlr4")),
    (STRAIGHT, OSFP, OSFP, 800, 10001, ("", "", "")),
    (STRAIGHT, QSFP_DD, QSFP_DD, 400, 3, ("dac-400g-cr8", "", "")),
    (STRAIGHT, QSFP_DD, QSFP_DD, 400, 30, ("aoc-400g", "", "")),
    (STRAIGHT, QSFP28, QSFP28, 100, 5, ("dac-100g", "", "")),
    (STRAIGHT, QSFP28, QSFP28, 100, 101, ("", "100g-dr", "100g-dr")),
    (STRAIGHT, SFP28, SFP28, 25, 31, ("", "25g-sr", "25g-sr")),
    (STRAIGHT, XDR, XDR, 1600, 2, ("", "1600g-2xdr4", "1600g-2xdr4")),
    (STRAIGHT, module(1, 1, "RJ45"), module(1, 1, "RJ45"), 1, 99, ("cat6-1g", "", "")),
    (STRAIGHT, module(10, 10, "SFP+"), module(10, 10, "SFP+"), 10, 8, ("", "10g-sr", "10g-sr")),
    (STRAIGHT, module(50, 50), module(50, 50), 50, 3, ("dac-50g", "", "")),
    # lanes of two speeds: no copper, no AOC; a gearbox in the optic
    (STRAIGHT, QSFP_DD, NIC, 400, 1, ("", "400g-sr4", "400g-sr4")),
    (STRAIGHT, QSFP_DD, NIC, 400, 60, ("", "400g-dr4", "400g-dr4")),
    (STAR, QSFP_DD, QSFP28, 100, 4, ("aec-400g-4x100g", "", "")),
    # one cage to several
    (STAR, OSFP, NIC, 400, 3, ("dac-800g-2x400g", "", "")),
    (STAR, OSFP, NIC, 400, 3.1, ("acc-800g-2x400g", "", "")),
    (STAR, OSFP, NIC, 400, 20, ("", "800g-2xsr4", "400g-sr4")),
    (STAR, NIC, OSFP, 400, 20, ("", "400g-sr4", "800g-2xsr4")),
    (STAR, OSFP, NIC_200, 200, 5, ("acc-800g-4x200g", "", "")),
    (STAR, OSFP, NIC_200, 200, 20, ("", "800g-2xsr4", "200g-sr2")),
    (STAR, OSFP, NIC_200, 200, 51, ("", "", "")),  # splitters end at 50 m
    (STAR, OSFP, module(100, 100, "QSFP112"), 100, 100, ("", "800g-2xdr4", "100g-dr")),
    (STAR, OSFP, HDR, 200, 2, ("", "", "")),  # 100G lanes and 50G lanes
    (STAR, QSFP28, SFP28, 25, 5, ("dac-100g-4x25g", "", "")),
    (STAR, QSFP28, SFP28, 25, 40, ("", "100g-sr4", "25g-sr")),
    # broken out on both sides: a twin-port optic needs no breakout, finer parts meet in a panel
    (MESH, OSFP, OSFP, 400, 1, ("", "800g-2xsr4", "800g-2xsr4")),
    (MESH, OSFP, OSFP, 400, 51, ("", "800g-2xdr4", "800g-2xdr4")),
    (MESH, OSFP, OSFP, 200, 51, ("", "800g-2xdr4", "800g-2xdr4")),
    (MESH, OSFP, OSFP, 200, 501, ("", "", "")),  # no wavelengths apart
]


@pytest.mark.parametrize(("shape", "a", "b", "link", "metres", "medium"), CHOICES)
def test_what_is_chosen(shape: int, a: Module, b: Module, link: int, metres: float, medium: tuple[str, str, str]) -> None:
    assert best(shape, a, b, link, metres) == medium


@pytest.mark.parametrize(
    ("requested", "metres", "medium"),
    [
        ("dac", 1, ("dac-800g", "", "")),
        ("dac", 3, ("", "", "")),
        ("aec", 1, ("acc-800g", "", "")),
        ("optics", 1, ("", "800g-2xsr4", "800g-2xsr4")),
        ("single-mode", 1, ("", "800g-2xdr4", "800g-2xdr4")),
        ("800g-dr8", 1, ("", "800g-dr8", "800g-dr8")),
        ("800g-sr8", 90, ("", "800g-sr8", "800g-sr8")),
        ("acc-800g", 4, ("acc-800g", "", "")),
    ],
)
def test_what_an_intent_requests(requested: str, metres: float, medium: tuple[str, str, str]) -> None:
    assert best(STRAIGHT, OSFP, OSFP, 800, metres, requested) == medium


def test_the_catalog_does_not_contradict_itself() -> None:
    for name, cable in media.cables().items():
        assert cable.speed_gbps % cable.ends == 0, name
        assert all(cable.speed_gbps % lane == 0 for lane in cable.lane_gbps), name
        assert name.split("-")[1].startswith(f"{cable.speed_gbps}g"), name
        assert (f"-{cable.ends}x" in name) == (cable.ends > 1), name
    for name, optic in media.optics().items():
        assert optic.speed_gbps == optic.ports * optic.lanes * optic.lane_gbps, name
        assert name.startswith(f"{optic.speed_gbps}g-"), name
        assert (optic.class_ == "multimode") == (optic.fibre == "OM4") == optic.light.startswith("sr"), name
        assert media.fibre_between(optic.connector, optic.connector, optic.fibre, 1), name
        assert optic.connector != "LC" or optic.wdm or optic.lanes == 1, name
    for name, fibre in media.fibres().items():
        assert (fibre.ends > 1) == ("x" in name.replace("mpo", "")), name
    for its in [*media.cables().values(), *media.fibres().values()]:
        assert list(its.lengths_m) == sorted(set(its.lengths_m))


@pytest.mark.parametrize("speed", [1, 10, 25, 40, 50, 100, 200, 400, 800, 1600])
def test_every_speed_has_a_cage_and_a_medium(speed: int) -> None:
    usual = media.cages().by_speed[speed]
    lane = speed // usual.lanes
    assert best(STRAIGHT, module(speed, lane, usual.form), module(speed, lane, usual.form), speed, 10) != ("", "", "")


def test_lengths_that_are_sold() -> None:
    assert [media.bought("dac-800g").order_m(metres) for metres in (0.1, 0.5, 0.51, 2, 2.01)] == [
        0.5,
        0.5,
        1,
        2,
        float("inf"),
    ]
    assert [media.bought("mpo12-apc-om4").order_m(metres) for metres in (50, 50.01, 75.1)] == [50, 75, 100]
