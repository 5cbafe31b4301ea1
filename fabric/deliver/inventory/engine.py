"""Brings a server in step with what is wanted: finds by natural key, creates and changes in batches, deletes on demand.

Works through any client with endpoints that can `filter`, `create`, `update` and `delete` lists: pynetbox and pynautobot.
What is in step is not touched, so a second run changes nothing. Nothing that lacks the tag is ever deleted, and nothing
that others have made is tagged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Annotated, Any

from fabric.base.diagnostics import Diagnostic, InputError, MissingError, Place
from fabric.base.schemas.models import Count, Document, Text, enum_of, json_key, old_name
from fabric.deliver.inventory.records import Item, Key, NameFilter, Ref, Row, Table, Term

TAG = "fabricwright"
ACTION = enum_of(("create", "update", "delete"))
PAGE = 1000  # objects a page: the default maximum of both servers
MAX_URL_VALUES = 50
Advance = Callable[[str, int], None]  # table, objects done


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of one object."""

    table: str
    key: Key
    what: str  # "create" | "update" | "delete"
    fields: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)  # as it is and as it is to be


@dataclass
class Tally:
    """How many objects of a table were made, changed, left, deleted."""

    created: Count = 0
    updated: Count = 0
    unchanged: Count = 0
    deleted: Count = 0

    @property
    def changes(self) -> int:
        return self.created + self.updated + self.deleted


@dataclass
class Pushed:
    """What a push did, or would do."""

    tallies: dict[str, Tally] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)

    @property
    def total(self) -> int:
        return sum(tally.changes for tally in self.tallies.values())


class FieldDocument(Document):
    """Of (as it is, as it is to be)."""

    old: Any = json_key(of=0)
    new: Any = json_key(of=1)
    from_: Any = old_name("old", 0, alias="from")
    to: Any = old_name("new", 1)


class ChangeDocument(Document):
    action: Annotated[str, ACTION] = json_key(of="what")
    what: Annotated[str, ACTION] = old_name("action", "what")
    table: Text
    key: list[Any]
    fields: dict[str, FieldDocument]


class PushDocument(Document):
    dry_run: bool
    tables: dict[str, Tally]
    changes: list[ChangeDocument]


