"""The content of a diff, as blocks that text and Markdown print: tables, lists, and folded commands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from fabric.audit.diff import traffic_impact
from fabric.audit.diff.compare import Diff, Figure
from fabric.audit.diff.configs import FileChange
from fabric.audit.diff.design import Change, FabricChange
from fabric.audit.diff.groups import Group, groups
from fabric.audit.diff.recabling import LAY
from fabric.base.formats.blocks import Fold, Notes, Section, Table, cut_table
from fabric.base.grouping import grouped
from fabric.base.text import and_more, listed, plural

MAX_ROWS = 20  # of a table or list; JSON has all


def sections(diff: Diff) -> list[Section]:
    """All that differs; nothing where nothing does."""
    if diff.same:
        return []
    result = [
        Section("Summary", (Notes("", tuple(_summary(diff))),)),
        Section("In service", tuple(traffic_impact.blocks(diff))),
    ]
    if diff.design.settings:
        result.append(Section("Intent", (_changes("", "key", diff.design.settings),)))
    for fabric in diff.design.fabrics:
        if fabric.state != "same":
            word = "" if fabric.state == "changed" else f" ({fabric.state})"
            result.append(Section(f"Fabric {fabric.name}{word}", tuple(_fabric(fabric))))
    result.append(Section("New links", tuple(_new_links(diff))))
    if diff.capacity.figures or diff.capacity.left_out:
        result.append(Section("Capacity and time", tuple(_capacity(diff))))
    if diff.with_configs:
        result.append(Section("Configs", tuple(_configs(diff))))
    return [section for section in result if section.blocks]


# --- words --------------------------------------------------------------------------------------------------


def _value(value: Any) -> str:
    """A count or a measure."""
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else _word(value)


def _word(value: Any) -> str:
    """What is no count: a name, a number that is one, a list of them."""
    if value is None or value == "":
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_word, value)) or "–"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _step(row: Change) -> str:
    """+8 or -8, where numbers are counted."""
    if all(isinstance(value, int) and not isinstance(value, bool) for value in (row.old, row.new)):
        return f"{row.new - row.old:+,}"
    return ""


# --- summary ------------------------------------------------------------------------------------------------

HEADLINES = ("servers", "GPUs", "leaves", "spines", "cores", "tenants")
HEADLINE_BYTES = " of 1G"


def _summary(diff: Diff) -> Iterator[str]:
    """The few lines that a reviewer reads first, what is in service before what is new."""
    if diff.state != "changed":
        side, other = (diff.old, diff.new) if diff.state == "added" else (diff.new, diff.old)
        yield f"the whole site {'is added' if diff.state == 'added' else 'is removed'}: it is in {other}, not in {side}"
    yield from traffic_impact.headlines(diff)
    for fabric in diff.design.fabrics:
        yield from _headline(fabric)
    if new := len(diff.design.recabling.of(LAY)):
        yield f"links: {new:,} to lay"
    yield from _times(diff)
    if diff.with_configs:
        states = [change.state for change in diff.devices]
        words = {"changed": "changed", "added": "new", "removed": "gone", "replaced": "with a changed model or network OS"}
        parts = [f"{states.count(state):,} {word}" for state, word in words.items() if state in states]
        limit = f" (of those that match {diff.limit})" if diff.limit else ""
        yield f"configs of switches{limit}: {', '.join(parts) or 'none changed'}"


def _times(diff: Diff) -> Iterator[str]:
    """The two collectives at 1 GiB, or at the largest size that differs, packed and spread."""
    figures = [figure for figure in diff.capacity.figures if figure.placement and figure.differs]
    kinds: dict[tuple[str, str, str], list[Figure]] = {}
    for figure in figures:
        kinds.setdefault((figure.fabric, figure.what.partition(" ")[0], figure.placement), []).append(figure)
    for rows in kinds.values():
        best = next((figure for figure in rows if HEADLINE_BYTES in f"{figure.what},".partition(",")[0]), rows[-1])
        if best.old is not None and best.new is not None:
            title = best.what if best.placement in best.what else f"{best.what}, {best.placement}"
            yield f"{best.fabric}: {title}: {_value(best.old)} → {_value(best.new)} ms ({_percent(best)})"


def _headline(fabric: FabricChange) -> Iterator[str]:
    if fabric.state == "same":
        return
    counts = {row.what: row for row in fabric.counts}
    parts = [_arrow(counts[name]) for name in HEADLINES if name in counts]
    parts += [f"{plural(len(fabric.renamed), 'switch', 'switches')} renamed"] if fabric.renamed else []
    if fabric.state in ("added", "removed"):
        side = "new" if fabric.state == "added" else "old"
        parts = [f"{getattr(counts[name], side):,} {name}" for name in HEADLINES if name in counts]
        yield f"fabric {fabric.name} {'is added' if side == 'new' else 'is removed'}: {', '.join(parts)}"
    elif parts:
        yield f"{fabric.name}: {', '.join(parts)}"
    else:
        kinds = {
            **{f"{row.what} {_value(row.old)} → {_value(row.new)}": (row,) for row in fabric.counts[:3]},
            "switches": fabric.switches,
            "addresses": fabric.subnets,
            "tenants": fabric.tenants,
            "lossless class": fabric.lossless,
        }
        yield f"{fabric.name}: changes in {', '.join(word for word, changes in kinds.items() if changes)}"


def _arrow(row: Change) -> str:
    return f"{_value(row.old)} → {_value(row.new)} {row.what}"


# --- design -------------------------------------------------------------------------------------------------


def _fabric(fabric: FabricChange) -> Iterator[Table | Notes]:
    if fabric.counts:
        rows = tuple((row.what, _value(row.old), _value(row.new), _step(row)) for row in fabric.counts)
        yield Table("", ("", "before", "after", ""), rows)
    changes = [f"{word}: {listed(names)}" for word, names in (("added", fabric.added), ("removed", fabric.removed)) if names]
    changes += [f"renamed: {old} → {new}" for old, new in fabric.renamed[:MAX_ROWS]]
    changes += [f"renamed: {and_more(len(fabric.renamed) - MAX_ROWS)}"] if len(fabric.renamed) > MAX_ROWS else []
    if changes:
        yield Notes("Switches", tuple(changes))
    if fabric.switches:
        alike = grouped(((row.what, row.old, row.new), row.switch) for row in fabric.switches)
        rows = tuple((listed(who), setting, _word(old), _word(new)) for (setting, old, new), who in alike.items())
        yield cut_table("Changed switches", ("switch", "", "before", "after"), rows, MAX_ROWS)
    if fabric.tenants:
        yield _changes("Tenants", "", fabric.tenants)
    if fabric.lossless:
        yield _changes("Lossless class", "", fabric.lossless, _value)
    if fabric.subnets:
        yield _changes("Links with changed addresses", "lower end", fabric.subnets)


def _changes(title: str, name: str, changes: Sequence[Change], shown: Callable[[Any], str] = _word) -> Table:
    rows = tuple((row.what, shown(row.old), shown(row.new)) for row in changes)
    return cut_table(title, (name, "before", "after"), rows, MAX_ROWS)


def _new_links(diff: Diff) -> Iterator[Table | Notes]:
    counts = {key: number for key, number in diff.design.recabling.by_fabric.items() if key[2] == LAY}
    if counts:
        rows = tuple((fabric, kind, f"{number:,}") for (fabric, kind, _), number in counts.items())
        yield Table("", ("fabric", "kind", "to lay"), rows)
        yield from traffic_impact.samples(diff, LAY)


# --- capacity -----------------------------------------------------------------------------------------------


def _capacity(diff: Diff) -> Iterator[Table | Notes]:
    rows = tuple(
        (figure.fabric, figure.what, _value(figure.old), _value(figure.new), figure.unit, _percent(figure))
        for figure in diff.capacity.figures
        if figure.differs
    )
    if rows:
        yield Table("", ("fabric", "", "before", "after", "", ""), rows)
    moved = {row[0] for row in rows}
    still = [name for name in dict.fromkeys(figure.fabric for figure in diff.capacity.figures) if name not in moved]
    timed = dict.fromkeys(figure.fabric for figure in diff.capacity.figures if figure.placement and figure.differs)
    lines = [text for name in timed for text in _routing(name, *diff.capacity.routing[name])]
    lines += [f"{name}: bisection, throughput and times, packed and spread, are unchanged" for name in still]
    lines += [
        f"{name}: too large for capacity figures in this report, run `fabric capacity`" for name in diff.capacity.left_out
    ]
    if lines:
        yield Notes("", tuple(lines))


def _routing(fabric: str, old: str, new: str) -> Iterator[str]:
    """What the times of a fabric assume."""
    if old or new:
        how = new or old if not (old and new) or old == new else f"{old} → {new}"
        yield f"{fabric}: times of a packed job where no placement is named; routing as planned: {how}"


def _percent(figure: Figure) -> str:
    return "" if figure.percent is None else f"{figure.percent:+.1f} %"


# --- configs ------------------------------------------------------------------------------------------------

ALIKE = "alike: equal except for names, ports, addresses and AS numbers"
STATES = {
    "added": "added, with all configs: {names}",
    "removed": "removed, with all configs: {names}",
    "replaced": "model or NOS changed, whole configuration replaced: {names}",
}


def _configs(diff: Diff) -> Iterator[Notes | Fold]:
    whole = {state: [change.device for change in diff.devices if change.state == state] for state in STATES}
    lines = [STATES[state].format(names=listed(found)) for state, found in whole.items() if found]
    found = groups((change for change in diff.devices if change.state == "changed"), diff.names)
    lines += [ALIKE] if any(not group.same for group in found) else []
    if lines:
        yield Notes("", tuple(lines))
    for group in found:
        for file in group.first.files:
            yield Fold(f"{_who(group)}: {file.path}, {file.form.title}", file.form.language, file.lines, _size(file))


def _who(group: Group) -> str:
    """`backend-leaf001 and 31 alike (backend-leaf002, …)`."""
    first, others = group.names[0], group.names[1:]
    if not others:
        return first
    return f"{first} and {len(others):,} {'the same' if group.same else 'alike'} ({listed(others, 3)})"


def _size(file: FileChange) -> str:
    """What a long change touches: tables of a document, else lines."""
    if not file.steps:
        return plural(len(file.lines), "line")
    signs = {"add": "+", "remove": "−", "replace": "±"}
    count: dict[str, Counter[str]] = {}
    for operation in file.json_patch:
        count.setdefault(operation["path"].split("/")[1], Counter())[signs[operation["op"]]] += 1
    return ", ".join(f"{table} {' '.join(f'{sign}{number}' for sign, number in row.items())}" for table, row in count.items())
