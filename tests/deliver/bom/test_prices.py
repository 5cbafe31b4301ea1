"""The price file: read whole, or refused with the place of every mistake."""

from __future__ import annotations

import pickle

import pytest

from fabric.base.diagnostics import InputError, Report
from fabric.deliver.bom.parts import CABLE, OPTIC, SERVER, SWITCH, Part, Spares
from fabric.deliver.bom.prices import Prices, StatedPower, power_range, powered, read, read_yaml, unpriced
from fabric.hardware import catalog
from fabric.hardware.catalog import media
from fabric.hardware.catalog.models import PortGroup, SwitchModel
from fabric.model.settings.site import OwnCatalog
from tests import ROOT
from tests.goldens import GOLDEN, golden

GOOD = """\
currency: EUR
switches: {sn5600: 50000, 64x400g: 30000}
servers: {dgx-h100: 200000}
optics: {400g-dr4: 600}
cables:
  dac-400g: 90
  mpo12-apc-os2: {each: 40, per_metre: 2}
power:
  sn5600: {max_w: 2800, includes_optics: [max]}
  64x400g: {typical_w: 700, max_w: 1200}
  dgx-h100: {typical_w: 8000}
discount_percent: {switches: 20, cables: 50}
support_percent: 8
labour: {per_cable: 20, per_switch: 200}
energy: {per_kwh: 0.1, pue: 1.2}
spares: {optics: 5}
years: 3
"""

# name → a file with one kind of mistake; the messages are golden
BAD = {
    "no-currency": "switches: {sn5600: 1}",
    "currency-is-a-sign": "currency: $",
    "unknown-key": "currency: EUR\nswitchs: {sn5600: 1}",
    "unknown-switch": "currency: EUR\nswitches: {sn560: 1}",
    "unknown-server": "currency: EUR\nservers: {dgx-h10: 1}",
    "unknown-optic": "currency: EUR\noptics: {400g-dr5: 1}",
    "unknown-cable": "currency: EUR\ncables: {dac-401g: 1}",
    "a-switch-that-cannot-be": "currency: EUR\nswitches: {0x400g: 1}",
    "price-is-text": "currency: EUR\nswitches: {sn5600: 50k}",
    "price-in-quotes": 'currency: EUR\nswitches: {sn5600: "50000"}',
    "price-below-zero": "currency: EUR\noptics: {400g-dr4: -1}",
    "price-not-finite": "currency: EUR\noptics: {400g-dr4: .inf}",
    "switches-are-a-list": "currency: EUR\nswitches: [sn5600, 50000]",
    "cable-price-misspelt": "currency: EUR\ncables: {dac-400g: {each: 1, per_meter: 2}}",
    "discount-above-all": "currency: EUR\ndiscount_percent: {switches: 120}",
    "support-of-cables": "currency: EUR\nsupport_percent: {cables: 5}",
    "labour-per-metre": "currency: EUR\nlabour: {per_metre: 5}",
    "pue-below-one": "currency: EUR\nenergy: {per_kwh: 0.1, pue: 0.9}",
    "power-of-nothing": "currency: EUR\npower: {sn560: {typical_w: 700}}",
    "power-is-a-number": "currency: EUR\npower: {sn5600: 700}",
    "power-in-kilowatts": "currency: EUR\npower:\n  dgx-h100: {max_kw: 10.2}",
    "power-with-a-unit": "currency: EUR\npower: {dgx-h100: {typical_w: 8 kW, max_w: 0}}",
    "power-swapped": "currency: EUR\npower: {sn5600: {typical_w: 1800, max_w: 940}}",
    "power-of-optics-misspelt": "currency: EUR\npower: {sn5600: {max_w: 1800, includes_optics: [maximum, typical]}}",
    "power-of-optics-is-true": "currency: EUR\npower: {sn5600: {max_w: 1800, includes_optics: true}}",
    "power-of-optics-in-a-server": "currency: EUR\npower: {dgx-h100: {max_w: 9000, includes_optics: [max]}}",
    "years-and-a-half": "currency: EUR\nyears: 2.5",
    "a-list": "- currency: EUR",
    "no-yaml": "currency: [EUR",
    "twice": "currency: EUR\nswitches: {sn5600: 1}\nswitches: {sn5600: 2}",
    "several-at-once": "currency: euro\noptics: {400g-dr5: 1, 400g-dr4: x}\nyears: 0",
}


def prices(text: str, own: OwnCatalog | None = None) -> Prices:
    return read_yaml(text, "prices.yaml", own)


def messages(text: str) -> str:
    with pytest.raises(InputError) as caught:
        prices(text)
    return "\n".join(map(str, caught.value.diagnostics))


def test_reads_every_key() -> None:
    found = prices(GOOD)
    assert found.currency == "EUR"
    assert found.list_price(Part(SWITCH, "sn5600")) == 50_000
    assert found.price(Part(SWITCH, "sn5600")) == 40_000
    assert found.price(Part(SWITCH, "64x400g")) == 24_000
    assert found.price(Part(SERVER, "dgx-h100")) == 200_000
    assert found.price(Part(OPTIC, "400g-dr4")) == 600
    assert found.price(Part(CABLE, "dac-400g", 1.5)) == 45
    assert found.price(Part(CABLE, "mpo12-apc-os2", 30)) == (40 + 30 * 2) / 2
    assert found.price(Part(OPTIC, "400g-fr4")) is None
    assert found.support_percent == {"switches": 8, "servers": 8, "optics": 8}
    assert found.labour == {"cable": 20, "switch": 200}
    assert (found.per_kwh, found.pue, found.years) == (0.1, 1.2, 3)
    assert found.spares == Spares(optics=5)
    assert found.power == {
        "sn5600": StatedPower(max_w=2800, includes_optics=("max",)),
        "64x400g": StatedPower(typical_w=700, max_w=1200),
        "dgx-h100": StatedPower(typical_w=8000),
    }