class Engine:
    """One push to one server."""

    def __init__(self, api: Any, batch: int = 200, dry: bool = False, advance: Advance | None = None) -> None:
        self.api, self.batch, self.dry = api, batch, dry
        self.advance = advance or (lambda table, done: None)
        self.ids: dict[str, dict[Key, Any]] = {}  # table → key → id
        self.keys: dict[str, dict[Any, Key]] = {}  # and back
        self.foreign: dict[str, set[Key]] = {}  # objects that others have made
        self.rows: dict[str, dict[Key, Row]] = {}
        self.gone: dict[str, set[Any]] = {}  # table → ids of what was deleted, or would be in a dry run
        self.done = Pushed()

    def push(self, tables: Sequence[Table], tag: Ref, owner: Ref, prune: bool = False) -> Pushed:
        """Reads all, refuses what cannot be, deletes, then makes and changes table by table.

        `tag` marks all that is ours, `own` what is this site's alone. What is deleted goes first: a cable that moved must
        leave its port to the next one. Nothing is written before everything was found to be possible.
        """
        self.done.tallies = {table.name: Tally() for table in tables}
        for table in tables:
            if not table.patch:
                self._find(table, tag)
        gone = {table.name: self._gone(table, owner) if prune else [] for table in tables}
        for table in tables:
            self._refuse_others(table, owner)
            self._refuse_taken(table, gone[table.name])
        for table in reversed(tables):
            self._delete(table, gone[table.name])
        for table in tables:
            self._fall(table)
        for table in tables:
            if table.adopt:  # the server has made some since
                self._find(table, tag)
            self._table(table, tag, owner)
        return self.done

    def _table(self, table: Table, tag: Ref, owner: Ref) -> None:
        marks = [mark for mark in ((tag, owner) if table.own else (tag,)) if table.tagged]
        tally = self.done.tallies[table.name]
        new: list[Item] = []
        changed: list[tuple[Item, dict[str, Any]]] = []
        for item in table.items:
            have = self.rows[table.endpoint].get(item.key)
            if have is None:
                if not table.patch and not self._left_alone(table, item):
                    new.append(item)
                continue
            change = self._difference(table, item, have, marks)
            if change:
                changed.append((item, change))
            else:
                tally.unchanged += 1
        self._create(table, new, marks)
        self._update(table, changed)

    def _refuse_others(self, table: Table, address: Ref) -> None:
        """Two sites that both push the same address would change it back and forth for ever.

        The tag of another site tells, not the lack of ours: a user may have deleted that.
        """
        if not table.own:
            return
        rows = self.rows[table.endpoint]
        others = {
            number for key, number in self.ids[address.table].items() if key != address.key and key[-1].startswith(f"{TAG}-")
        }
        mine = self._value(address)
        marks = [(item.key, _tags(rows[item.key])) for item in table.items if item.key in rows]
        taken = [key for key, tags in marks if mine not in tags and not others.isdisjoint(tags)]
        if taken:
            message = f"{table.endpoint}: {len(taken):,} objects belong to another site, the first is {' '.join(taken[0])}"
            hint = "use separate `pools:` for every site, or a separate server"
            raise InputError([Diagnostic("FAB179", Place(self.api.base_url), message, hint)])

    def _refuse_taken(self, table: Table, gone: list[Key]) -> None:
        """A port holds one cable; an existing one is deleted only with --prune, and only if it is tagged as ours."""
        if table.ends is None:
            return
        rows = self.rows[table.endpoint]
        remaining = rows.keys() - gone - {item.key for item in table.items}
        taken = {end: key for key in sorted(remaining) for end in table.ends(key)}
        new = [item.key for item in table.items if item.key not in rows]
        blocked = [(key, taken[end]) for key in new for end in table.ends(key) if end in taken]
        if blocked:
            first, other = (" ".join(key) for key in blocked[0])
            message = (
                f"{table.endpoint}: {len(blocked):,} objects occupy ports of planned objects, "
                f"the first is {other}: expected {first}"
            )
            hint = "--prune deletes objects of earlier pushes of this site; delete other objects by hand"
            raise InputError([Diagnostic("FAB179", Place(self.api.base_url), message, hint)])

    def _left_alone(self, table: Table, item: Item) -> bool:
        owner = item.fields[table.part_of] if table.only_new else None
        return isinstance(owner, Ref) and owner.key in self.foreign.get(owner.table, set())

    def _find(self, table: Table, tag: Ref) -> None:
        """Reads what is there, a page of a thousand at a time."""
        rows: dict[Key, Row] = {}
        ids: dict[Key, Any] = {}
        for where in table.find:
            for row in self._read(table, where):
                key = self._key(table, row)
                if key is not None and key not in rows and row["id"] not in self.gone.get(table.name, ()):
                    rows[key], ids[key] = row, row["id"]
        self.rows[table.endpoint], self.ids[table.name] = rows, ids
        self.keys[table.name] = {value: key for key, value in ids.items()}
        mark = self.ids.get(tag.table, {}).get(tag.key)
        self.foreign[table.name] = {key for key, row in rows.items() if table.tagged and mark not in _tags(row)}

    def _read(self, table: Table, where: Mapping[str, Any]) -> list[Row]:
        resolved = {name: self._value(value) for name, value in where.items()}
        if any(value is None for value in resolved.values()):
            return []  # asks for parts of what is not there yet
        rows: list[Row] = []
        for part in _parts(resolved):
            rows += self._asked(table, partial(self._page, table, part))
        return rows

    def _page(self, table: Table, where: dict[str, Any]) -> list[Row]:
        endpoint = self._endpoint(table)
        return [dict(row) for row in (endpoint.filter(limit=PAGE, **where) if where else endpoint.all(limit=PAGE))]

    def _key(self, table: Table, row: Row) -> Key | None:
        if table.key_of is not None:
            return table.key_of(row)
        key: list[str] = []
        for name, of in table.key:
            value = row.get(name)
            if of:
                natural_key = self.keys.get(of, {}).get(_id(value))
                if natural_key is None and value is not None:
                    return None  # a part of something that is not ours to see
                key += natural_key or ("",)
            else:
                key.append("" if value is None else str(_choice(value)))
        return tuple(key)

    def _difference(self, table: Table, item: Item, have: Row, marks: list[Ref]) -> dict[str, Any]:
        """Fields that are not as wanted, ready to be sent."""
        changes = {}
        for name, planned in item.fields.items():
            value = self._value(planned)
            if not _same(value, have.get(name)):
                changes[name] = value
        if table.adopt or item.key not in self.foreign[table.name if not table.patch else self._of(table)]:
            wanted_tags = [self._value(mark) for mark in marks]
            if missing := [mark for mark in wanted_tags if mark not in _tags(have)]:
                changes["tags"] = [*_tags(have), *missing]
        return changes

    def _of(self, table: Table) -> str:
        """The table whose objects a second pass goes over."""
        return table.part_of

    def _create(self, table: Table, items: list[Item], marks: list[Ref]) -> None:
        tally, ids = self.done.tallies[table.name], self.ids.setdefault(table.name, {})
        for part in _batches(items, self.batch):
            self.done.changes += [Change(table.name, item.key, "create") for item in part]
            tally.created += len(part)
            if self.dry:
                continue
            bodies = [self._body(item, marks) for item in part]
            created = self._asked(table, partial(self._endpoint(table).create, bodies), part)
            rows = [dict(row) for row in (created if isinstance(created, list) else [created])]
            for item, row in zip(part, rows, strict=True):
                ids[item.key], self.keys[table.name][row["id"]] = row["id"], item.key
                self.rows[table.endpoint][item.key] = row
            if table.late_tags:
                bodies = [{"id": row["id"], "tags": [self._value(mark) for mark in marks]} for row in rows]
                self._asked(table, partial(self._endpoint(table).update, bodies), part)
            self.advance(table.name, len(part))

    def _body(self, item: Item, marks: list[Ref]) -> dict[str, Any]:
        body = {name: self._value(value) for name, value in {**item.fields, **item.once}.items()}
        return body | ({"tags": [self._value(mark) for mark in marks]} if marks else {})

    def _update(self, table: Table, changed: list[tuple[Item, dict[str, Any]]]) -> None:
        tally = self.done.tallies[table.name]
        for part in _batches(changed, self.batch):
            for item, change in part:
                have = self.rows[table.endpoint][item.key]
                was = {name: (_shown(have.get(name)), value) for name, value in change.items()}
                self.done.changes.append(Change(table.name, item.key, "update", was))
            tally.updated += len(part)
            if self.dry:
                continue
            bodies = [{"id": self.rows[table.endpoint][item.key]["id"], **change} for item, change in part]
            items = [item for item, _ in part]
            self._asked(table, partial(self._endpoint(table).update, bodies), items)
            self.advance(table.name, len(part))

    def _gone(self, table: Table, own: Ref) -> list[Key]:
        """What bears this site's tag and is not wanted any more."""
        if table.patch or not (table.own or table.joins):
            return []
        wanted = {item.key for item in table.items}
        return sorted(key for key in self.rows[table.endpoint] if key not in wanted and self._deletable(table, key, own))

    def _delete(self, table: Table, keys: list[Key]) -> None:
        """Parts go before what they are parts of, so tables come here backwards."""
        tally = self.done.tallies[table.name]
        for part in _batches(keys, self.batch):
            self.done.changes += [Change(table.name, key, "delete") for key in part]
            tally.deleted += len(part)
            numbers = [self.rows[table.endpoint].pop(key)["id"] for key in part]
            self.gone.setdefault(table.name, set()).update(numbers)
            if not self.dry:
                self._asked(table, partial(self._endpoint(table).delete, numbers))
                self.advance(table.name, len(part))

    def _fall(self, table: Table) -> None:
        """Forgets what the server deleted by itself, with what it was a part of."""
        if table.falls_with is None:
            return
        name, of = table.falls_with
        gone = self.gone.get(of, set())
        rows = self.rows[table.endpoint]
        for key in [key for key, row in rows.items() if _id(row.get(name)) in gone]:
            del rows[key], self.ids[table.name][key]

    def _deletable(self, table: Table, key: Key, own: Ref) -> bool:
        """Tagged as this site's own; of what has no tags, tied to something of ours."""
        if table.joins:
            return not any(key[: len(other)] == other for other in self.foreign[table.joins])
        mark = self._value(own)
        return mark is not None and mark in _tags(self.rows[table.endpoint][key])

    def _value(self, value: Any) -> Any:
        """References as ids; None of what is not there yet, which only a dry run sees."""
        if isinstance(value, Ref):
            return self.ids.get(value.table, {}).get(value.key)
        if isinstance(value, NameFilter):
            return None if self._value(value.of) is None else value.of.key[-1]
        if isinstance(value, Term):
            return {"object_type": value.type, "object_id": self._value(value.of)}
        if isinstance(value, list | tuple):
            return [self._value(one) for one in value]
        return value

    def _endpoint(self, table: Table) -> Any:
        app, _, name = table.endpoint.partition(".")
        return getattr(getattr(self.api, app), name)

    def _asked(self, table: Table, ask: Callable[[], Any], items: Sequence[Item] = ()) -> Any:
        """An answer of the server; its refusals and its absence as our own words."""
        import requests

        try:
            return ask()
        except requests.RequestException as error:
            raise MissingError(f"{self.api.base_url}: {type(error).__name__}: {error}") from None
        except Exception as error:
            if not hasattr(error, "req"):
                raise
            raise InputError([refusal(self.api.base_url, table, error, items, self.keys.get(table.name, {}))]) from None


