"""What an intent cannot say, as the site's own lines: merge patches of documents, and templates that change lines of blocks.

A difference that several switches share is written once. A secret is never copied: a placeholder takes its place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from fabric.audit.checks import syntax_of
from fabric.audit.diff.remedy import dialect
from fabric.base.formats import json_line
from fabric.base.grouping import grouped
from fabric.configs import Job, Renderer
from fabric.configs.render import CONTROL
from fabric.deliver.brownfield.blocks import Blocks, Own
from fabric.deliver.brownfield.proof import DeviceProof, Proof, Residual
from fabric.model.plan import Plan
from fabric.nos.dialect import COMMANDS, Node, Patch, SetLines
from fabric.nos.reading import Folder
from fabric.nos.reading.sections import StatementPath
from fabric.nos.statements.compare import CHANGED, EXTRA, MISSING
from fabric.nos.statements.syntax import Place, Statements, Syntax
from fabric.nos.target import Text, target

FOLDER = "overrides"  # of the templates, beside the intent
CHAINED = 50  # filters of one expression; more are several
EXTRA_BLOCK = "extra"  # of the shipped templates: lines behind all others


@dataclass(frozen=True, slots=True)
class OwnLines:
    """Overrides of an intent, and the templates that they name: path beside the intent → text."""

    rules: Sequence[Mapping[str, Any]]
    templates: Mapping[str, str]


NOTHING = OwnLines((), {})


def own_lines(renderer: Renderer, folder: Folder, proof: Proof, left: Proof | None = None) -> OwnLines:
    """The overrides that carry the residuals of a proof, as far as a patch or a block takes them.

    Args:
        renderer: of the plan without overrides.
        folder: running configs.
        proof: of both.
        left: of the plan with the overrides that carry the statements; their files are then compared line by line.
    """
    edited = {
        device.device: frozenset(one.difference.path[0] for one in device.residuals)
        for device in (left.devices if left else ())
    }
    running = folder.by_name() | {device.name: device for device in reversed(folder.devices)}
    changes: list[tuple[Own, str]] = []
    proofs = {device.device: device for device in proof.devices}
    for job in renderer.jobs(lambda name: name in proofs and bool(proofs[name].residuals)):
        device = proofs[job.device.name]
        made = _Device.of(renderer, job, running[device.device].files, device, edited.get(device.device, frozenset()))
        changes += ((own, device.device) for own in made.changes())
    rules, templates = list[Mapping[str, Any]](), dict[str, str]()
    for (file, chosen, on), owns in _selected(renderer.plan, changes):
        keys: dict[str, Any] = {**dict(chosen), **({"devices": on[0] if len(on) == 1 else list(on)} if on else {})}
        if "/" not in file:
            rules.append(keys | {"file": file, "patch": _patch(owns)})
            continue
        name = _template_name(file, keys, templates)
        templates[name] = _template(file, owns)
        rules.append(keys | {"template": name})
    return OwnLines(rules, templates)


Chosen = tuple[str, tuple[tuple[str, str], ...], tuple[str, ...]]  # file, keys of a selection, names of single switches


def _selected(plan: Plan, changes: Iterable[tuple[Own, str]]) -> list[tuple[Chosen, list[Own]]]:
    """The changes of each override: of all switches, of a role, a fabric, both, or of single switches, in this order."""
    selections: dict[str, list[tuple[tuple[tuple[str, str], ...], frozenset[str]]]] = {}
    rest: dict[str, dict[Own, frozenset[str]]] = {}
    shared: dict[Chosen, list[Own]] = {}
    for own, on in grouped(changes).items():
        names = frozenset(on)
        for keys, switches in selections.setdefault(own.file, _selections(plan, own.file)):
            if switches <= names:
                shared.setdefault((own.file, keys, ()), []).append(own)
                names -= switches
        if names:
            rest.setdefault(own.file, {})[own] = names
    for file, left in rest.items():
        sets = set(left.values())
        alone = len(sets) > len(frozenset[str]().union(*sets))  # fewer overrides if each is of one switch
        for own, names in left.items():
            for some in ((name,) for name in sorted(names)) if alone else (tuple(sorted(names)),):
                shared.setdefault((file, (), some), []).append(own)
    # Of one template the particular ones come first: a line that all switches lose must not be gone where one tells others.
    return sorted(shared.items(), key=lambda item: (item[0][0], not item[0][2], -len(item[0][1]), item[0]))


def _selections(plan: Plan, file: str) -> list[tuple[tuple[tuple[str, str], ...], frozenset[str]]]:
    """(keys, switches) of what an override may select among the switches that have a file, those with fewest keys first."""
    switches = [
        ({"fabric": fabric, "role": device.role}, device.name)
        for fabric, its in plan.fabrics.items()
        for device in its.switches
        if device.nos and (file in target(device.nos).documents or file.partition("/")[0] == device.nos)
    ]
    found: list[tuple[tuple[tuple[str, str], ...], frozenset[str]]] = []
    for names in ((), ("role",), ("fabric",), ("fabric", "role")):
        groups = grouped((tuple((name, keys[name]) for name in names), switch) for keys, switch in switches)
        found += [(keys, frozenset(group)) for keys, group in groups.items() if len(group) > 1]
    return found


# --- one switch -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Device:
    proof: DeviceProof
    syntax: Syntax
    texts: tuple[Mapping[str, str], Mapping[str, str]]  # part → text, of the plan and of the device
    sides: tuple[Statements, Statements]
    templates: Mapping[str, tuple[str, Mapping[str, Any]]]  # part → shipped template, its context
    edited: frozenset[str]  # parts whose statements did not do, and that are compared line by line

    @classmethod
    def of(
        cls, renderer: Renderer, job: Job, running: Mapping[str, str], proof: DeviceProof, edited: frozenset[str]
    ) -> _Device:
        nos = job.device.nos
        syntax = syntax_of(nos)
        planned = {path: data.decode() for path, data in renderer.files(job)}
        view = renderer.views[job.fabric].of(job.device)
        texts = [{text.part: text.text for text in syntax.texts(files)} for files in (planned, running)]
        printed = [file for file in target(nos).files(view) if isinstance(file, Text)]
        return cls(
            proof=proof,
            edited=edited,
            syntax=syntax,
            texts=(texts[0], texts[1]),
            sides=(syntax.read(planned), syntax.read(running)),
            templates={
                syntax.part(file.path, texts[0].get(file.path, "")): (file.template, file.context) for file in printed
            },
        )

    def changes(self) -> Iterator[Own]:
        """What carries its residuals."""
        for part, residuals in grouped((one.difference.path[0], one) for one in self.proof.residuals).items():
            form = dialect(self.proof.nos).forms.get(part)
            if isinstance(form, Patch) and part in target(self.proof.nos).documents:
                yield from self._document(part, form, residuals)
            elif part in self.templates and (form is COMMANDS or isinstance(form, SetLines)) and part not in self.edited:
                yield from self._lines(part, form, residuals)
            elif part in self.templates:
                yield from self._edited(part)

    # documents

    def _document(self, part: str, form: Patch, residuals: Sequence[Residual]) -> Iterator[Own]:
        try:
            trees = [form.tree(texts[part]) for texts in self.texts]
        except (KeyError, ValueError):
            return
        values: dict[StatementPath, str] = {}
        for one in residuals:
            difference = one.difference
            for side, path in ((0, difference.path), (1, difference.got or difference.path)):
                if (side == 0 and difference.kind == EXTRA) or (side == 1 and difference.kind == MISSING):
                    continue
                keys = _existing(trees[side], self._raw(side, path))
                while len(keys) > 1 and _lookup(trees[1], keys[:-1]) is None:
                    keys = keys[:-1]  # what holds it is gone as a whole
                values |= dict(self._values(part, keys, _lookup(trees[1], keys)))
        for keys, value in sorted(values.items()):
            yield Own(part, keys, "", value)

    def _raw(self, side: int, path: StatementPath) -> StatementPath:
        """A path as the file spells it; that of a section is one of a statement in it."""
        place = self.sides[side].get(path) or next(
            (place for other, place in self.sides[side].items() if other[: len(path)] == path), None
        )
        return place.raw[: len(path) - 1] if place else path[1:]

    def _values(self, part: str, keys: StatementPath, value: Any) -> Iterator[tuple[StatementPath, str]]:
        """The scalars and lists below a key, as JSON; `null` for one that the device does not have."""
        if isinstance(value, Mapping) and value:
            for key, inner in value.items():
                yield from self._values(part, (*keys, str(key)), inner)
            return
        secret = any(
            "*" in path[-1] and "*" not in place.raw[-1] and _spelled(place.raw, keys)
            for path, place in self.sides[1].items()
            if path[0] == part and path[1] == keys[0]
        )
        yield keys, json_line(placeholder(" ".join(keys)) if secret else value, sort_keys=True)

    # templates

    def _lines(self, part: str, form: object, residuals: Sequence[Residual]) -> Iterator[Own]:
        template, context = self.templates[part]
        blocks = Blocks(template, context, self.texts[0][part])
        gone, extra, instead = set[StatementPath](), list[StatementPath](), dict[int, str]()
        for difference in (one.difference for one in residuals):
            if difference.kind in (CHANGED, MISSING):
                gone.update(self._below(0, difference.path))
            if difference.kind == EXTRA:
                extra += [path for path in self._below(1, difference.path) if path not in self.sides[0]]
            elif difference.kind == CHANGED:
                here = self.sides[0].get(difference.path)  # None: below a planned line that has another number there
                alike = form is COMMANDS and difference.got[:-1] == difference.path[:-1]
                lines = self._taken([difference.got]) if here is not None and alike else []
                instead.update((here.line, raw[-1]) for raw in lines if here is not None)
                extra += [] if lines else [difference.got]
        rows = _whole_lines(self.sides[0], part, gone)
        yield from blocks.changed(template, rows if form is COMMANDS else _with_braces(blocks.lines, rows), instead)
        if EXTRA_BLOCK in blocks.names:
            for text in self._written(form, extra):
                yield Own(template, (EXTRA_BLOCK,), "", text)

    def _edited(self, part: str) -> Iterator[Own]:
        """The file line by line. A line with a secret is as the plan has its statement, and left out where it has none."""
        template, context = self.templates[part]
        blocks, lines = Blocks(template, context, self.texts[0][part]), self.texts[1][part].split("\n")
        own = {path: place for path, place in self.sides[1].items() if path[0] == part}
        hidden = {place.line: path for path, place in own.items() if "*" in path[-1]}
        literal = {line for file, line in self.proof.secrets if file in {place.file for place in own.values()}}
        for number in sorted(hidden.keys() | literal, reverse=True):
            planned = self.sides[0].get(hidden[number]) if number in hidden else None
            if planned is not None:
                lines[number - 1] = blocks.lines[planned.line - 1]
            elif number in literal or "${" not in lines[number - 1]:
                del lines[number - 1]
        if not any(CONTROL.search(line) for line in lines):
            yield from blocks.edited(template, lines)

    def _below(self, side: int, root: StatementPath) -> list[StatementPath]:
        return [path for path in self.sides[side] if path[: len(root)] == root]

    def _taken(self, paths: Iterable[StatementPath]) -> list[StatementPath]:
        """Running statements as they may be written: without their secrets, and never one that no file may have."""
        taken = list[StatementPath]()
        for path in paths:
            place = self._running(path)
            if place is None:  # below a line that has another number there, which is taken itself
                continue
            raw = place.raw
            if "*" in path[-1] and "*" not in raw[-1]:
                raw = (*raw[:-1], path[-1].replace("*", placeholder(" ".join(path[1:]))))
            elif (place.file, place.line) in self.proof.secrets:
                continue
            if not any(CONTROL.search(words) for words in raw):
                taken.append(raw)
        return list(dict.fromkeys(taken))

    def _running(self, path: StatementPath) -> Place | None:
        """A statement of the device, also where its sections are compared with those of another name (`router bgp 65043`)."""
        alike = (
            place for other, place in self.sides[1].items() if (other[0], other[2:]) == (path[0], path[2:]) and len(path) > 2
        )
        return self.sides[1].get(path) or next(alike, None)

    def _written(self, form: object, paths: Sequence[StatementPath]) -> list[str]:
        """Lines of statements, a text for each top-level section."""
        raws = self._taken(paths)
        if isinstance(form, SetLines):
            root = form.hierarchy().tree(raws)
            return ["".join(_braces(name, node)) for name, node in root.below.items()]
        if form is not COMMANDS:
            return []
        return [_as_text(list(section)) for _, section in groupby(raws, key=lambda raw: raw[0])]


def _existing(tree: Any, path: StatementPath) -> StatementPath:
    """The keys of a statement: as far as they lead into a tree, `mtu` of `mtu = 9100`."""
    keys: list[str] = []
    for word in path:
        if not isinstance(tree, Mapping):
            break
        key = next((key for key in (word, word.partition(" = ")[0]) if key in tree), None)
        keys.append(word.partition(" = ")[0] if key is None else key)
        if key is None:
            break
        tree = tree[key]
    return tuple(keys)


def _lookup(tree: Any, keys: StatementPath) -> Any:
    for key in keys:
        if not isinstance(tree, Mapping) or key not in tree:
            return None
        tree = tree[key]
    return {} if tree is None else tree


def _spelled(raw: StatementPath, keys: StatementPath) -> bool:
    """Whether a statement is that of some keys."""
    return (*raw[:-1], raw[-1].partition(" = ")[0]) == keys or raw[: len(keys)] == keys


def placeholder(words: str) -> str:
    """`${USERNAME_BACKUP_SECRET}` in place of the secret of a statement."""
    name = re.sub(r"[^A-Za-z0-9]+", "_", words.partition("*")[0]).strip("_").upper()
    return f"${{{name[-60:].lstrip('_0123456789') or 'SECRET'}}}"


def _whole_lines(planned: Statements, part: str, gone: set[StatementPath]) -> set[int]:
    """The planned lines none of whose statements the device has."""
    lines = {place.line for path, place in planned.items() if path[0] == part and path in gone}
    return lines - {place.line for path, place in planned.items() if path[0] == part and path not in gone}


def _with_braces(lines: Sequence[str], gone: set[int]) -> set[int]:
    """The lines, with those that open and close a section of which nothing is left."""
    gone, opened = set(gone), list[int]()
    for number, line in enumerate(lines, 1):
        if line.rstrip().endswith("{"):
            opened.append(number)
        elif line.strip() in ("}", "};") and opened:
            begin = opened.pop()
            inside = set(range(begin + 1, number))
            if inside and inside <= gone:
                gone |= {begin, number}
    return gone


# --- statements as text ---------------------------------------------------------------------------------------


def _as_text(raws: Sequence[StatementPath], margin: str = "   ") -> str:
    """Statements as indented lines. A repeated section is written once."""
    lines: list[str] = []
    above: StatementPath = ()
    for raw in raws:
        shared = next((at for at, pair in enumerate(zip(above, raw, strict=False)) if pair[0] != pair[1]), None)
        start = min(len(above), len(raw) - 1) if shared is None else shared
        lines += [f"{margin * depth}{words}\n" for depth, words in enumerate(raw) if depth >= start]
        above = raw
    return "".join(lines)


_NEEDS_QUOTES = re.compile(r'[\s;{}\[\]"#]')


def _braces(name: StatementPath, node: Node, depth: int = 0) -> Iterator[str]:
    """A node of a config in braces."""
    margin, words = "    " * depth, " ".join(map(_quoted, name))
    if node.below:
        yield f"{margin}{words} {{\n"
        for inner, child in node.below.items():
            yield from _braces(inner, child, depth + 1)
        yield f"{margin}}}\n"
        return
    values = [_quoted(value) for value in node.values]
    listed = f" [ {' '.join(values)} ]" if len(values) > 1 else f" {values[0]}" if values else ""
    yield f"{margin}{words}{listed};\n"


def _quoted(word: str) -> str:
    if word[:1] == '"' or word in "[]" or not _NEEDS_QUOTES.search(word):
        return word
    return json_line(word, ensure_ascii=False)


# --- files ----------------------------------------------------------------------------------------------------


def _patch(owns: Sequence[Own]) -> dict[str, Any]:
    """A merge patch (RFC 7396) of values by their keys."""
    patch: dict[str, Any] = {}
    for own in sorted(owns):
        at: Any = patch
        for key in own.where[:-1]:
            at = at.setdefault(key, {}) if isinstance(at, dict) else None  # removed as a whole by another entry
        if isinstance(at, dict):
            at[own.where[-1]] = json.loads(own.new)
    return patch


def _template_name(file: str, chosen: Mapping[str, Any], taken: Mapping[str, str]) -> str:
    """`overrides/leaf.eos.j2`; names of the intent have no character of a path."""
    nos, _, stem = file.partition("/")
    words = [str(chosen[key]) for key in ("fabric", "role") if key in chosen]
    devices = chosen.get("devices")
    words += ["devices" if isinstance(devices, list) else str(devices)] if devices else []
    base = re.sub(r"[^A-Za-z0-9_-]+", "-", "-".join(words) or "site")
    kind = nos if stem.startswith("device") else f"{nos}-{stem.removesuffix('.j2').replace('.', '-')}"
    names = (f"{FOLDER}/{base}{f'-{number}' if number else ''}.{kind}.j2" for number in range(len(taken) + 1))
    return next(name for name in names if name not in taken)


def _template(file: str, owns: Sequence[Own]) -> str:
    """A template that extends a shipped one: lines replaced in its blocks, others behind them."""
    lines = [f'{{% extends "{file}" %}}']
    for block, changes in grouped((own.where[0], own) for own in owns).items():
        replaced = sorted((own for own in changes if own.old), key=lambda own: (-len(own.old), own))  # likewise
        behind = "".join(verbatim(own.new) for own in changes if not own.old)
        lines += [f"{{% block {block} %}}", *(_replacing(replaced) if replaced else ["{{ super() -}}"])]
        lines += [behind.rstrip("\n")] if behind else []
        lines.append("{% endblock %}")
    return "\n".join(lines) + "\n"


def _replacing(changes: Sequence[Own]) -> Iterator[str]:
    """The lines of a block with others in place of some. A line feed in front lets every change take whole lines."""
    filters = [f"\n   | replace({_literal(own.old)}, {_literal(own.new)})" for own in changes]
    chains = ["".join(filters[at : at + CHAINED]) for at in range(0, len(filters), CHAINED)]
    texts = ['("\\n" ~ super())', *("text" for _ in chains[1:])]
    *first, last = (f"{text}{chain}" for text, chain in zip(texts, chains, strict=True))
    yield from (f"{{% set text = {whole} %}}" for whole in first)
    yield f'{{{{ {last}\n   | replace("\\n", "", 1) -}}}}'


def _literal(text: str) -> str:
    return json_line(text, ensure_ascii=False)


def verbatim(text: str) -> str:
    """Text of a config in a template: nothing in it begins a tag, an expression or a comment."""
    return re.sub(r"\{(?=[{%#])", "{{ '{' }}", text)
