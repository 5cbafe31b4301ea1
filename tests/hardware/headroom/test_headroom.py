"""PFC headroom: the rows that vendors publish, what must hold for any link, and what the command says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from hypothesis import given, settings, strategies as st
from typer.testing import CliRunner

from fabric import cli
from fabric.hardware import catalog
from fabric.hardware.catalog.asics import Asic, HeadroomTable, asic, asic_name, asic_names, buffers
from fabric.hardware.headroom import Headroom, explain, floor_bytes, headroom
from fabric.hardware.headroom_formulas import Formula, Link, lanes_of, spectrum
from tests import ROOT

REFERENCE = ROOT / "tests" / "reference" / "headroom"


def published(file: str) -> dict[str, dict[str, Any]]:
    content: dict[str, dict[str, Any]] = yaml.safe_load((REFERENCE / file).read_text(encoding="utf-8"))
    return content


NVIDIA, OTHERS, CASES = published("nvidia.yaml"), published("others.yaml"), published("cases.yaml")


def chip(name: str) -> Asic:
    found = asic(name)
    assert found is not None
    return found


def as_published(table: dict[str, Any], speed: int, length: int) -> list[int]:
    """speed, length, size, xon, xoff by the formula for the traffic a published table was made for."""
    model = chip(table["asic"])
    assert model.spectrum is not None
    # What the published tables of these switches do without: see the comments in nvidia.yaml and the chip's data.
    changes: dict[str, Any] = {"compensation_bytes": 0}
    if table.get("response_by_speed"):
        changes |= {"fixed_response_bytes": None, "static_latency_bytes": None}
    model = model.model_copy(update={"spectrum": model.spectrum.model_copy(update=changes)})
    formula = Formula(table.get("small_bytes_percent", 100), gearbox_ns=table.get("gearbox_ns", 0))
    link = Link(speed, length, lossless_mtu_bytes=table.get("lossless_mtu_bytes", 1024))
    xon, xoff, size, _ = spectrum(model, link, formula, lanes_of(model, speed))
    return [speed, length, xon if table.get("shared") else size, xon, xoff]


def row(requested: list[int], found: Headroom) -> list[int]:
    return [*requested[:2], found.size_bytes, found.xon_bytes, found.xoff_bytes]


@pytest.mark.parametrize("table", NVIDIA.values(), ids=NVIDIA)
def test_formula_gives_the_published_rows(table: dict[str, Any]) -> None:
    assert [as_published(table, *requested[:2]) for requested in table["rows"]] == table["rows"]
    for requested in table.get("deviates", ()):
        assert as_published(table, *requested[:2]) != requested, table["why"]


@pytest.mark.parametrize("name", ["ACS-MSN2700", "ACS-MSN3700", "ACS-MSN4700", "ACS-SN5600"])
def test_static_is_what_the_static_tables_hold(name: str) -> None:
    table = NVIDIA[name]
    for requested in table["rows"]:
        found = headroom(chip(table["asic"]), *requested[:2])
        assert row(requested, found) == requested
        assert found.method == "computed"


@pytest.mark.parametrize("sku", OTHERS)
def test_tables_are_reproduced(sku: str) -> None:
    table = OTHERS[sku]
    model = chip(table["asic"])
    if table.get("shadowed"):
        model = model.model_copy(update={"tables": tuple(own for own in model.tables if own.sku == sku)})
    for requested in table["rows"]:
        found = headroom(model, *requested[:2], switch=table.get("switch", ""))
        assert row(requested, found) == requested
        assert found.method == "table"


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_case(case: dict[str, Any]) -> None:
    device = catalog.switch(case["switch"])
    assert device is not None
    found = headroom(asic(device.asic), *case["row"][:2], switch=case["switch"])
    assert row(case["row"], found) == case["row"]


def test_conservative_sum() -> None:
    """The article's components at MTU 9216, before the last step up to a KiB."""
    for speed, length, requested in (
        (10, 100, 25694),
        (25, 100, 28337),
        (40, 100, 37252),
        (100, 100, 86992),
        (100, 300, 111992),
    ):
        found = headroom(None, speed, length)
        assert found.method == "conservative"
        assert found.terms["in_flight_bytes"] == requested
        assert found.xoff_bytes == -(-requested // 1024) * 1024
        assert "extrapolated" not in found.terms
    assert "extrapolated" in headroom(None, 800, 100).terms


def test_rounds_up_to_a_row() -> None:
    found = headroom(chip("tomahawk4"), 75, 41, switch="z9664f-on")
    assert (found.terms["row_speed_gbps"], found.terms["row_length_m"]) == (100, 300)
    assert found.xoff_bytes == 240538


def test_extrapolates_with_the_last_slope() -> None:
    found = headroom(chip("tomahawk3"), 400, 3000)
    slope = (1498092 - 836676) / 1000
    assert found.xoff_bytes == -(-(1498092 + slope * 1000) // 254) * 254
    assert found.terms["extra_length_m"] == 1000


def test_faster_than_the_table_is_conservative() -> None:
    found = headroom(chip("tomahawk3"), 800, 40)
    assert found.method == "conservative"
    assert found.terms["occupancy"] == round(254 / 64, 4)


def test_a_switch_takes_its_own_table_and_its_chip_s_where_it_has_none() -> None:
    trident = chip("trident3")
    assert headroom(trident, 100, 40, switch="ds3000").terms["table"] == "DS3000"
    assert headroom(trident, 100, 40, switch="qfx5120-48y").terms["table"] == "DellEMC-S5232f-C32"
    tomahawk = chip("tomahawk5")
    assert headroom(tomahawk, 400, 40, switch="7060x6-64pe").terms["table"] == "Arista-7060X6-64PE-O128"
    assert headroom(tomahawk, 800, 40, switch="7060x6-64pe").terms["table"] == "Dell-Z9864f-O64"


def test_dynamic_follows_the_plugin() -> None:
    """By hand: Spectrum-1, 100G, 40 m: ceil(192/97) = 2 cells' worth, 11.76 % of bytes small, 2 KiB on top."""
    found = headroom(chip("spectrum-1"), 100, 40, traffic="dynamic")
    assert found.terms["occupancy"] == 1.1176
    assert found.xoff_bytes == 45 * 1024 + 2048  # 1024 + (9216 + 5050.5 + 819.2 + 25216) x 1.1176 = 46067


def test_lanes_can_be_given() -> None:
    eight, four = (headroom(chip("spectrum-4"), 400, 40, lanes=lanes) for lanes in (8, 4))
    assert eight.xon_bytes == 2 * four.xon_bytes
    assert eight.xoff_bytes == four.xoff_bytes


LINKS = {
    "speed_gbps": st.sampled_from([1, 10, 25, 40, 50, 75, 100, 200, 400, 800, 1600]),
    "length_m": st.integers(0, 100_000),
    "mtu_bytes": st.integers(256, 16_384),
    "traffic": st.sampled_from(["static", "dynamic"]),
}
CHIPS = st.sampled_from(["", *asic_names()])
SWITCHES = st.sampled_from(["", *catalog.switch_names()])


@settings(deadline=None, max_examples=300)
@given(name=CHIPS, switch=SWITCHES, link=st.fixed_dictionaries(LINKS))
def test_never_below_the_floor(name: str, switch: str, link: dict[str, Any]) -> None:
    found = headroom(asic(name), **link, switch=switch)
    assert found.xoff_bytes >= floor_bytes(link["speed_gbps"], link["length_m"], link["mtu_bytes"])
    assert min(found.xon_bytes, found.size_bytes) >= 0
    assert adds_up(found)


def adds_up(found: Headroom) -> bool:
    """The printed terms make the headroom, to the byte but for decimals that are not printed."""
    terms = {name: float(value) for name, value in found.terms.items() if not isinstance(value, str)}
    signs = ("chip_compensation_bytes", "mix_compensation_bytes", "raised_to_floor_bytes", "rounding_bytes")
    rest = sum(terms.get(name, 0) for name in signs)
    if found.method == "table":
        total = terms["row_bytes"] + terms.get("extrapolated_bytes", 0)
    else:
        occupied = terms.get("occupied_bytes", terms["in_flight_bytes"])
        total = occupied + (terms["lossless_mtu_bytes"] if found.method == "computed" else 0)
    return abs(total + rest - found.xoff_bytes) < 1


@settings(deadline=None, max_examples=200)
@given(name=CHIPS, switch=SWITCHES, link=st.fixed_dictionaries(LINKS), more=st.integers(1, 2000))
def test_longer_never_takes_less(name: str, switch: str, link: dict[str, Any], more: int) -> None:
    longer = {**link, "length_m": link["length_m"] + more}
    assert headroom(asic(name), **longer, switch=switch).xoff_bytes >= headroom(asic(name), **link, switch=switch).xoff_bytes


@settings(deadline=None, max_examples=200)
@given(
    name=st.sampled_from(["", *(name for name in asic_names() if chip(name).spectrum)]),
    link=st.fixed_dictionaries(LINKS),
    faster=st.sampled_from([2, 4, 8]),
)
def test_faster_never_takes_less(name: str, link: dict[str, Any], faster: int) -> None:
    """Of what is computed: vendors' tables are free to disagree (Tomahawk6: 100G below 50G)."""
    quick = {**link, "speed_gbps": link["speed_gbps"] * faster}
    assert headroom(asic(name), **quick).xoff_bytes >= headroom(asic(name), **link).xoff_bytes


@pytest.mark.parametrize(("speed", "length", "mtu"), [(0, 5, 9216), (100, -1, 9216), (100, 5, 0)])
def test_no_such_link(speed: int, length: int, mtu: int) -> None:
    with pytest.raises(ValueError, match="expected a speed"):
        headroom(None, speed, length, mtu)


# The data.


def tables() -> Iterator[tuple[str, HeadroomTable]]:
    return ((name, table) for name in asic_names() for table in chip(name).tables)


def test_every_chip_of_the_catalog_is_known() -> None:
    devices = [device for device in map(catalog.switch, catalog.switch_names()) if device and device.technology == "ethernet"]
    assert {device.asic for device in devices} <= set(asic_names())
    for device in devices:
        cell = chip(device.asic).cell_bytes
        assert device.cell_bytes is None or cell == device.cell_bytes


def test_tables_belong_to_switches_of_the_chip() -> None:
    for name, table in tables():
        assert table.source
        for switch in table.switches:
            device = catalog.switch(switch)
            assert device is not None
            assert device.asic == name


def test_no_published_row_is_below_the_floor() -> None:
    for _, table in tables():
        for speed, lengths in table.rows.items():
            for length, xoff in lengths.items():
                assert xoff >= floor_bytes(speed, length), table.sku


@pytest.mark.parametrize("text", ["Spectrum-3", "spectrum3", "SPECTRUM 3", "spectrum_3"])
def test_a_chip_in_any_spelling(text: str) -> None:
    assert asic_name(text) == "spectrum-3"
    assert asic(text) is chip("spectrum-3")


def test_tomahawk_4_with_a_space() -> None:
    assert asic("Tomahawk 4") is chip("tomahawk4")
    assert asic("tomahawk44") is None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("TH3", "tomahawk3"),
        ("th4", "tomahawk4"),
        ("TD3", "trident3"),
        ("trident-2", "trident2"),
        ("Trident 2+", "trident2+"),
        ("TD2 plus", "trident2+"),
        ("BCM56980", "tomahawk3"),
        ("Broadcom BCM78900", "tomahawk5"),
        ("Broadcom Tomahawk 5", "tomahawk5"),
        ("NVIDIA Spectrum-4", "spectrum-4"),
        ("Spectrum", "spectrum-1"),
        ("teralynx7", "teralynx7"),
        ("Innovium", "teralynx7"),
        ("Marvell Teralynx 10", "teralynx10"),
        ("Jericho+", "jericho+"),
        ("jericho", "jericho"),
        ("J2C+", "jericho2c+"),
        ("jericho2cplus", "jericho2c+"),
        ("TsingMa.MX", "tsingma.mx"),
        ("Nephos", "taurus"),
        ("  Broadcom ", "broadcom"),
        ("", ""),
        ("+", "+"),
    ],
)
def test_natural_spellings(text: str, name: str) -> None:
    assert asic_name(text) == name