def refusal(url: str, table: Table, error: Any, items: Sequence[Item], keys: Mapping[Any, Key]) -> Diagnostic:
    """What the server had against a request, with the first object that it refused; `keys` by id."""
    status = getattr(error.req, "status_code", 0)
    text, hint = str(getattr(error, "error", error))[:600], ""
    if status in (401, 403):
        hint = "use a token of this server with write permission"
    else:
        first = next(((key, answer) for key, answer in _by_object(error.req, items, keys) if answer), None)
        if first:
            text, hint = str(first[1])[:600], f"object {' '.join(first[0])}"
    return Diagnostic("FAB177", Place(url), f"{table.endpoint}: HTTP {status}: {text}", hint)


def _by_object(response: Any, items: Sequence[Item], keys: Mapping[Any, Key]) -> Iterator[tuple[Key, Any]]:
    """What is wrong with each object: a list in the order of the request, or that of NetBox 4.7 with an index or an id."""
    try:
        answers = response.json()
    except ValueError:
        return
    if isinstance(answers, list):
        yield from ((item.key, answer) for item, answer in zip(items, answers, strict=False))
    elif isinstance(answers, Mapping):
        for answer in answers.get("errors") or ():
            index = answer.get("index")
            key = items[index].key if isinstance(index, int) else keys.get(answer.get("id"))
            if key is not None:
                yield key, answer.get("errors")


