"""The candidate configuration of a Junos switch: what it does with `set`, `delete`, `insert`, `activate`, what it refuses.

It reads configs and commands with its own code and by the nodes of `tests/reference/junos_candidate.yaml`, so that it shares
nothing with what writes the commands. FACTS is what it takes for true, as the table of `docs/targets/junos.md`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any

import yaml

from tests import ROOT

TABLE = ROOT / "tests" / "reference" / "junos_candidate.yaml"
TOKEN = re.compile(r'/\*.*?\*/|\#[^\n]*|"(?:[^"\\]|\\.)*"|[{};\[\]]|(?:\$\{\w+\}|[^\s{};\[\]"#])+', re.DOTALL)
WORD = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s"]+')
SPECIAL = re.compile(r"[;{}()|&^$!?<>'\\#\[\]]")  # in a word without quotation marks
KEYWORDS = {"exact", "orlonger", "longer", "add", "delete", "set", "+", "-", "="}  # of a choice without a value
ORDERED = {
    "term",
    "radius-server",
    "tacplus-server",
    "import",
    "export",
    "vrf-import",
    "vrf-export",
    "fill-level",
    "drop-probability",
    "input-list",
    "output-list",
    "authentication-order",
}
NAMES = {  # what a statement refers to → where it is defined: `junos:must` of the models, Junos OS guides of the statement
    "import": "policy-options policy-statement",
    "export": "policy-options policy-statement",
    "vrf-import": "policy-options policy-statement",
    "vrf-export": "policy-options policy-statement",
    "route-filter-list": "policy-options route-filter-list",
    "source-prefix-list": "policy-options prefix-list",
    "policer": "firewall policer",
    "scheduler-map": "class-of-service scheduler-maps",
    "scheduler": "class-of-service schedulers",
    "drop-profile": "class-of-service drop-profiles",
    "802.3ad": "interfaces",
}


YANG = "Juniper/yang@2a696d624, 23.4R2-EVO and 24.4R1-EVO"
XML = "Junos XML Protocol Guide"
FACTS = (  # (what the model does, source; "" for none)
    ("the nodes: container, list and its keys, leaf, leaf-list, choice", YANG),
    ("`ether-options 802.3ad`, `buffer-partition`, `dedicated-buffer`: not in these models", ""),
    ("`set` gives a leaf another value", "RFC 7950, 7.6"),
    ("`set` adds a value or an element at the end", f'RFC 7950, 7.7; {XML}, "Reorder Elements in Configuration Data"'),
    ("one case of a choice takes the place of the others", "RFC 7950, 7.9"),
    ("`delete` takes a node with all that is below it", "Junos OS 13.2, command `delete`"),
    ("a value of a list is deleted by the value, an element by its keys", f'{XML}, "Delete Elements in Configuration Data"'),
    ("`delete` of a leaf with its value is refused, as is that of a list without a key", ""),
    ("`delete` of what is not there is a warning of Junos (from memory), refused by the model", ""),
    ("an empty container does not stay, one with presence and an element do", "RFC 7950, 7.5.1"),
    (
        "`insert` moves an element of an ordered list before or after another one",
        f'{XML}, "Reorder Elements in Configuration Data"',
    ),
    (
        "`deactivate` keeps a statement without effect, `activate` ends that",
        'Junos OS 13.2, "Deactivating and Reactivating Statements and Identifiers"',
    ),
    ("values with blanks or signs of the command line stand in quotation marks (from memory)", ""),
    ("`groups` has the nodes of the root, `apply-groups` may stand in every node", f"{YANG}, `apply-advanced`"),
    ("`commit check` sees the state after all lines (from memory)", ""),
    (
        "… policies, lists, policers, schedulers and bonds that are referred to are there",
        f"{YANG}, `junos:must`, where it has one",
    ),
    ("… an interface is in one routing instance (from memory)", ""),
)


class Refused(Exception):
    """What the device answers."""


@dataclass(frozen=True)
class Spec:
    """A node of the models."""

    kind: str
    keys: tuple[str, ...] = ()
    choice: str = ""
    case: str = ""


@dataclass
class Item:
    """A node of a configuration."""

    spec: Spec
    values: list[str] = field(default_factory=list)
    below: dict[tuple[str, ...], Item] = field(default_factory=dict)


Step = tuple[tuple[str, ...], str, Spec, tuple[str, ...]]  # identity, path in the models, spec, values
EVERYWHERE = {"apply-groups": Spec("leaf-list"), "apply-groups-except": Spec("leaf-list")}


@cache
def specs() -> dict[str, dict[str, tuple[str, Spec]]]:
    """Path of a node → its children by name, with their own paths."""
    found: dict[str, dict[str, tuple[str, Spec]]] = {"": {}}
    document: dict[str, dict[str, str]] = yaml.safe_load(TABLE.read_text(encoding="utf-8"))
    for path, text in {**document["sourced"], **document["unsourced"]}.items():
        words, _, choice = text.partition(" |")
        kind, *keys = words.split()
        name, _, case = choice.partition("=")
        above, _, own = path.rpartition("/")
        found.setdefault(above, {})[own] = (path, Spec(kind, tuple(keys), name, case))
    found[""]["groups"] = ("groups", Spec("container"))
    found["groups"] = {"<group>": ("", Spec("list", ("name",)))}
    return found


class Candidate:
    """A configuration that commands change."""

    def __init__(self, text: str) -> None:
        self.root = Item(Spec("container"))
        self.inactive: set[tuple[str, ...]] = set()
        for words, inactive in _statements(text):
            if inactive:
                self.inactive.add(self._named(words))
            else:
                self._set(words)

    # --- commands -----------------------------------------------------------------------------------------

    def run(self, commands: Iterable[str]) -> Candidate:
        """Takes commands one after the other. Raises Refused."""
        for command in commands:
            try:
                self._run(command)
            except Refused as refused:
                raise Refused(f"{command}: {refused}") from None
        return self

    def _run(self, command: str) -> None:
        verb, *words = _words(command)
        if verb == "set":
            self._set(tuple(words))
        elif verb == "delete":
            self._delete(tuple(words))
        elif verb == "insert":
            self._insert(tuple(words))
        elif verb in ("activate", "deactivate"):
            self._mark(verb, tuple(words))
        else:
            raise Refused("unknown command")

    def _set(self, words: tuple[str, ...]) -> None:
        node = self.root
        for name, _, spec, values in _steps(words):
            if spec.kind.startswith("leaf") and not values:
                raise Refused("missing argument")
            if spec.choice:
                for other in [key for key, item in node.below.items() if item.spec.choice == spec.choice]:
                    if node.below[other].spec.case != spec.case:
                        del node.below[other]
            item = node.below.setdefault(name, Item(spec))
            if spec.kind == "leaf":
                item.values = list(values)
            elif spec.kind == "leaf-list":
                item.values += (value for value in values if value not in item.values)
            if spec.kind not in ("leaf", "leaf-list", "empty"):
                node = item

    def _delete(self, words: tuple[str, ...]) -> None:
        steps = _steps(words)
        *_, values = steps[-1]
        kind = steps[-1][2].kind
        if kind == "leaf" and values:
            raise Refused("syntax error: a leaf is deleted without its value")
        trail = self._trail(steps)
        name = steps[-1][0]
        if kind == "leaf-list" and values:
            for value in values:
                if value not in trail[-1].below[name].values:
                    raise Refused("statement not found")
                trail[-1].below[name].values.remove(value)
            if trail[-1].below[name].values:
                return
        del trail[-1].below[name]
        gone = tuple(word for step in steps for word in step[0])
        self.inactive = {path for path in self.inactive if path[: len(gone)] != gone}
        self._tidy(trail, steps)

    def _tidy(self, trail: list[Item], steps: list[Step]) -> None:
        """Takes out containers that are empty."""
        for above, item, step in zip(reversed(trail[:-1]), reversed(trail[1:]), reversed(steps[:-1]), strict=True):
            if item.below or item.spec.kind != "container":
                return
            del above.below[step[0]]

    def _trail(self, steps: list[Step]) -> list[Item]:
        """The nodes above the last step, which must be there."""
        trail = [self.root]
        for name, *_ in steps:
            if name not in trail[-1].below:
                raise Refused("statement not found")
            trail.append(trail[-1].below[name])
        return trail[:-1]

    def _insert(self, words: tuple[str, ...]) -> None:
        at = next((at for at, word in enumerate(words) if word in ("before", "after") and at > 1), None)
        if at is None:
            raise Refused("missing argument")
        steps = _steps(words[:at])
        name, above = steps[-1][0], self._trail(steps)[-1]
        other = words[at + 1 :]
        if name[0] not in ORDERED or other not in above.below or other == name:
            raise Refused("statement not found")
        order = [key for key in above.below if key != name]
        order.insert(order.index(other) + (words[at] == "after"), name)
        above.below = {key: above.below[key] for key in order}

    def _mark(self, verb: str, words: tuple[str, ...]) -> None:
        path = self._named(words)
        self._trail(_steps(words))
        if (path in self.inactive) != (verb == "activate"):
            raise Refused("nothing to do")
        self.inactive ^= {path}

    def _named(self, words: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(word for name, *_ in _steps(words) for word in name)

    def text(self) -> str:
        """The configuration in braces."""
        return "".join(f"{line}\n" for line in _braces(self.root, (), self.inactive, ""))

    def display_set(self) -> str:
        """The configuration as `show | display set` prints it."""
        lines = [
            " ".join(("set", *map(_quoted, _written(path)), *map(_quoted, value))) + "\n"
            for path, values in _leaves(self.root, ())
            for value in ([[one] for one in values] or [[]])
        ]
        lines += (" ".join(("deactivate", *map(_quoted, _written(path)))) + "\n" for path in sorted(self.inactive))
        return "".join(lines)

    # --- what is compared -----------------------------------------------------------------------------------

    def state(self) -> Any:
        """Everything that counts: nodes in any order, but those whose order has an effect."""
        return _state(self.root, ""), frozenset(self.inactive)

    def check(self) -> list[str]:
        """What `commit check` finds: names that nothing defines, an interface in two routing instances."""
        defined = {path[: len(path)] for path in _paths(self.root, ())}
        found = []
        members: dict[str, str] = {}
        for path, values in _leaves(self.root, ()):
            if any(path[: len(inactive)] == inactive for inactive in self.inactive):
                continue
            where = NAMES.get(path[-1] if values else path[-2] if len(path) > 1 else "")
            for value in values or path[-1:]:
                if where and "routing-instances" not in where and (*where.split(), value) not in defined:
                    found.append(f"{' '.join(path)}: {value} is not defined")
            member = path[:1] == ("routing-instances",) and len(path) == 4 and path[2] == "interface"
            if member and members.setdefault(path[3], path[1]) != path[1]:
                found.append(f"{path[3]} is in two routing instances")
        return found


def _state(item: Item, name: str) -> Any:
    if item.spec.kind == "leaf-list":
        return tuple(item.values) if name in ORDERED else frozenset(item.values)
    if item.values:
        return tuple(item.values)
    below = {key: _state(child, key[0]) for key, child in item.below.items()}
    ordered = [key for key in below if key[0] in ORDERED and item.below[key].spec.kind == "list"]
    return below, sorted(ordered, key=lambda key: key[0])  # each list has an order of its own


def _paths(item: Item, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    yield path
    for name, child in item.below.items():
        yield from _paths(child, (*path, *name))


def _leaves(item: Item, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    if not item.below:
        yield path, item.values
    for name, child in item.below.items():
        yield from _leaves(child, (*path, *name))


def _braces(item: Item, path: tuple[str, ...], inactive: set[tuple[str, ...]], margin: str) -> Iterator[str]:
    for name, child in item.below.items():
        here = (*path, *name)
        values = [*map(_quoted, child.values)]
        values = ["[", *values, "]"] if len(values) > 1 else values
        words = [*map(_quoted, _written(name)), *values]
        head = f"{margin}{'inactive: ' if here in inactive else ''}{' '.join(words)}"
        if child.below:
            yield f"{head} {{"
            yield from _braces(child, here, inactive, f"{margin}    ")
            yield f"{margin}}}"
        else:
            yield f"{head};"


def _written(path: tuple[str, ...]) -> tuple[str, ...]:
    """Without names that are not written."""
    return tuple(word for word in path if word[:1] != "<")


def _quoted(word: str) -> str:
    return f'"{word}"' if not word or SPECIAL.search(word) or " " in word else word


# --- words --------------------------------------------------------------------------------------------------


def _words(command: str) -> list[str]:
    """The words of a line of the command line."""
    words = WORD.findall(command)
    for word in words:
        if word not in ("[", "]") and word[0] != '"' and SPECIAL.search(word):
            raise Refused(f"{word} needs quotation marks")
    return [_plain(word) for word in words]


def _plain(word: str) -> str:
    return word[1:-1] if word[:1] == '"' else word


@lru_cache(maxsize=200_000)
def _steps(words: tuple[str, ...]) -> list[Step]:
    """The nodes that the words of a statement name. Raises Refused."""
    at, path, steps = 0, "", list[Step]()
    while at < len(words):
        path, spec, start = _next(path, words, at)
        if spec.kind.startswith("list"):
            end = _keys(spec, words, start)
            steps.append((words[at:end], path, spec, ()))
        elif spec.kind in ("leaf", "leaf-list"):
            end = words.index("]", start) + 1 if words[start : start + 1] == ("[",) else min(start + 1, len(words))
            values = tuple(word for word in words[start:end] if word not in ("[", "]"))
            name = words[at:start] or (path.rpartition("/")[2],)
            steps.append((name, path, spec, values))
            path = path.rpartition("/")[0]  # another statement of the same node may follow in the line
        else:
            end = start
            steps.append((words[at:end], path, spec, ()))
            path = path.rpartition("/")[0] if spec.kind == "empty" else path
        at = end
    return steps


def _next(path: str, words: tuple[str, ...], at: int) -> tuple[str, Spec, int]:
    """Path and spec of the next node, and where its arguments begin."""
    children = specs().get(path, {})
    word = words[at]
    if word in children:
        return *children[word], at + 1
    if word in EVERYWHERE:
        return f"{path}/{word}", EVERYWHERE[word], at + 1
    hidden = [child for name, child in children.items() if name.startswith("<")]
    for child in sorted(hidden, key=lambda child: child[1].kind != "list"):
        return *child, at
    raise Refused(f"syntax error at {word}: {path}")


def _keys(spec: Spec, words: tuple[str, ...], at: int) -> int:
    """Where the keys of an element end."""
    for key in spec.keys:
        if key[0] == "=":
            if words[at : at + 1] != (key[1:],):
                raise Refused(f"missing {key[1:]}")
            at += 1
        if key == "choice-value" and words[at - 1] in KEYWORDS:
            continue
        at += 1
    if at > len(words):
        raise Refused("missing argument: an element has a name")
    return at


def _statements(text: str) -> Iterator[tuple[tuple[str, ...], bool]]:
    """(words, whether they are a mark) of a config in braces or in `set` lines; what is inactive has a mark of its own."""
    if re.search(r"^(?:set|deactivate) ", text, re.MULTILINE):
        for line in text.splitlines():
            if line.startswith(("set ", "deactivate ")):
                verb, *words = [_plain(word) for word in WORD.findall(line)]
                yield tuple(words), verb == "deactivate"
        return
    path: list[tuple[str, ...]] = []
    words: list[str] = []
    count = [0]
    for token in TOKEN.findall(text):
        if token[0] == "#" or token.startswith("/*"):
            continue
        if token in "{;}":
            here = tuple(words)
            inactive = here[:1] == ("inactive:",)
            here = here[1:] if inactive else here
            whole = tuple(word for part in (*path, here) for word in part)
            words = []
            if token == "{":
                path.append(here)
                count.append(0)
            elif token == "}":
                if not count.pop():
                    yield tuple(word for part in path for word in part), False
                path.pop()
                count[-1] += 1
                continue
            else:
                yield whole, False
                count[-1] += 1
            if inactive:
                yield whole, True
            continue
        words.append(_plain(token))
