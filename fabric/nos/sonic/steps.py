"""A change of config_db.json as steps that a running SONiC takes, each valid by itself.

Every step leads from one document to the next, so what is typed follows from the documents: rows that must go first are
missing in one, ports that must be down are down in several. Between two of them the updater gets a patch of what it
takes; what it refuses is written into the database beside it.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fabric.base.formats import json_line
from fabric.base.text import listed
from fabric.nos.dialect import PATCH, RELOAD, TYPED, Operation, Step, json_lines, json_patch, keys_of
from fabric.nos.sonic.updater import Change, Rule, Tables, Updater, changes, updater, without

NAMED = 5  # ports, rows or reasons in a title
SECRET = re.compile(r"\$\{\w+\}")  # a reference in place of a password


@dataclass
class Stage:
    """A document on the way, and what leads to it."""

    title: str
    tables: Tables
    reasons: tuple[str, ...] = ()


@dataclass(kw_only=True)
class Needs:
    """What the daemons want of a change."""

    rows: dict[tuple[str, str], str] = field(default_factory=dict)  # (table, row) to remove and create again → reason
    unset: dict[tuple[str, str, str], str] = field(default_factory=dict)  # fields → reason
    defaults: dict[tuple[str, str, str], str] = field(default_factory=dict)  # fields → value
    ports: dict[str, str] = field(default_factory=dict)  # port to shut down meanwhile → reason
    services: dict[str, str] = field(default_factory=dict)
    console: dict[str, None] = field(default_factory=dict)
    reload: dict[str, list[str]] = field(default_factory=dict)  # reason → what changes


def steps(old: Tables, new: Tables) -> tuple[Step, ...]:
    """The steps from one config to another, in the order that they are typed; none where nothing differs.

    Args:
        old: tables of the switch, as far as they take part in the change.
        new: the same tables as planned.
    """
    rules, changed = updater(), list(changes(old, new))
    needs = _needs(rules, changed, old)
    if needs.reload:
        return (_reload(needs, json_patch(old, new)),)
    board = rules.asic(old.get("DEVICE_METADATA", {}).get("localhost", {}).get("hwsku", ""))
    out: list[Step] = []
    before = old
    for stage in _stages(rules, changed, needs, old, new):
        out += _between(rules, board, before, stage)
        before = stage.tables
    return (*out, *_restarts(needs))


def _needs(rules: Updater, changed: Iterable[Change], old: Tables) -> Needs:
    needs = Needs()
    for change in changed:
        if rule := rules.daemon(change):
            _need(needs, change, rule, old)
        if change.operation == "remove" and not change.field:  # a removed row releases its references first
            for name in old[change.table][change.row]:
                rule = rules.daemon(Change("replace", change.table, change.row, name))
                if rule and rule.way == "unset":
                    needs.unset[change.table, change.row, name] = rule.reason
    ports = old.get("PORT", {})
    needs.ports = {port: why for port, why in needs.ports.items() if ports.get(port, {}).get("admin_status") == "up"}
    return needs


def _need(needs: Needs, change: Change, rule: Rule, old: Tables) -> None:
    row = (change.table, change.row)
    if rule.way == "recreate":
        needs.rows[row] = rule.reason
    elif rule.way == "unset" and change.operation == "replace":
        needs.unset[*row, change.field] = rule.reason
    elif rule.way == "default" and old[change.table][change.row][change.field] != rule.value:
        needs.defaults[*row, change.field] = rule.value
    elif rule.way == "down":
        needs.ports[change.row.partition("|")[0]] = rule.reason
    elif rule.way == "restart":
        needs.services[rule.service] = rule.reason
    elif rule.way == "console":
        needs.console[rule.reason] = None
    elif rule.way == "reload":
        needs.reload.setdefault(rule.reason, []).append(change.line)


# --- documents on the way -----------------------------------------------------------------------------------


def _stages(rules: Updater, changed: Sequence[Change], needs: Needs, old: Tables, new: Tables) -> Iterator[Stage]:
    """The documents from the old to the new one, the new one last."""
    ready = _with_fields(_down(old, needs.ports), needs.defaults)
    if ready is not old:
        yield Stage(_ready_title(needs), ready, tuple(dict.fromkeys(needs.ports.values())))
    reasons, console = tuple(dict.fromkeys((*needs.rows.values(), *needs.unset.values()))), tuple(needs.console)
    if needs.rows or needs.unset or _in_turn(rules, changed, old, new):
        cleared, kept = _cleared(rules, changed, needs, ready)
        if cleared != ready:
            yield Stage("rows and fields go that cannot change in place", cleared, reasons)
        built = _down(_with_rows(new, kept), needs.ports)
        yield Stage("new rows and values", built, console)
        if kept:
            yield Stage("rows go that nothing refers to any more", _down(new, needs.ports))
    else:
        yield Stage("new rows and values", _down(new, needs.ports), console)
    if _down(new, needs.ports) is not new:
        yield Stage(f"ports come up: {listed(sorted(needs.ports, key=_natural), NAMED)}", new)


def _ready_title(needs: Needs) -> str:
    ports = f"ports go down: {listed(sorted(needs.ports, key=_natural), NAMED)}" if needs.ports else ""
    return "; ".join(part for part in (ports, "defaults for fields that go" if needs.defaults else "") if part)


def _natural(name: str) -> tuple[int, str]:
    return len(name), name


def _down(tables: Tables, ports: Iterable[str]) -> Tables:
    """The tables with these ports down; the same object where they are."""
    rows = tables.get("PORT", {})
    return _with_fields(tables, {("PORT", port, "admin_status"): "down" for port in ports if port in rows})


def _with_fields(tables: Tables, fields: Mapping[tuple[str, str, str], Any]) -> Tables:
    changed = {key: value for key, value in fields.items() if tables[key[0]][key[1]].get(key[2]) != value}
    out = dict(tables)
    for (table, row, name), value in changed.items():
        out[table] = {**out[table], row: {**out[table][row], name: value}}
    return out if changed else tables


def _with_rows(tables: Tables, rows: Mapping[tuple[str, str], Any]) -> Tables:
    out = dict(tables)
    for (table, row), value in rows.items():
        out[table] = {**out.get(table, {}), row: value}
    return out


def _cleared(
    rules: Updater, changed: Iterable[Change], needs: Needs, tables: Tables
) -> tuple[Tables, dict[tuple[str, str], Any]]:
    """The tables without what goes first, and the rows that go last because others refer to them until then."""
    removed = [change for change in changed if change.operation == "remove"]
    gone = {(change.table, change.row): None for change in removed if not change.field}
    fields = [(change.table, change.row, change.field) for change in removed if change.field]
    at_once = rules.in_turn - {table for table, _, _ in needs.unset}
    keep = [row for row in gone if row[0] not in at_once]
    out = without(tables, dict.fromkeys([*needs.rows, *gone]), [*fields, *needs.unset], keep)
    kept = {(table, row): out[table][row] for table, row in gone if row in out.get(table, {})}
    return out, kept


def _in_turn(rules: Updater, found: Sequence[Change], old: Tables, new: Tables) -> bool:
    """Whether removals must be in a patch before the additions."""
    by_table = Counter((change.table, change.operation) for change in found)
    if any(by_table[table, "remove"] and by_table[table, "add"] for table in rules.in_turn):
        return True
    lost = {_value(change, old) for change in found if change.operation == "remove"}
    return any(
        change.operation == "add" and change.table in rules.no_moves and _value(change, new) in lost for change in found
    )


def _value(change: Change, tables: Tables) -> str:
    row = tables[change.table][change.row]
    return json_line(row[change.field] if change.field else row, sort_keys=True)


# --- what is typed ------------------------------------------------------------------------------------------


def _between(rules: Updater, board: str, old: Tables, stage: Stage) -> Iterator[Step]:
    """Settings beside the patch come before it, removals after it: rows of the patch may refer to them."""
    reason = "; ".join(stage.reasons)
    patch: list[Operation] = []
    beside: dict[bool, list[tuple[Operation, str]]] = {True: [], False: []}
    for operation in json_patch(old, stage.tables):
        refused = rules.refusal(operation["op"], " / ".join(keys_of(operation)), board)
        if refused is None:
            patch.append(operation)
        else:
            beside[operation["op"] != "remove"].append((operation, refused))
    yield from _written(stage, old, beside[True])
    if patch:
        yield Step(PATCH, stage.title, reason, json_patch=tuple(patch))
    yield from _written(stage, old, beside[False])


def _written(stage: Stage, old: Tables, refused: Sequence[tuple[Operation, str]]) -> Iterator[Step]:
    if not refused:
        return
    operations = tuple(operation for operation, _ in refused)
    tables = listed(list(dict.fromkeys(keys_of(operation)[0] for operation in operations)), NAMED)
    why = "; ".join(dict.fromkeys(f"the updater refuses it: {reason}" for _, reason in refused))
    lines = tuple(line for operation in operations for line in _database(operation, old, stage.tables))
    yield Step(TYPED, f"{stage.title}, written into the database: {tables}", why, lines, operations)


def _database(operation: Operation, old: Tables, new: Tables) -> Iterator[str]:
    """Commands of an operation that the updater refuses."""
    table, *rest = keys_of(operation)
    if not rest:
        for row, fields in (operation.get("value") or old[table]).items():
            yield _row(table, row, None if operation["op"] == "remove" else fields)
    elif len(rest) == 1:
        yield _row(table, rest[0], operation.get("value"))
    elif operation["op"] == "remove":
        if not new[table][rest[0]]:
            yield _row(table, rest[0], {})
        name = rest[1] + "@" * isinstance(old[table][rest[0]][rest[1]], list)
        yield _command("HDEL", f"{table}|{rest[0]}", name)
    else:
        yield _row(table, rest[0], {rest[1]: new[table][rest[0]][rest[1]]})


def _row(table: str, row: str, fields: Mapping[str, Any] | None) -> str:
    """A list is one value with commas and an `@` at its name; a row without fields has the field NULL."""
    if fields is None:
        return _command("DEL", f"{table}|{row}")
    words: list[str] = []
    for name, value in fields.items():
        words += (f"{name}@", ",".join(map(str, value))) if isinstance(value, list) else (name, str(value))
    return _command("HSET", f"{table}|{row}", *(words or ("NULL", "NULL")))


def _command(word: str, *rest: str) -> str:
    return shlex.join(["sudo", "sonic-db-cli", "CONFIG_DB", word, *rest])


def _restarts(needs: Needs) -> Iterator[Step]:
    for service, reason in needs.services.items():
        lines = (f"sudo systemctl reset-failed {service}", f"sudo systemctl restart {service}")
        yield Step(TYPED, f"{service} starts again", reason, lines)


def _reload(needs: Needs, patch: Sequence[Operation]) -> Step:
    reasons = [f"{reason} ({listed(lines, 2)})" for reason, lines in needs.reload.items()]
    return Step(RELOAD, "every service starts again, traffic stops", "; ".join(reasons), json_patch=tuple(patch))


def script(all_steps: Sequence[Step]) -> list[str]:
    """The steps as lines for the shell of the switch."""
    lines: list[str] = []
    for at, step in enumerate(all_steps, 1):
        lines.append(f"# step {at} of {len(all_steps)}, {step.kind}: {step.title}")
        lines += [f"# {step.reason}"] if step.reason else []
        secrets = sorted(set(SECRET.findall(json_line(step.json_patch))))
        lines += [f"# {', '.join(secrets)}: write the value in its place"] if secrets else []
        name = f"step{at}.json"
        document = [f"cat > {name} <<'EOF'", *json_lines(step.json_patch), "EOF"]
        if step.kind == PATCH:
            lines += [*document, f"sudo config apply-patch {name}"]
        elif step.kind == RELOAD:
            file = "/etc/sonic/config_db.json"
            lines += ["sudo config save -y", *document, f"sudo jsonpatch -b -i {file} {name}", "sudo config reload -y"]
        else:
            lines += step.commands
    return lines
