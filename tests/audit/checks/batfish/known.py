"""The lines that a real Batfish server was shown, with names and numbers left out: `known_lines/TARGET.txt`.

A line of a template that is neither among them nor in `allow.yaml` was never shown to Batfish.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from fabric import pipeline
from fabric.audit.checks.batfish.client import view_of
from fabric.audit.checks.batfish.parsing import reason
from fabric.model.plan import SWITCH_ROLES, Device, FabricPlan, Plan
from fabric.nos.batfish import JOIN, Context, Copies, contexts
from tests import ROOT
from tests.audit.checks.batfish.helpers import DESIGNS, SWITCHES, small_intent

KNOWN = Path(__file__).parent / "known_lines"
EXAMPLES = tuple(sorted(path.stem for path in (ROOT / "intent").glob("*.yaml")))
SKIPPED = "!#}]/"  # a line that begins so says nothing
WARNED = "allow.yaml"
FEW = 2  # switches of a role that are all looked at
HEAD = """\
# The lines of {nos} files that a Batfish server was shown, behind their blocks; <name>, <ip>, <mac>, <n> are what differs.
# Written by `python -m tests.audit.checks.batfish.record HOST known` from a server's answers about the examples of `intent/`
# and the small sites of `helpers.py`. `# allow.yaml`: the server warned of the line, and the list says why that is no
# finding. A line that was looked up in Batfish's grammar instead says so behind `#`.
"""
_PLACES = (
    (re.compile(r"\b(description|alias|contact|location) .*"), r"\1 <text>"),
    (re.compile(r'("(?:description|alias)": )".*"'), r"\1<text>"),
    (re.compile(r"\b[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5,9}\b|\b[0-9a-f]{4}(\.[0-9a-f]{4}){2}\b"), "<mac>"),
    (re.compile(r"\b[0-9a-f]{0,4}(:[0-9a-f]{0,4}){2,7}(/\d+)?(?![\w:])"), "<ip6>"),
    (re.compile(r"\b\d+\.\d+\.\d+\.\d+(/\d+)?"), "<ip>"),
    (re.compile(r"(?<![A-Za-z0-9_])\d+(\.\d+)?"), "<n>"),
    (
        re.compile(
            r"\b(Ethernet|Port-Channel|port-channel|PortChannel|Vlan|vlan|[Ll]oopback|lo|eth|swp|bond|vni|ae|Management|mgmt|nve"
            r"|Vxlan|et|re)(-?)\d+"
        ),
        r"\1\2<n>",
    ),
    (re.compile(r"(?<=\bswp<n>s)\d+\b"), "<n>"),
    (re.compile(r"\b((?:bond|swp|vni)<n>(?:s<n>)?)( \1(?!\S))+"), r"\1…"),
    (re.compile(r"-\d+([GM])\b"), r"-<n>\1"),
    (re.compile(r"<n>([,:/-]<n>)+"), "<n>"),
    (re.compile(r"<n>( <n>)+"), "<n>…"),
)


def names_of(plan: Plan) -> re.Pattern[str]:
    """What an intent may call as it likes."""
    found = {plan.site, *plan.fabrics}
    for fabric in plan.fabrics.values():
        found |= {device.name for device in fabric.devices}
        for tenant in fabric.tenancy.tenants:
            found |= {tenant.name, *(network.name for network in tenant.networks)}
    words = "|".join(re.escape(name) for name in sorted(found, key=lambda name: (-len(name), name)))
    return re.compile(rf"(?<![A-Za-z0-9])({words})(?![A-Za-z0-9])")


def normal(line: str, names: re.Pattern[str]) -> str:
    """A line behind its blocks, without what differs from site to site."""
    line = names.sub("<name>", line)
    for pattern, place in _PLACES:
        line = pattern.sub(place, line)
    return line


def lines_of(copies: Copies, names: re.Pattern[str]) -> Iterator[tuple[str, int, Context, str, str]]:
    """(file, number, blocks, line, what of it is the same at every site) of all that Batfish gets of a switch."""
    for copy in copies.copies:
        for number, (context, line) in enumerate(zip(contexts(copy.lines), copy.lines, strict=True), 1):
            text = line.strip()
            if text and text[0] not in SKIPPED:
                yield copy.path, number, context, text, normal(JOIN.join((*context, text)), names)


def is_allowed(copies: Copies, context: Context, text: str) -> bool:
    """Whether the list of lines that Batfish does not know has this one."""
    forms = _set_forms(context, text) if copies.nos == "junos" else ()
    return any(reason(copies.nos, "lines", form, context) for form in (text.rstrip(";"), *forms))


def _set_forms(context: Context, text: str) -> Iterator[str]:
    """A line of Junos as Batfish has it in a warning: one `set` for each word of a list."""
    heads = [head.removesuffix(" {") for head in context]
    for statement in filter(None, (part.strip() for part in text.rstrip(";").split(";"))):
        before, bracket, rest = statement.partition("[")
        for word in rest.partition("]")[0].split() if bracket else [""]:
            yield " ".join(["set", *heads, (before + word).strip()])


@cache
def known(nos: str) -> frozenset[str]:
    """The recorded lines of a target."""
    lines = (KNOWN / f"{nos}.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(line.partition("  # ")[0] for line in lines if not line.startswith("#"))


def intents(folder: Path) -> Iterator[tuple[str, Path]]:
    """Every example, and the small site on every network OS and of every design."""
    for name in EXAMPLES:
        yield name, ROOT / "intent" / f"{name}.yaml"
    for nos in SWITCHES:
        for design in DESIGNS:
            yield f"small {nos} {design}", small_intent(folder / f"{nos}-{design}.yaml", nos, design)


def switches(path: Path, folder: Path) -> tuple[Plan, Iterator[Copies]]:
    """The plan of an intent, and what Batfish gets of its switches: of a large fabric, of the first and the last of each role
    and of every border leaf."""
    intent = pipeline.load(path, folder)
    plan = pipeline.plan(intent)
    renderer = pipeline.render(plan, intent)

    def made() -> Iterator[Copies]:
        for job in renderer.jobs(lambda name: name in chosen):
            files = {path: data.decode() for path, data in renderer.files(job)}
            view = view_of(job.device.nos)
            assert view is not None
            yield Copies(
                device=job.device.name,
                nos=job.device.nos,
                files=files,
                copies=tuple(view.reads(job.device.name.lower(), files)),
            )

    chosen = {device.name for fabric in plan.fabrics.values() for device in _sample(fabric)}
    return plan, made()


def _sample(fabric: FabricPlan) -> Iterator[Device]:
    border = {int(fabric.links.b[way.link]) for way in fabric.tenancy.external_connections}
    for role in SWITCH_ROLES:
        devices = [device for device in fabric.switches if device.role == role and view_of(device.nos)]
        yield from devices if len(devices) <= FEW else (*devices[:1], *devices[-1:])
        yield from (device for device in devices if device.index in border)


def write_known(lines: Mapping[str, Iterable[str]], warned: Mapping[str, Container[str]]) -> None:
    """Writes the lists: all lines by target, and those of them that the server warned of."""
    KNOWN.mkdir(exist_ok=True)
    for nos, found in lines.items():
        marked = (f"{line}  # {WARNED}" if line in warned[nos] else line for line in found)
        (KNOWN / f"{nos}.txt").write_text(
            HEAD.format(nos=nos) + "".join(f"{line}\n" for line in sorted(marked)), encoding="utf-8"
        )
