"""YAML files that people write, as frozen models: each mistake with its place, what was expected, what came, and a hint.

The models say what a file may hold: types, bounds, and the descriptions that hints and the JSON Schema quote.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from annotated_types import Ge, GroupedMetadata, Le
from pydantic import BeforeValidator, ConfigDict, Discriminator, Field, ValidationError, WrapValidator

from fabric.base import source
from fabric.base.diagnostics import InputError, Report, nearest, one_of, show
from fabric.base.formats import json_line
from fabric.base.reading import text_of
from fabric.base.source import Node, Path_, Source
from fabric.base.text import listed, plural

if TYPE_CHECKING:
    from pydantic import TypeAdapter

M = TypeVar("M")
T = TypeVar("T")

# --- what fields are built from ---------------------------------------------------------------------------------


class Section:
    """Base of the dataclasses of a file: strict about types, and no keys that it does not know."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)


class OpenSection:
    """Base of dataclasses of a file that leave keys alone which they do not know."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="ignore", strict=True)


class Mistake(ValueError):
    """What a validator raises for a value, with a hint of its own."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


def _as_written(value: Any, check: Callable[[Any], Any]) -> Any:
    checked = check(value)
    return value if isinstance(value, int) else checked


_AS_WRITTEN = WrapValidator(_as_written)


class Within(GroupedMetadata):
    """A number between two bounds, both included. It stays as it is written: 400 is no 400.0."""

    def __init__(self, least: float, most: float, description: str | None = None) -> None:
        self.least, self.most, self.description = least, most, description

    def __iter__(self) -> Iterator[Any]:
        yield from (Ge(self.least), Le(self.most), Field(description=self.description), _AS_WRITTEN)


def means(description: str, **more: Any) -> Any:
    """A field with a description."""
    return Field(description=description, **more)


def _text(value: Any) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value.strip() if isinstance(value, str) else value


TEXT = BeforeValidator(_text)  # a number counts as one
LOWER = BeforeValidator(lambda value: _text(value).lower() if isinstance(value, str) else _text(value))
LIST = BeforeValidator(lambda value: tuple(value) if isinstance(value, list | tuple) else (value,))  # one entry: a list of it
BY_FORM = Discriminator(lambda value: "[mapping]" if isinstance(value, dict) else "[value]")  # of a union of these tags

# --- a kind of file ---------------------------------------------------------------------------------------------

_TYPES = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "string_type": "text",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
}
_BOUNDS = {
    "greater_than": ("gt", "more than"),
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "less than"),
    "less_than_equal": ("le", "at most"),
}
_UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")
_NUMBERS = ("int_type", "int_from_float", "float_type")
_MAPPINGS = ("model_type", "model_attributes_type", "dataclass_type", "dict_type")