@pytest.mark.parametrize(
    ("power", "typical", "most", "held"),
    [
        ("{typical_w: 900}", 900, 2779, ("max",)),
        ("{max_w: 1700}", 972, 1700, ()),
        ("{typical_w: 2500, includes_optics: [typical]}", 2500, 2779, ("max", "typical")),
        ("{typical_w: 2500, max_w: 1700, includes_optics: [typical]}", 2500, 1700, ("typical",)),
    ],
)
def test_a_figure_goes_with_its_optics(power: str, typical: int, most: int, held: tuple[str, ...]) -> None:
    device = SwitchModel(
        ports=(PortGroup(count=64, speed_gbps=800),),
        power_typical_w=972,
        power_max_w=2779,
        power_includes_optics=("max",),
    )
    found = powered(prices(f"currency: EUR\npower: {{64x800g: {power}}}"), "64x800g", device)
    assert (found.power_typical_w, found.power_max_w, found.power_includes_optics) == (typical, most, held)
    assert powered(None, "64x800g", device) is device
    assert powered(prices("currency: EUR"), "64x800g", device) is device


def test_a_bare_file_has_nothing_but_a_currency() -> None:
    found = prices("currency: USD")
    assert (found.per_kwh, found.pue, found.years, found.spares) == (None, None, None, Spares())
    assert found.price(Part(SWITCH, "sn5600")) is None


def test_one_discount_is_for_everything() -> None:
    assert prices("currency: USD\ndiscount_percent: 10").discount_percent == dict.fromkeys(
        ("switches", "servers", "optics", "cables"), 10
    )
    assert prices("currency: USD\nspares: 3").spares == Spares(switches=3, optics=3, cables=3)


def test_hardware_of_the_intent_has_prices_too() -> None:
    own = OwnCatalog(switches={"mybox": SwitchModel(ports=(PortGroup(count=4, speed_gbps=100),))})
    assert prices("currency: EUR\nswitches: {mybox: 7}", own).switches == {"mybox": 7}
    assert prices("currency: EUR\npower: {mybox: {max_w: 7}}", own).power == {"mybox": StatedPower(max_w=7)}
    assert "unknown key 'mybox' under switches" in messages("currency: EUR\nswitches: {mybox: 7}")


@pytest.mark.parametrize("name", BAD)
def test_every_mistake_has_its_place(name: str) -> None:
    golden(f"bom/prices/{name}.txt", messages(BAD[name]) + "\n")


def test_no_golden_is_left_over() -> None:
    assert {path.stem for path in (GOLDEN / "bom" / "prices").iterdir()} == set(BAD)


def test_what_has_no_price_is_named_once_and_where_it_would_stand() -> None:
    found, report = prices(GOOD), Report()
    parts = [Part(CABLE, "dac-800g", 1), Part(CABLE, "dac-800g", 2), Part(SWITCH, "sn5610"), Part(OPTIC, "400g-dr4")]
    unpriced(found, parts, report)
    assert [str(item) for item in report.warnings] == [
        "prices.yaml:6:3: warning[FAB172]: cables: no price for dac-800g: totals exclude it\n    hint: add `dac-800g: …`",
        "prices.yaml:2:11: warning[FAB172]: switches: no price for sn5610: totals exclude it\n    hint: add `sn5610: …`",
    ]


def test_the_example_names_everything_that_ships_and_says_it_is_invented() -> None:
    path = ROOT / "docs" / "prices-example.yaml"
    assert path.read_text(encoding="utf-8").startswith("# INVENTED PRICES")
    found = read(path)
    assert list(found.switches) == catalog.switch_names()
    assert list(found.servers) == catalog.server_names()
    assert set(found.optics) == set(media.optics())
    assert set(found.cables) == {*media.cables(), *media.fibres()}


def test_the_example_invents_no_watts() -> None:
    assert not read(ROOT / "docs" / "prices-example.yaml").power, "the catalog has every figure, or its bounds"


def test_power_says_what_is_stated_and_what_is_not() -> None:
    found = prices("currency: EUR\npower: {sn5640: {typical_w: 1100}, sn5600: {max_w: 3000, includes_optics: [max]}}")
    sn5640, sn5600 = catalog.switch("sn5640"), catalog.switch("sn5600")
    assert sn5640 is not None
    assert sn5600 is not None
    its = power_range(found, "sn5640", sn5640)
    assert (its.typical_low_w, its.typical_w, its.typical_high_w) == (1100, 1100, 1100)
    assert (its.typical_basis, its.max_basis) == ("stated", "class bound")
    its = power_range(found, "sn5600", sn5600)
    assert (its.typical_w, its.max_w, its.holds) == (940, 3000, ("max",))
    assert (its.typical_basis, its.max_basis) == ("data sheet", "stated")
    assert power_range(None, "sn5600", sn5600).max_basis == "class bound"


def test_prices_go_to_other_processes() -> None:
    found = prices(GOOD)
    assert pickle.loads(pickle.dumps(found)) == found