def _parts(where: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A filter by a long list as several by short ones: the list stands in the URL."""
    long = next((name for name, value in where.items() if isinstance(value, list)), None)
    if long is None:
        yield where
        return
    for part in _batches((value for value in where[long] if value is not None), MAX_URL_VALUES):
        yield {**where, long: part}


def _batches(rows: Iterable[Any], size: int) -> Iterator[list[Any]]:
    left = iter(rows)
    while part := list(islice(left, size)):
        yield part


def _id(value: Any) -> Any:
    return value.get("id") if isinstance(value, Mapping) else value


def _choice(value: Any) -> Any:
    """What stands behind a choice or a reference."""
    if isinstance(value, Mapping):
        return value["value"] if "value" in value else value.get("id", value)
    return value


def _tags(row: Row) -> list[Any]:
    return [_id(tag) for tag in row.get("tags") or ()]


def _same(planned: Any, have: Any) -> bool:
    """Whether the server has what is wanted, whatever it dresses it in."""
    if isinstance(planned, list):
        return isinstance(have, list | tuple) and {_word(one) for one in planned} == {_word(one) for one in have}
    have = _choice(have)
    if isinstance(planned, int | float) and not isinstance(planned, bool) and isinstance(have, int | float | str):
        try:
            return abs(float(have) - planned) < 0.005
        except ValueError:
            return False
    return bool(have == planned or (planned in ("", None) and have in ("", None)))


def _word(value: Any) -> Any:
    """One of a list, comparable: of the end of a cable its type and id."""
    if isinstance(value, Mapping) and "object_id" in value:
        return value["object_type"], value["object_id"]
    return _choice(value)


def _shown(value: Any) -> Any:
    return [_choice(one) for one in value] if isinstance(value, list | tuple) else _choice(value)