class InputFile(Generic[M]):
    """A kind of file: its model, and the words for its mistakes."""

    forms: ClassVar[Mapping[str, str]] = {}  # pattern of a text → what it stands for
    codes: ClassVar[Mapping[str, str]] = {}  # of a kind of mistake: unknown, missing, type, range, word, rule
    mapping = "a mapping"  # what stands for one in messages
    number_hint = "write {} without a unit; the unit stands in the key's name"
    range_hint = "check the unit in the name of the key"  # where the key has no description
    top = ""  # definition that the places of keys begin at; "": the whole
    is_full = True  # both bounds of a number, a description before the form, and where a missing key would stand

    def __init__(self, model: type[M], what: str, shape: str, code: str) -> None:
        """`what` names the file in messages; `shape` is the hint where it is something else."""
        self.model, self.what, self.shape, self.code = model, what, shape, code

    # --- reading

    def read_text(self, path: Path, shown: str | None = None) -> str:
        """The text of a file. Raises InputError."""
        return text_of(path, self.what, shown)

    def parse(self, text: str, name: str) -> Reading[M]:
        """The tree of a YAML text. Raises InputError."""
        try:
            return Reading(self, name, source.parse(text, name).root)
        except InputError as error:
            raise InputError(self._ours(item) for item in error.diagnostics) from None

    def read(self, path: Path, shown: str | None = None) -> Reading[M]:
        """The tree of a file. Raises InputError."""
        return self.parse(self.read_text(path, shown), shown or str(path))

    def _ours(self, item: Any) -> Any:
        """A diagnostic of the YAML reader in the words of the file at hand; the reader speaks of intents."""
        hint = item.hint.replace("an intent", self.what).replace("the language", self.what)
        return replace(
            item, message=item.message.replace("an intent", self.what), hint=self.shape if item.code == "FAB007" else hint
        )

    @cached_property
    def adapter(self) -> TypeAdapter[M]:
        from pydantic import TypeAdapter  # which an intent does without

        return TypeAdapter(self.model)

    @cached_property
    def schema(self) -> dict[str, Any]:
        """JSON Schema of the file, with references."""
        return self.adapter.json_schema(by_alias=True)

    # --- mistakes

    def unknown(self, text: Source, path: Path_, report: Report, hint: str) -> None:
        """An error for a key that is not known."""
        parent = _dotted(path[:-1], text)
        message = f"unknown key {show(path[-1])}" + (f" under {parent}" if parent else "")
        report.error(self.codes.get("unknown", self.code), text.place(path, key=True), message, hint)

    def translate(self, errors: list[Any], text: Source, report: Report) -> None:
        """Errors of pydantic as diagnostics in the words of the file."""
        for item in errors:
            if not _spurious(item, errors):
                self._translate(item, text, report)

    def _translate(self, item: Any, text: Source, report: Report) -> None:
        kind, is_key = item["type"], "[key]" in item["loc"]
        path = tuple(step for step in item["loc"] if not (isinstance(step, str) and step.startswith("[")))
        choices = _choices(item) if kind == "literal_error" else []
        if kind in _UNKNOWN or (choices and is_key):
            self.unknown(text, path, report, nearest(path[-1], choices) if choices else self._key_hint(path))
            return
        subject, message, hint = self._wrong(item, path, choices)
        is_above = kind == "missing" and not self.is_full
        place = text.place(path[:-1] if is_above else path, key=is_key or (is_above and len(path) > 1))
        report.error(self.codes.get(subject, self.code), place, f"{_dotted(path, text)}: {message}", hint)

    def _wrong(self, item: Any, path: Path_, choices: list[str]) -> tuple[str, str, str]:
        """What kind of mistake an error of pydantic is, the message and the hint."""
        kind, value, context = item["type"], item["input"], item.get("ctx", {})
        described, got = self._description(path) or self.shape, f", got {show(value)}"
        if kind == "missing":
            return kind, "missing key", described
        if kind in _TYPES or kind in _MAPPINGS:
            expected = f"expected {_TYPES.get(kind, self.mapping)}{got}"
            return "type", expected, self._type_hint(kind, value, path) or described
        if choices:
            words, hint = (", ".join, nearest) if self.is_full else (one_of, close_word)
            return "word", f"expected {words(choices)}{got}", hint(value, choices) or described
        if kind == "value_error":
            error = context.get("error", item["msg"])
            is_scalar = not isinstance(value, dict | list | tuple) and ", got " not in str(error)
            return "rule", f"{error}{got if is_scalar else ''}", getattr(error, "hint", "") or described
        if expected := self._expected(kind, context, value, path):
            return "range", f"expected {expected}", self._description(path) or self.range_hint or described
        return "type", f"{item['msg'][:1].lower()}{item['msg'][1:]}{got}", described

    def _expected(self, kind: str, context: Mapping[str, Any], value: Any, path: Path_) -> str:
        """What a value outside of its bounds should be, and what came; "" for another kind of mistake."""
        got = f", got {show(value)}"
        if kind in _BOUNDS:
            bound, words = _BOUNDS[kind]
            node = self.schema_at(path) if self.is_full else {}
            if "minimum" in node and "maximum" in node:
                return f"{_number(node['minimum'])} to {_number(node['maximum'])}{got}"
            return f"{words} {_number(context[bound])}{got}"
        if kind == "string_pattern_mismatch":
            return self.forms.get(context["pattern"], f"text of the form {context['pattern']}") + got
        if kind == "string_too_long":
            return f"at most {context['max_length']} characters{got}"
        if kind == "too_short" and isinstance(value, str):
            return f"at least {context['min_length']} characters{got}"
        if kind == "too_short":
            return f"at least {plural(context['min_length'], 'entry', 'entries')}, got {len(value) or 'none'}"
        return ""

    # --- hints

    def _type_hint(self, kind: str, value: Any, path: Path_) -> str:
        """How to fix a value of the wrong type, where that is plain to see."""
        text = value if isinstance(value, str) else ""
        if kind in ("int_type", "float_type") and re.fullmatch(r"[0-9]+(\.[0-9]+)?", text):
            return "numbers stand without quotes"
        if kind == "float_type" and (ratio := re.fullmatch(r"([0-9.]+):1", text)):
            return f"write the ratio as one number: {ratio[1]} means {ratio[1]}:1"
        if kind in ("int_type", "int_from_float") and isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
            return f"write {int(value)}"
        if kind in _NUMBERS:
            return self.number_hint.format(_TYPES[kind])
        if kind == "bool_type" and text.lower() in ("yes", "no", "on", "off"):
            return f"write {'true' if text.lower() in ('yes', 'on') else 'false'}"
        if kind == "string_type" and isinstance(value, int | float):
            return "quote the value"
        if kind in ("tuple_type", "list_type"):
            described = self._description(path) if self.is_full else ""
            return described or "write a list: an entry a line behind `- `, or all of them in brackets `[ ]`"
        if kind in _MAPPINGS:
            known = self.keys_at(path)
            described = self._description(path) if self.is_full or not known else ""
            return described or (f"its keys are {listed(known, 12)}" if known else "write `key: value` lines, indented")
        return ""

    def _key_hint(self, path: Path_) -> str:
        """For an unknown key: the nearest one, where the key belongs, or what there is."""
        key, known = str(path[-1]), self.keys_at(path[:-1])
        close = close_word(key, known)
        if close:
            return close
        homes = self.places.get(key, [])
        if 0 < len(homes) <= 3:
            return f"`{key}` belongs under {' or '.join(homes)}"
        return nearest(key, known) if known else ""

    @cached_property
    def places(self) -> dict[str, list[str]]:
        """Key → where below the top a key of that name stands."""
        places: dict[str, list[str]] = {}

        def walk(node: Any, path: str, depth: int) -> None:
            for name, child in self._resolve(node).get("properties", {}).items():
                if path and f"`{path}`" not in places.setdefault(name, []):
                    places[name].append(f"`{path}`")
                if depth < 4:
                    walk(child, f"{path}.{name}" if path else name, depth + 1)

        walk(self.schema["$defs"][self.top] if self.top else self.schema, "", 0)
        return places

    def _description(self, path: Path_) -> str:
        """What the schema says of a key, for a hint: `mtu`: IP MTU in bytes."""
        words = [step for step in path if isinstance(step, str)]
        for length in range(len(path), 0, -1):
            node = self.schema_at(path[: length - 1])
            key = path[length - 1]
            if isinstance(key, str) and "description" in (schema := node.get("properties", {}).get(key, {})):
                text = str(schema["description"])
                return f"`{key}`: {text}" if " " in text else ""
            if isinstance(key, str) and key != words[-1]:
                break
        return ""

    def keys_at(self, path: Path_) -> list[str]:
        """The keys that may stand at a place."""
        return sorted(self.schema_at(path).get("properties", {}))

    def schema_at(self, path: Path_) -> dict[str, Any]:
        """The part of the JSON Schema that describes a place."""
        node: Any = self.schema
        for step in path:
            node = self._resolve(node)
            properties = node.get("properties", {})
            if isinstance(step, str) and step in properties:
                node = properties[step]
            elif isinstance(step, int):
                node = node.get("items", node)
            else:
                patterns = node.get("patternProperties", {})
                node = next(iter(patterns.values()), None) or node.get("additionalProperties", {})
            if not isinstance(node, dict):
                return {}
        subschema: dict[str, Any] = self._resolve(node)
        return subschema

    def _resolve(self, node: Any) -> Any:
        """Follows references, and takes the mapping among alternatives."""
        for _ in range(8):
            if "$ref" in node:
                node = self.schema["$defs"][node["$ref"].rsplit("/", 1)[1]]
            elif "items" in node and "properties" not in node:
                node = node["items"]
            elif branches := node.get("anyOf", node.get("oneOf")):
                resolved = [self._resolve(branch) for branch in branches]
                node = next(
                    (branch for branch in resolved if {"properties", "additionalProperties"} & branch.keys()), resolved[0]
                )
            elif len(node.get("allOf", ())) == 1:
                node = node["allOf"][0]
            else:
                break
        return node