def test_no_spelling_means_two_chips() -> None:
    for name in asic_names():
        for spelling in (name, name.replace("-", " "), *chip(name).also):
            assert asic_name(spelling) == name


def test_a_speed_may_have_figures_of_its_own() -> None:
    slow, fast = (headroom(chip("qumran3d"), speed, 300).terms for speed in (100, 800))
    assert (slow["threshold"], slow["xon_offset_bytes"]) == (-6, 363506)
    assert (fast["threshold"], fast["xon_offset_bytes"]) == (-4, 2908050)
    taurus = headroom(chip("taurus"), 25, 40)
    assert (taurus.xon_bytes, taurus.terms["threshold_bytes"]) == (41216, 45696)
    assert "threshold" not in taurus.terms


def test_every_table_has_its_published_rows_beside_it() -> None:
    assert {(name, table.sku) for name, table in tables()} == {(table["asic"], sku) for sku, table in OTHERS.items()}
    for name, table in tables():
        assert OTHERS[table.sku]["source"] == table.source, name


def test_buffers_of_every_sku() -> None:
    for name in catalog.switch_names():
        platform = catalog.sonic_platform(name)
        shipped = buffers(name)
        if shipped is None:
            continue
        assert platform is not None
        assert set(shipped.skus) <= set(platform.hwsku.values()), name
        for sku in shipped.skus:
            for tier in ("leaf", "spine"):
                found = shipped.find(sku, tier)
                assert found is not None, f"{name} {sku} {tier}"
                assert found.source
    assert buffers("no-such-switch") is None
    assert buffers("../switches/dell") is None


