"""The page of power figures: `python -m tools.docs.power > docs/power.md`."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping

from fabric.hardware.catalog import power_class
from fabric.hardware.catalog.power import PowerRange
from fabric.pipeline import catalog_power, catalog_power_check
from tools.docs.ending import ending

HEAD = """# Power of the catalog's hardware

`fabric catalog --power` prints these figures without their sources. [bom.md](bom.md#power) has how figures are added up.

Every figure is in watts, of one device at its inlet, with its fans, its CPU and the losses of its power supplies. Optics in
its cages are not part of it, but where "with optics" names a figure: that one holds a full set.

* **Typical** is what the maker calls typical, and makers differ: Arista at 25 °C and 50 % load, without transceivers;
  Juniper at 25 °C with DACs and 50 % load; NVIDIA with passive cables by the ATIS method; Cisco and Dell do not say. Where
  no data sheet has it, it lies between two ends.
* **Worst case** is what a rack has to feed: the maker's maximum (Juniper: 40 °C, SR optics, 100 % load), else the upper
  end.
* **Basis**: *data sheet* is a figure of a maker's document, read in the text that the source names; *second-hand* was read
  in a text that names no such document; *class bound* is the rule below.

## The bounds of a class

A switch draws {base:g} W for each rack unit, plus watts for each Tb/s of its ports by the generation of its chip. The watts
for each Tb/s are those of the data sheets of the generation, least to most: typical power without optics, and maximum less
a full set of optics. The sum is widened by {margin:g} % at both ends. A generation with fewer than two data sheets borrows
those of its neighbors. The worst case of a switch with a typical figure is at most that figure times the largest such ratio
of its generation.

* {base:g} W: {base_source}.
* {margin:g} %: {margin_source}.

{generations}

A GPU server draws {low:g} to {high:g} times the sum of its GPUs' power at most ({server_source}). Its typical power in
training is {share_low:g} to {share_high:g} of that, {share:g} in the middle ({share_source}). A tray of an NVLink domain:
{tray_low:g} to {tray_high:g} times ({tray_source}). A server without GPUs: {plain_low:g} to {plain_high:g} W, {plain_max:g}
W at most ({plain_source}).

An optic draws {optic_low:g} to {optic_high:g} of its worst case, {optic:g} in the middle ({optic_source}).
"""
END = ending(
    "python -m tools.docs.power",
    "[bom.md](bom.md#power): power by rack and in total for a design.",
    "[How do I add a switch that is not in the catalog?](howto/switch.md): with its own power.",
)

CHECK = """## How well the bounds hold

`fabric catalog --power-check` bounds every switch of the catalog that has a figure by its class, without its own data
sheet. {inside} of {count} figures ({share:.1%}) are between the bounds; so is every figure of {whole} of {switches}
switches. Upper over lower end is {ratio:.2f} in the median.

What is outside: {outside}.

Not covered by the check: servers, which are bounded by the few systems that the ratios are from; NICs; switches with
co-packaged optics, chassis with line cards, and liquid-cooled ones but for a QFX5250.

| switch | figure | W | from | to | |
|---|---|--:|--:|--:|---|
"""

TITLES = {"switches": "Switches", "servers": "Servers", "nics": "NICs", "modules": "Optics and cable ends"}


def page() -> str:
    """The whole page."""
    return "\n".join(
        [_head(), *(f"## {TITLES[kind]}\n\n{_table(its)}" for kind, its in catalog_power().items()), _check(), END]
    )


def _head() -> str:
    rules = power_class.classes()
    its, servers, optics = rules.switches, rules.servers, rules.optics
    ratio, tray, share, plain = servers.max_over_gpus, servers.max_over_gpus_of_tray, servers.typical_share, servers.plain
    return HEAD.format(
        base=its.base_w_per_rack_unit,
        base_source=its.base_source,
        margin=100 * (its.margin - 1),
        margin_source=its.margin_source,
        generations="\n".join(_generations()),
        low=ratio.low,
        high=ratio.high,
        server_source=ratio.source,
        share_low=share.low,
        share=share.typical,
        share_high=share.high,
        share_source=share.source,
        tray_low=tray.low,
        tray_high=tray.high,
        tray_source=tray.source,
        plain_low=plain.low,
        plain_high=plain.high,
        plain_max=plain.max,
        plain_source=plain.source,
        optic_low=optics.low,
        optic=optics.typical,
        optic_high=optics.high,
        optic_source=optics.source,
    )


def _generations() -> Iterator[str]:
    yield "| generation | chips | data sheets | typical W per Tb/s | worst case W per Tb/s |\n|---|---|--:|--:|--:|"
    for at, generation in enumerate(power_class.classes().switches.generations):
        count = sum(model.asic in generation.chips for model in power_class.sheets().values())
        spans = (power_class.per_tbps(figure, (at,)) for figure in (power_class.TYPICAL, power_class.MAX))
        watts = " | ".join(f"{span.low:.1f} to {span.high:.1f}" for span in spans)
        yield f"| {generation.name} | {', '.join(generation.chips)} | {count} | {watts} |"


def _table(ranges: Mapping[str, PowerRange]) -> str:
    rows = ["| model | typical | worst case | with optics | basis | source |", "|---|--:|--:|---|---|---|"]
    for name, its in ranges.items():
        low, high = _watts(its.typical_low_w), _watts(its.typical_high_w)
        typical = low if low == high else f"{low} to {high}"
        holds = " and ".join("worst case" if figure == "max" else figure for figure in its.holds)
        rows.append(f"| `{name}` | {typical} | {_watts(its.max_w)} | {holds} | {its.basis} | {its.source} |")
    return "\n".join(rows) + "\n"


def _watts(watts: float) -> str:
    return f"{watts:,.0f}" if watts >= 100 else f"{watts:.3g}"


def _check() -> str:
    found = catalog_power_check()
    outside = [its for its in found if not its.inside]
    switches = {its.switch for its in found}
    rows = [
        f"| `{its.switch}` | {its.figure} | {its.watts:,.0f} | {its.low:,.0f} | {its.high:,.0f} | "
        f"{'' if its.inside else 'outside'} |"
        for its in found
    ]
    head = CHECK.format(
        inside=len(found) - len(outside),
        count=len(found),
        share=1 - len(outside) / len(found),
        whole=len(switches - {its.switch for its in outside}),
        switches=len(switches),
        ratio=statistics.median(its.ratio for its in found),
        outside=", ".join(f"{its.switch} ({its.figure})" for its in outside) or "nothing",
    )
    return head + "\n".join(rows) + "\n"


if __name__ == "__main__":
    print(page(), end="")