def _written(node: Node) -> Any:
    """A tree as data, without keys that have no value."""
    if isinstance(node.items, dict):
        return {key: _written(item) for key, item in node.items.items() if not _is_null(item)}
    return [_written(item) for item in node.items] if isinstance(node.items, list) else node.value


def _is_null(node: Node) -> bool:
    return node.items is None and node.value is None


class Reading(Source, Generic[M]):
    """One file that is read: its tree, and what is wrong with it."""

    def __init__(self, kind: InputFile[M], name: str, root: Node) -> None:
        super().__init__(name, root)
        self.kind, self.report = kind, Report()

    def model(self) -> M | None:
        """The file as its model; None after mistakes, which go to the report. A key without a value is not written."""
        try:
            return self.kind.adapter.validate_json(json_line(self.written))
        except ValidationError as error:
            self.kind.translate(error.errors(include_url=False), self, self.report)
            return None

    def checked(self, made: T | None) -> T:
        """What was made of the file. Raises InputError with every mistake."""
        self.report.raise_errors()
        assert made is not None
        return made

    @property
    def written(self) -> dict[str, Any]:
        """The data of the file, without keys that have no value."""
        data: dict[str, Any] = _written(self.root)
        return data

    def names(self, path: Path_ = ()) -> Iterator[str]:
        """The keys of a mapping, of those also that have no value."""
        node = self.at(path)
        return iter(node.items if node is not None and isinstance(node.items, dict) else ())

    def error(self, path: Path_, message: str, hint: str = "") -> None:
        """A mistake at a key, or where it would stand."""
        self.report.error(self.kind.code, self.place(path), f"{_dotted(path, self)}: {message}", hint)

    def warn(self, path: Path_, message: str, hint: str = "") -> None:
        self.report.warn(self.kind.code, self.place(path), f"{_dotted(path, self)}: {message}", hint)

    def refuse_unknown(self, path: Path_, known: Collection[str]) -> None:
        """An error for every key of a mapping that is none of `known`."""
        for key in self.names(path):
            if key not in known:
                self.kind.unknown(self, (*path, key), self.report, nearest(key, known))


