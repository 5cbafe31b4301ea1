"""`fabric plan`: sizes, wires and numbers a site, and prints what came out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from fabric import pipeline
from fabric.base.formats import json_text
from fabric.base.schemas.models import document
from fabric.base.text import aligned, counted, listed
from fabric.cli.common import option, progress, say, show_diagnostics
from fabric.cli.output import GENERATED, put_text
from fabric.design.explain.counts import Sessions, phrase, sessions
from fabric.model.plan import CLOSED, WORDS, FabricPlan, Plan
from fabric.model.plan.summary import PlanDocument, in_service, kinds_of_switch, leaf_ratios, limit_words, summary

MAX_LISTED = 8  # of one line


def plan(
    file: Path = typer.Argument(..., metavar="FILE", help="intent file", show_default=False),
    as_json: bool = typer.Option(False, "--json", help="print one JSON document"),
    against: str = option("", "--against", "OLD", "older intent to compare with: a file or git:REV"),
    generated: Path | None = GENERATED,
) -> None:
    """Size, wire and number the fabrics of an intent."""
    intent = pipeline.load(file, generated)
    if against:
        from fabric.design.moves import text

        say(f"{file} against {against}")
        with progress("plans of both intents"):
            changes = pipeline.moves(intent, against)
        if as_json:
            print(json_text(changes.as_dict()))
        else:
            put_text(None, lambda: text(changes) + "\n")
        return
    if as_json:
        print(json_text(document(pipeline.summarize(intent), PlanDocument)))
        return
    with progress("plan"):
        site_plan = pipeline.plan(intent)
    show_diagnostics(site_plan.warnings)
    put_text(None, lambda: "\n".join(_page(site_plan)) + "\n")


def _page(made: Plan) -> Iterator[str]:
    yield f"site {made.site}"
    for name, fabric in made.fabrics.items():
        yield from ["", *lines(name, summary(fabric.spec, fabric.sizing), sessions(fabric)), *services(fabric)]


def lines(name: str, row: dict[str, Any], more: Sessions) -> list[str]:
    """One fabric as a person reads it; `more` are the BGP sessions that no count of the sizing has."""
    unit, pods, ratio = row["unit"], row["pods"], row["oversubscription"]
    tiers = {0: "no switches", 1: "one tier", 2: "two tiers", 3: "three tiers"}[row["tiers"]]
    shape = [f"{row['kind']}, {tiers}"] + ([f"{row['planes']} planes"] if row["planes"] > 1 else [])
    out = [f"fabric {name}: {row['purpose']}, {', '.join(shape)}"]
    gpus = f", {row['gpus']:,} GPUs" if row["gpus"] else ""
    if active := in_service(row.get("planes_active", row["planes"]), row["planes"]):
        out.append(f"  in service  {active}; what is below counts all planes")
    groups = row.get("groups", {})
    size = "" if groups else f" of {unit['servers']}"
    where = f" in {counted(row['units'], 'unit')}{size}" if row["servers"] else ""
    out.append(f"  servers   {row['servers']:,}{gpus}{where}")
    for group, size_of_group in groups.items():
        if not size_of_group["model"]:
            out.append(f"            {counted(size_of_group['leaves'], 'leaf', 'leaves')} without servers: {group}")
            continue
        model = "" if size_of_group["model"] == group else f" ({size_of_group['model']})"
        size = f"in {counted(size_of_group['units'], 'unit')} of {size_of_group['unit']['servers']}"
        where = size if size_of_group["units"] else f"on the leaves of {next(iter(groups))}"
        out.append(f"            {size_of_group['servers']:,} {group}{model} {where}")
    if row["tiers"] == 3:
        rails = f"{counted(pods['rails'], 'rail')} of " if "rails" in pods else ""
        out.append(
            f"  pods      {pods['count']:,} of {rails}{counted(pods['units'], 'unit')}: "
            f"{pods['leaves']:,} leaves, {pods['spines']:,} spines"
        )
    switches = []
    for tier, _, number, ports in kinds_of_switch(row):
        down, up = (f"{ports[d]} x {ports[d + '_speed_gbps']}G" if ports[d] else "-" for d in ("down", "up"))
        spare = f"{ports['spare']} x {ports['down_speed_gbps']}G" if ports["spare"] else "-"
        switches.append((tier, f"{number:,}", row["models"][tier], down, up, spare))
        switches += [("", "", "", f"{count} x {speed}G", "", "") for speed, count in ports.get("further", {}).items()]
    if switches:
        out += aligned(switches, ">8>7<16>12>12>12", indent="  ", head=("switches", "number", "model", "down", "up", "spare"))
    links = []
    for kind, number in row["links"].items():
        if number:
            length = row["lengths"][kind]
            cable = f"{length['metres']} m, {WORDS[length['source']]}"
            links.append((kind, f"{number:,}", f"{row['cables'][kind]:,}", cable))
    out += aligned(links, ">12>7>7<", indent="  ", head=("links", "number", "cables", "max length"))
    if "stated_links" in row:
        stated = row["stated_links"]
        out.append(
            f"  stated    {stated['removed']:,} links removed and {stated['added']:,} added by `links`, not counted above"
        )
    up = f"leaf {' and '.join(f'{one:g}:1' for one in leaf_ratios(row))}" + (
        f", spine {ratio['spine']:g}:1" if ratio["spine"] is not None else ""
    )
    if row["tiers"]:
        out.append(f"  oversubscription  {up}")
    if row["bgp"]["sessions"]:
        out.append(f"  bgp       {phrase(row['bgp']['sessions'], more)}, {counted(row['bgp']['asns'], 'AS number')}")
    limit, of = row["limits"], f", {words}" if (words := limit_words(row)) else ""
    out.append(f"  limit     {limit['max_servers']:,} servers {'at' if row['tiers'] else 'with'} {tiers}{of}")
    if "planned" in row:
        final = row["planned"]
        counts = ", ".join(f"{number:,} {tier}" for tier, number in final["switches"].items() if number)
        out.append(f"  planned   {final['servers']:,} servers: {counts}; leaf {final['oversubscription']['leaf']:g}:1")
    return out


def services(fabric: FabricPlan) -> list[str]:
    """What rides on a fabric: tenants with their server ports, and the lossless class with what it takes of the buffers."""
    out = []
    tenancy = fabric.tenancy
    if tenancy.tenants:
        count = Counter(tenancy.owner.tolist())
        parts = [f"{tenant.name} {counted(count[index], 'port')}" for index, tenant in enumerate(tenancy.tenants)]
        fate = "shut" if fabric.spec.ethernet else "without a tenant"
        shut = f", {count[CLOSED]:,} {fate}" if count[CLOSED] else ""
        number = f", {len(parts):,} tenants" if len(parts) > MAX_LISTED else ""
        kinds = {
            "none": "one table",
            "evpn": "EVPN/VXLAN",
            "vrf-lite": "VRF-lite",
            "acl": "filters",
            "partitions": "partitions",
        }
        how = f"bridged to fabric {fabric.spec.below.fabric}" if fabric.spec.below else kinds[tenancy.kind]
        out.append(f"  tenants   {how}{number}: {listed(parts, MAX_LISTED)}{shut}")
    if fabric.lossless:
        shares, unknown = list[str](), list[str]()
        for (role, group), role_qos in fabric.lossless.roles.items():
            who = f"a {role}" + (f" of {group}" if group and len(fabric.spec.groups) > 1 else "")
            buffer = role_qos.qos.buffer
            if total := buffer.total_bytes:
                shares.append(f"{buffer.reserved_bytes / total:.0%} of {who}")
            else:
                unknown.append(who)
        qos = next(iter(fabric.lossless.roles.values())).qos
        notes = [f"headroom in the buffer: {listed(shares, MAX_LISTED)}"] if shares else []
        notes += [f"no buffer size is known of {' and '.join(unknown)}"] if unknown else []
        out.append(f"  lossless  priority {qos.priority}, DSCP {qos.dscp}; {'; '.join(notes)}")
    return out
