"""Power as ranges: every device has one with a source, and the bounds by class hold data sheets that they have not seen."""

from __future__ import annotations

import statistics

import pytest
from hypothesis import given, strategies as st

from fabric.hardware import catalog
from fabric.hardware.catalog import media, power, power_class
from fabric.hardware.catalog.models import NicSet, PortGroup, ServerModel, SwitchModel, generic_switch
from fabric.hardware.catalog.power import BOUND, SECOND_HAND, SHEET, STATED, PowerRange

SWITCHES = catalog.switch_names()
SERVERS = catalog.server_names()


def of(name: str) -> PowerRange:
    model = catalog.switch(name)
    assert model is not None
    return power.switch_range(model)


def server_of(name: str) -> PowerRange:
    model = catalog.server(name)
    assert model is not None
    return power.server_range(model)


def assert_sound(its: PowerRange) -> None:
    assert 0 <= its.typical_low_w <= its.typical_w <= its.typical_high_w
    assert its.max_w > 0
    assert its.source


@pytest.mark.parametrize("name", SWITCHES)
def test_every_switch_has_a_range_and_a_source(name: str) -> None:
    its, model = of(name), catalog.switch(name)
    assert model is not None
    assert_sound(its)
    if its.typical_basis == SHEET and its.max_basis == BOUND:
        bare_w = its.typical_w - (power_class.full_set_w(model) if "typical" in its.holds else 0)
        assert its.max_w >= bare_w
    assert bool(model.power_source) == bool(model.power_typical_w or model.power_max_w)


@pytest.mark.parametrize("name", SERVERS)
def test_every_server_has_a_range_and_a_source(name: str) -> None:
    its = server_of(name)
    assert_sound(its)
    assert its.typical_high_w <= its.max_w


def test_every_nic_optic_and_cable_has_a_range_and_a_source() -> None:
    assert set(power.modules()) == {*media.optics(), *media.cables()}
    for its in (*power.modules().values(), *power.nics().values()):
        assert 0 <= its.typical_low_w <= its.typical_w <= its.typical_high_w <= its.max_w
        assert its.source
    named = {nic.model for name in SERVERS if (model := catalog.server(name)) for nic in model.nics.values() if nic.model}
    for model in named:
        assert power.nic_range(model) != power.nic_range(""), f"{model}: no NIC of the catalog begins like it"


def test_at_least_25_switches_have_a_figure_that_was_read_somewhere() -> None:
    read = {name for name in SWITCHES if {of(name).typical_basis, of(name).max_basis} & {SHEET, SECOND_HAND}}
    sheets = {name for name in SWITCHES if SHEET in (of(name).typical_basis, of(name).max_basis)}
    assert len(read) >= 25
    assert len(sheets) >= 22


@pytest.mark.parametrize(
    ("name", "typical", "most", "holds"),
    [
        ("7060dx5-64s", 489, 1716, ("max",)),  # Arista 7060X5 data sheet
        ("7060x6-64pe", 640, 2218, ("max",)),  # Arista 7060X6 data sheet, page 5
        ("qfx5130-32cd", 323, 839, ("max",)),  # Juniper QFX5130 data sheet
        ("qm9700", 747, 1720, ("max",)),  # NVIDIA QM9700 data sheet
        ("n9364e-sg2", 995, 2270, ("max",)),  # Cisco N9364E-SG2 data sheet
        ("s5248f-on", 310, 647, ("typical", "max")),  # Dell S5200-ON spec sheet
    ],
)
def test_data_sheets_come_through_untouched(name: str, typical: int, most: int, holds: tuple[str, ...]) -> None:
    its = of(name)
    assert (its.typical_low_w, its.typical_w, its.typical_high_w, its.max_w) == (typical, typical, typical, most)
    assert (its.typical_basis, its.max_basis, its.holds) == (SHEET, SHEET, holds)


def test_the_bounds_hold_nine_of_ten_data_sheets_that_they_have_not_seen() -> None:
    found = power_class.leave_out()
    assert len({its.switch for its in found}) >= 25
    assert sum(its.inside for its in found) >= 0.9 * len(found)
    sheets = [its for its in found if not its.second_hand]
    assert sum(its.inside for its in sheets) >= 0.9 * len(sheets)
    assert statistics.median(its.high / its.low for its in found) < 2.6, "bounds that say something"