def test_pool_is_the_largest_that_ships() -> None:
    largest: dict[str, int] = {}
    for name in catalog.switch_names():
        device, shipped = catalog.switch(name), buffers(name)
        if device is None or shipped is None:
            continue
        tiers = [sku.tier(tier) for sku in shipped.skus.values() for tier in ("leaf", "spine")]
        sizes = [pool.size_bytes for tier in tiers if tier for pool in tier.pools.values()]
        largest[device.asic] = max(largest.get(device.asic, 0), *sizes)
    assert largest == {name: chip(name).pool_bytes for name in largest}


def test_buffers_by_tier() -> None:
    shipped = buffers("sn5600")
    assert shipped is not None
    leaf, spine = (shipped.find("ACS-SN5600", tier) for tier in ("leaf", "spine"))
    assert leaf is not None
    assert spine is not None
    assert leaf.pools["ingress_lossless_pool"].size_bytes == 67737959
    assert spine.pools["ingress_lossless_pool"].size_bytes == 52161690
    assert leaf.profiles["egress_lossy_profile"].dynamic_th == 7
    assert shipped.find("ACS-SN5600", "core") == spine
    dell = buffers("z9864f-on")
    assert dell is not None
    both = dell.skus["Dell-Z9864f-O64"].both
    assert both is not None
    assert both.pools["ingress_lossless_pool"].xoff_bytes == 33374584