def _spurious(item: Any, errors: list[Any]) -> bool:
    """Whether a list only counts as too short because its entries are wrong, which is reported already."""
    below = (other["loc"] for other in errors if len(other["loc"]) > len(item["loc"]))
    return item["type"] == "too_short" and any(loc[: len(item["loc"])] == item["loc"] for loc in below)


def _choices(item: Any) -> list[str]:
    """The words that pydantic expected."""
    words = re.findall(r"'([^']*)'|(\d+)", str(item["ctx"].get("expected", "")))
    return [word or number for word, number in words]


def close_word(word: Any, words: list[str]) -> str:
    """A hint with the nearest word; "" where none is near."""
    hint = nearest(word, words)
    return hint if hint.startswith("did") else ""


def _number(value: float) -> str:
    """A bound in full: 10000000, 0.5."""
    return str(int(value)) if value == int(value) else f"{value:g}"


def _dotted(path: Path_, text: Source) -> str:
    """`fabrics.backend.servers[1].count`, without the index of a list that the file does not write."""
    name, node = "", text.root
    for step in path:
        if isinstance(step, int):
            if not isinstance(node.items, list):
                continue
            name += f"[{step}]"
            node = node.items[step] if step < len(node.items) else node
        else:
            shown = step if re.fullmatch(r"[A-Za-z0-9_-]{1,60}", step) else show(step)
            name += f".{shown}" if name else shown
            node = node.items.get(step, node) if isinstance(node.items, dict) else node
    return name


# --- the schema for others --------------------------------------------------------------------------------------


def plain_schema(node: Any, whole: Mapping[str, Any]) -> Any:
    """A schema without references, names of classes, and values that only say that nothing is stated."""
    if isinstance(node, list):
        return [plain_schema(item, whole) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        node = whole["$defs"][node["$ref"].rsplit("/", 1)[1]] | {key: item for key, item in node.items() if key != "$ref"}
    branches = [branch for branch in node.get("anyOf", ()) if branch != {"type": "null"}]
    if len(branches) == 1:
        return plain_schema(branches[0] | {key: item for key, item in node.items() if key != "anyOf"}, whole)
    left = ("title", "$defs", "discriminator", *(() if _states_default(node) else ("default",)))
    plain = {key: plain_schema(item, whole) for key, item in node.items() if key not in left}
    if "properties" in node:
        plain["properties"] = {key: plain_schema(item, whole) for key, item in node["properties"].items()}
    return plain


def _states_default(node: Mapping[str, Any]) -> bool:
    """Whether the default is a value that a file may state, and not one that stands for what the description says."""
    default = node.get("default")
    if isinstance(default, bool | str):
        return default != ""
    return (
        isinstance(default, float | int)
        and default >= node.get("minimum", default)
        and "default: " not in node["description"]
    )