def test_a_data_sheet_that_is_left_out_has_no_part_in_its_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bounds of an SN5600 without its data sheet are the same, whatever that sheet says."""
    model = catalog.switch("sn5600")
    assert model is not None
    wild = {**power_class.sheets(), "sn5600": model.model_copy(update={"power_typical_w": 90_000})}
    before, seen = power_class.switch_bounds(model, without="sn5600"), power_class.switch_bounds(model)
    monkeypatch.setattr(power_class, "sheets", lambda: wild)
    power_class.per_tbps.cache_clear()
    try:
        assert power_class.switch_bounds(model, without="sn5600") == before
        assert power_class.switch_bounds(model).typical.high > 10 * seen.typical.high
    finally:
        monkeypatch.undo()
        power_class.per_tbps.cache_clear()


def test_a_site_that_states_nothing_gets_bounds_and_what_it_states_is_kept() -> None:
    ports = (PortGroup(count=64, speed_gbps=800),)
    bare = power.switch_range(SwitchModel(ports=ports, asic="tomahawk5"))
    assert (bare.typical_basis, bare.max_basis) == (BOUND, BOUND)
    assert (bare.typical_low_w, bare.typical_high_w) == (of("qfx5240-64od").typical_low_w, of("qfx5240-64od").typical_high_w)
    own = power.switch_range(SwitchModel(ports=ports, asic="tomahawk5", power_typical_w=700))
    assert (own.typical_low_w, own.typical_w, own.typical_high_w) == (700, 700, 700)
    assert (own.typical_basis, own.max_basis) == (STATED, BOUND)
    capped = power.switch_range(SwitchModel(ports=ports, asic="tomahawk5", power_max_w=800))
    assert capped.typical_high_w <= capped.max_w == 800
    unknown = power.switch_range(SwitchModel(ports=ports))
    assert unknown.typical_high_w == bare.typical_high_w, "its cages are those of the generation"


@pytest.mark.parametrize("name", ["1x1g", "64x400g", "32x100g", "64x1600g", "8x3200g"])
def test_generic_switches_are_bounded(name: str) -> None:
    model = generic_switch(name)
    assert model is not None
    assert_sound(power.switch_range(model))


@given(st.integers(1, 128), st.sampled_from([1, 25, 100, 200, 400, 800, 1600]), st.integers(1, 8))
def test_more_cages_never_lower_the_bounds(count: int, speed: int, more: int) -> None:
    small, large = (
        power_class.switch_bounds(SwitchModel(ports=(PortGroup(count=cages, speed_gbps=speed),), rack_units=2))
        for cages in (count, count + more)
    )
    for figure in ("typical", "max"):
        assert getattr(small, figure).low <= getattr(large, figure).low
        assert getattr(small, figure).high <= getattr(large, figure).high


def test_servers_by_their_gpus() -> None:
    h100 = server_of("hgx-h100")
    assert h100.max_w == pytest.approx(8 * 700 * 1.83)
    assert (h100.typical_low_w, h100.typical_high_w) == pytest.approx((8 * 700 * 1.25 * 0.6, 8 * 700 * 1.83 * 0.82))
    assert h100.typical_low_w < server_of("dgx-h100").typical_w < h100.typical_high_w
    nics = {"compute": NicSet(count=4, speed_gbps=400)}
    own = power.server_range(ServerModel(gpus=4, nics=nics))
    assert own.max_w == pytest.approx(4 * 1400 * 1.83), "a GPU that is not known"
    assert power.server_range(ServerModel(gpus=0, nics=nics)).max_w == 800
    tray = power.server_range(ServerModel(gpus=4, gpu="GB300", nvlink_domain_gpus=72, nics=nics))
    assert tray.max_w == pytest.approx(4 * 1400 * 1.4), "fans, switches and supplies of the rack are elsewhere"
    assert power.server_range(ServerModel(gpus=0, nics=nics, power_typical_w=500)).typical_basis == STATED


def test_the_dgx_h100_measured_in_training_is_within_its_range() -> None:
    """8.4 kW at most and 7.92 kW in the middle of a training run: Latif et al., arXiv 2412.08602."""
    its = server_of("dgx-h100")
    assert its.typical_low_w <= 7920 <= its.typical_high_w
    assert its.typical_high_w == pytest.approx(8400, rel=0.01)