# The command.


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as end:
        cli.main(["headroom", *arguments])
    out, err = capsys.readouterr()
    return int(end.value.code or 0), out, err


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "--switch", "sn4700", "--speed", "400", "--length", "40", "--json")
    document = json.loads(out)
    assert (code, err) == (0, "")
    assert list(document) == ["xon_bytes", "xoff_bytes", "size_bytes", "method", "terms", "source"]
    assert [document[name] for name in ("xon_bytes", "xoff_bytes", "size_bytes")] == [37888, 77824, 124928]
    assert document["method"] == "computed"


def test_text(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--asic", "Tomahawk 4", "--speed", "400", "--length", "40")
    assert code == 0
    assert out.splitlines() == [
        "Tomahawk 4, 400G, 40 m, MTU 9216",
        "table: next longer row of the next faster speed; the vendor's formula is not published",
        "  + 424434  xoff of the table row",
        "  = 424434  xoff (headroom)",
        "xon   9144",
        "xoff  424434",
        "size  9144",
        "table: DellEMC-Z9664f-O64",
        "row speed gbps: 400",
        "row length m: 40",
        "floor bytes: 30527",
        "threshold: 0",
        "xon offset bytes: 9144",
        "source: sonic-net/sonic-buildimage@086b03bd70f9 device/dell/x86_64-dell_z9664f-r0/DellEMC-Z9664f-O64/"
        "pg_profile_lookup.ini",
    ]


def test_explain_names_every_term() -> None:
    for name, speed in (("spectrum-4", 800), ("tomahawk3", 400), ("silicon-one-g200", 800)):
        lines = explain(headroom(chip(name), speed, 3000, traffic="dynamic"))
        assert len(lines) == len(headroom(chip(name), speed, 3000, traffic="dynamic").terms) + 6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--speed", "100", "--length", "5"),
            "--switch: error[FAB102]: expected one of --switch and --asic, got neither\n"
            "    hint: use --switch MODEL or --asic NAME; --switch implies the ASIC",
        ),
        (
            ("--switch", "sn5600", "--asic", "spectrum-4", "--speed", "100", "--length", "5"),
            "--switch: error[FAB102]: expected one of --switch and --asic, got both\n"
            "    hint: use --switch MODEL or --asic NAME; --switch implies the ASIC",
        ),
        (
            ("--switch", "sn560", "--speed", "100", "--length", "5"),
            "--switch: error[FAB106]: unknown switch 'sn560'\n    hint: did you mean 'sn5600'?",
        ),
        (
            ("--asic", "Tomahwk 4", "--speed", "100", "--length", "5"),
            "--asic: error[FAB106]: unknown ASIC 'Tomahwk 4'\n    hint: did you mean 'tomahawk4'?",
        ),
        (
            ("--switch", "sn5400", "--speed", "800", "--length", "5"),
            "--speed: error[FAB102]: expected a port speed of sn5400, got 800\n"
            "    hint: its ports support 400, 200, 100, 50, 40, 25, 10 Gb/s",
        ),
        (
            ("--switch", "qm9700", "--speed", "400", "--length", "5"),
            "--switch: error[FAB102]: expected an Ethernet switch, got qm9700\n"
            "    hint: InfiniBand is lossless by link credits: it has no PFC headroom",
        ),
        (
            ("--asic", "tofino2", "--speed", "0", "--length", "-1", "--mtu", "90000", "--traffic", "some"),
            "--length: error[FAB102]: expected 0 to 100000 m, got -1\n    hint: the unit of --length is m\n"
            "--mtu: error[FAB102]: expected 256 to 16384 bytes, got 90000\n    hint: the unit of --mtu is bytes\n"
            "--speed: error[FAB102]: expected 1 to 12800 Gb/s, got 0\n    hint: the unit of --speed is Gb/s\n"
            "--traffic: error[FAB102]: expected static or dynamic, got 'some'\n"
            "    hint: use `static` for the assumption of SONiC's tables",
        ),
    ],
)
def test_mistakes(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.rstrip("\n") == message


def test_usage() -> None:
    result = CliRunner().invoke(cli.app, ["headroom", "--switch", "sn5600", "--speed", "fast", "--length", "5"])
    assert result.exit_code == 2
