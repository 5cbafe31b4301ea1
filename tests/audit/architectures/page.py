"""The page `docs/architectures.md`, with figures of a checkout of the published repository."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from tests.audit.architectures import links
from tests.audit.architectures.compare import Compared, by_reason, reasons
from tools.docs.ending import ending

HEAD = """\
# NVIDIA's enterprise reference architectures

Three architectures of [NVIDIA/enterprise-ras](https://github.com/NVIDIA/enterprise-ras) (commit `6c19a59`, `spectrum-era/`)
are examples in `intent/`, each in {lines} lines: [`era-2-4-3-200`](../intent/era-2-4-3-200.yaml),
[`era-2-8-5-200`](../intent/era-2-8-5-200.yaml) and [`era-2-8-9-400`](../intent/era-2-8-9-400.yaml). A name counts CPUs, GPUs
and NICs of a server, and the Gb/s that a GPU has between servers. Each is one [converged pair](howto/converged.md) of SN5600
for GPUs, front end, support servers, storage and the customer's edge, with [out-of-band switches](howto/oob.md) SN2201 below
it. The repository has the topology with every cable and the exported NVUE files of all switches (Cumulus Linux 5.13).

```console
$ git clone https://github.com/NVIDIA/enterprise-ras && git -C enterprise-ras checkout 6c19a59
$ python -m tests.audit.architectures --published enterprise-ras
```

compares both with what the examples generate. It exits with 1 if a group of links differs, or a statement differs for no
reason of the table below. `--forms` prints every form of statement that differs.
"""
END = ending(
    "python -m tests.audit.architectures --published DIR --page",
    "[How do I connect everything to one pair of switches?](howto/converged.md): such a design as an intent.",
    "[import.md](import.md#nvidias-enterprise-reference-architectures): the published configs as an intent.",
)

LINKS = """
## Links

Links by kind of device and switch, in the topology file and in `links.csv`: number, speed and ends are equal.
`tests/audit/architectures` holds the numbers and tests them without the published files. The 1G ports of servers are dealt
out to the out-of-band switches in turns that begin at another switch: on one of them the two differ by at most one port of a
kind of server.
"""

SWITCHES = """
Beside these the plan has the management ports of the out-of-band switches, each cabled to its neighbor. Left out are links of
the simulation: its servers of DHCP and Ansible, and links from the edge to out-of-band switches, most of them in ports 53 to
61, which an SN2201 does not have.

## Statements

Statements of NVUE are compared by form: a port stands for what it is cabled to; names of lists, addresses and texts are left
out. Ports without a cable and histograms are most of what the published files have more; thresholds, descriptions, MTU and
policies are most of what the plan has more.
"""

REASONS = """
## Every difference, and why

Statements that only one side has, or has more of, over all switches of the three architectures. None is without a reason.
"""


def page(compared: Mapping[str, Sequence[Compared]], lines: int) -> str:
    """The page, as Markdown."""
    parts = [HEAD.format(lines=lines), LINKS, *_links(), SWITCHES, *_switches(compared), REASONS]
    return "".join((*parts, *_reasons([one for its in compared.values() for one in its]), "\n", END))


def _table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    def cells(row: Sequence[object]) -> str:
        return "| " + " | ".join(f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row) + " |\n"

    return ["\n", cells(heads), "|" + "---|" * len(heads) + "\n", *map(cells, rows)]


def _links() -> list[str]:
    names = list(links.PUBLISHED)
    kinds = sorted(
        {(group.kind, group.speed_gbps) for its in links.PUBLISHED.values() for group in its}, key=lambda k: (-k[1], k)
    )

    def numbers(kind: str, speed: int, name: str) -> str:
        ends = {g.switch: n for g, n in sorted(links.PUBLISHED[name].items()) if (g.kind, g.speed_gbps) == (kind, speed)}
        return ", ".join(f"{n} {switch}" for switch, n in ends.items()) or "-"

    rows = [(kind, f"{speed}G", *(numbers(kind, speed, name) for name in names)) for kind, speed in kinds]
    return _table(("kind", "speed", *names), rows)


def _switches(compared: Mapping[str, Sequence[Compared]]) -> list[str]:
    rows = [
        (name, one.switch, one.published.total(), one.planned.total(), one.shared)
        for name, its in compared.items()
        for one in its
    ]
    total = [sum(row[at] for row in rows) for at in (2, 3, 4)]
    return _table(("architecture", "switch", "published", "planned", "in both"), [*rows, ("all", "", *total)])


def _reasons(compared: Sequence[Compared]) -> list[str]:
    total: Counter[tuple[str, str]] = Counter()
    for one in compared:
        total += by_reason(one)
    rows = [
        (reason.name, total[reason.name, "published"], total[reason.name, "planned"], reason.text) for reason in reasons()
    ]
    return _table(("difference", "published more", "planned more", "why"), rows)
