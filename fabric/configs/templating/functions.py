"""What a template of a site may call, and what that may cost: counted, not timed, so that every machine agrees."""

from __future__ import annotations

import re
import threading
import types
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from contextlib import contextmanager
from functools import wraps
from typing import Any

from jinja2 import Environment
from jinja2.exceptions import SecurityError
from jinja2.filters import FILTERS, make_attrgetter
from jinja2.runtime import BlockReference, LoopContext, Macro, Undefined
from jinja2.sandbox import SandboxedFormatter, safe_range
from jinja2.tests import TESTS
from jinja2.utils import Cycler, Joiner, Namespace, pass_environment

# --- The meter ------------------------------------------------------------------------------------------------

STEPS = 500_000  # per file; files of the shipped examples take up to 2,100
CHARACTERS = 16_000_000  # printed, or built while rendering one file
NUMBER_BITS = 4096
WIDTH = 10_000  # columns of a padded, indented or numbered text
_CHUNK = 512  # characters that are read in one step


class LimitError(SecurityError):
    """A site's template costs more than one file may."""


class Meter(threading.local):
    """Steps and characters of the file that is being printed."""

    steps = 0
    characters = 0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Counts one file, from zero."""
        before = self.steps, self.characters
        self.steps = self.characters = 0
        try:
            yield
        finally:
            self.steps, self.characters = before

    def spend(self, steps: int) -> None:
        """Raises LimitError when the file has taken too many."""
        self.steps += steps
        if self.steps > STEPS:
            raise LimitError(f"expected at most {STEPS:,} steps for one file, got more: are its loops nested too deep?")

    def write(self, characters: int) -> None:
        """Counts text before it is made. Raises LimitError when the file has too much of it."""
        self.characters += characters
        if self.characters > CHARACTERS:
            raise LimitError(f"expected at most {CHARACTERS:,} characters built for one file, got more")
        self.spend(characters // _CHUNK)

    def weigh(self, value: Any) -> None:
        """Counts what reading a value costs, with all that lies in it: a list that holds one list twice counts it twice."""
        if isinstance(value, str):
            self.spend(1 + len(value) // _CHUNK)
            return
        self.spend(1)
        waiting = [value]
        while waiting:
            item = waiting.pop()
            if isinstance(item, str):
                self.spend(len(item) // _CHUNK)
            elif isinstance(item, (list, tuple, set, frozenset)):
                self.spend(len(item))
                waiting += item
            elif isinstance(item, dict):
                self.spend(2 * len(item))
                waiting += item.keys()
                waiting += item.values()
            elif isinstance(item, range):
                self.spend(len(item))

    def settle(self, value: Any) -> Any:
        """The value, weighed; what would be worked out later, such as `map`, is worked out now and is a list."""
        if isinstance(value, (Iterator, KeysView, ValuesView, ItemsView)) and not isinstance(value, LoopContext):
            return self.listed(value)
        self.weigh(value)
        return value

    def listed(self, values: Iterable[Any]) -> list[Any]:
        """Every value, each of them counted before the next."""
        result = []
        for value in values:
            self.weigh(value)
            result.append(value)
        return result


METER = Meter()


def number(value: int) -> int:
    """Raises LimitError for a number of thousands of digits."""
    if value.bit_length() > NUMBER_BITS:
        raise LimitError(f"expected a number of at most {NUMBER_BITS} bits, got {value.bit_length()}")
    return value


def width(value: Any) -> Any:
    """Raises LimitError for a width, count or precision that no line of a config has."""
    if isinstance(value, (int, float)) and abs(value) > WIDTH:
        raise LimitError(f"expected a width or count of at most {WIDTH:,}, got a larger one")
    return value


def printable(value: Any) -> Any:
    """Raises SecurityError for what has no text of its own: printed lists and objects are mistakes."""
    if value is None or isinstance(value, (str, int, float, Undefined)):  # Undefined reports what is missing
        return value
    raise SecurityError(f"expected a text or a number to print, got a {type(value).__name__}")


def text_of(value: Any) -> str:
    """A printable value as text."""
    printable(value)
    if isinstance(value, int):
        number(value)
    return str(value)


# --- Filters, tests, functions and methods --------------------------------------------------------------------


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Left out: `attr`, which reads attributes by a computed name; `random`, as output is deterministic; filters that print
# objects or markup.
FILTER_NAMES = _words(
    """abs batch capitalize center count d default dictsort e escape first float forceescape format groupby indent int items
    join last length list lower map max min reject rejectattr replace reverse round safe select selectattr slice sort string
    sum title tojson trim truncate unique upper urlencode wordcount"""
)
_SIZED = frozenset(["batch", "center", "indent", "round", "slice", "tojson", "truncate"])
_SORTS = frozenset(["dictsort", "groupby", "max", "min", "sort", "unique"])
_METHODS: tuple[tuple[type, frozenset[str]], ...] = (
    (
        str,
        _words(
            """capitalize casefold center count endswith find format format_map index isalnum isalpha isascii isdecimal
            isdigit islower isnumeric isspace isupper join ljust lower lstrip partition removeprefix removesuffix replace
            rfind rindex rjust rpartition rsplit rstrip split splitlines startswith strip swapcase title upper zfill"""
        ),
    ),
    (dict, frozenset(["get", "items", "keys", "values"])),
    (list, frozenset(["count", "index"])),
    (tuple, frozenset(["count", "index"])),
    (LoopContext, frozenset(["changed", "cycle"])),
    (Cycler, frozenset(["next", "reset"])),
)
_PADDING = frozenset(["center", "ljust", "rjust", "zfill"])
GLOBALS: Mapping[str, Any] = {"range": safe_range, "dict": dict, "namespace": Namespace, "cycler": Cycler, "joiner": Joiner}
_PLAIN = (*GLOBALS.values(),)


# --- filters and tests --------------------------------------------------------------------------------------


def filters() -> dict[str, Callable[..., Any]]:
    """Jinja's own, of those that a site may use, each counted."""
    own: dict[str, Callable[..., Any]] = {
        "join": _join,
        "replace": _replace,
        "format": _format,
        "string": text_of,
        "sum": _sum,
    }
    return {name: _counted(name, own.get(name, FILTERS[name])) for name in FILTER_NAMES}


def tests() -> dict[str, Callable[..., Any]]:
    """Jinja's own, each counted."""
    known: Mapping[str, Any] = TESTS
    return {name: _counted(name, test) for name, test in known.items()}


def _counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    leading = 1 if hasattr(function, "jinja_pass_arg") else 0  # the context or environment that Jinja passes

    @wraps(function)
    def counted(*args: Any, **kwargs: Any) -> Any:
        METER.spend(1)
        values = [*args[:leading], *map(METER.settle, args[leading:])]
        named = {key: METER.settle(value) for key, value in kwargs.items()}
        if name in _SIZED:
            for value in (*values[leading + 1 :], *named.values()):
                width(value)
        if name in _SORTS:
            for _ in range(8):  # usual number of comparisons of a value
                METER.weigh(values[leading])
        if name == "indent":
            _charge_indent(*values[leading:], **named)
        return made(function(*values, **named))

    return counted


def made(value: Any) -> Any:
    """A new value, counted."""
    value = METER.settle(value)
    if isinstance(value, str):
        METER.write(len(value))
    elif isinstance(value, int):
        number(value)
    return value


def _charge_indent(text: Any, by: Any = 4, *_: Any, **named: Any) -> None:
    by = named.get("width", by)
    METER.write((str(text).count("\n") + 1) * (len(by) if isinstance(by, str) else int(by)))


@pass_environment
def _join(environment: Environment, value: Iterable[Any], d: str = "", attribute: str | int | None = None) -> str:
    if attribute is not None:
        value = map(make_attrgetter(environment, attribute), value)
    return join(text_of(d), value)


def join(separator: str, values: Iterable[Any]) -> str:
    """`", ".join(…)`, its length counted before it is made."""
    texts = [text_of(value) for value in METER.listed(values)]
    METER.write(sum(map(len, texts)) + len(separator) * len(texts))
    return separator.join(texts)


def _replace(text: Any, old: Any, new: Any, count: int | None = None) -> str:
    return replace(text_of(text), text_of(old), text_of(new), -1 if count is None else count)


def replace(text: str, old: str, new: str, count: int = -1) -> str:
    """`text.replace(old, new)`, its length counted before it is made."""
    METER.write(len(text) + text.count(old) * len(new))
    return text.replace(old, new, count)


def _format(text: Any, *args: Any, **kwargs: Any) -> str:
    if args and kwargs:
        raise SecurityError("expected values by place or by name, got both")
    return percent(text_of(text), kwargs or args)


def _sum(values: Iterable[Any], attribute: str | int | None = None, start: Any = 0) -> Any:
    if attribute is not None:
        raise SecurityError('expected numbers, got an attribute: write `| map(attribute="…") | sum`')
    if not isinstance(start, (int, float)):
        raise SecurityError(f"expected a number to start from, got a {type(start).__name__}")
    for value in values:
        start += value
        if isinstance(start, int):
            number(start)
    return start


# --- formats ------------------------------------------------------------------------------------------------

_SPEC = re.compile(r"[#0 +-]*(\*|[0-9]*)(?:\.(\*|[0-9]*))?")


def percent(text: str, values: Any) -> str:
    """`text % values`, its widths and its length looked at before it is made."""
    given = tuple(values.values()) if isinstance(values, dict) else values if isinstance(values, tuple) else (values,)
    longest = 0
    for value in given:
        longest = max(longest, 8 * len(text_of(value)))  # `%r` and `%a` write a character as up to ten
    length, at = len(text), text.find("%")
    while at >= 0:
        at = _key_end(text, at + 1)
        spec = _SPEC.match(text, at)
        assert spec is not None  # the pattern also matches an empty format
        for size in spec.groups():
            if size == "*":
                raise SecurityError("expected a width in the format itself, got `*`")
            length += width(int(size)) if size else 0
        length += longest
        at = text.find("%", max(spec.end(), at) + 1)
    METER.write(length)
    return str(text % values)


def _key_end(text: str, at: int) -> int:
    """The position behind the `(name)` at `at`, as Python reads it: parentheses in it are balanced."""
    depth = 0
    while at < len(text) and (depth or text[at] == "("):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return at


class _Formatter(SandboxedFormatter):
    def convert_field(self, value: Any, conversion: Any) -> Any:
        METER.write(12 * len(text_of(value)))
        return super().convert_field(value, conversion)

    def format_field(self, value: Any, format_spec: str) -> Any:
        for size in re.findall("[0-9]+", format_spec):
            METER.write(width(int(size)))
        METER.write(len(text_of(value)))
        return super().format_field(value, format_spec)


class TextFormat:
    """`"…".format` of one text, as a template may call it."""

    def __init__(self, environment: Environment, text: str, mapped: bool) -> None:
        self._formatter, self._text, self._mapped = _Formatter(environment), text, mapped

    def __call__(self, *args: Any, **kwargs: Any) -> str:
        METER.write(len(self._text))
        if self._mapped:
            if kwargs or len(args) != 1 or not isinstance(args[0], dict):
                raise SecurityError("expected format_map of one mapping")
            kwargs, args = args[0], ()
        return str(self._formatter.vformat(self._text, args, kwargs))


# --- calls and operators ------------------------------------------------------------------------------------


def check_callable(function: Any) -> None:
    """Raises SecurityError for all but macros, blocks, the functions above and the listed methods of plain values."""
    if isinstance(function, (Macro, BlockReference, Joiner, TextFormat, Undefined)):
        return
    if any(function is plain for plain in _PLAIN):
        return
    name, holder = getattr(function, "__name__", type(function).__name__), getattr(function, "__self__", None)
    if isinstance(function, (types.BuiltinMethodType, types.MethodType)) and any(
        isinstance(holder, kind) and name in names for kind, names in _METHODS
    ):
        return
    raise SecurityError(f"expected a macro, a block or a method of a text, list or mapping, got a call of {name!r}")


def call(function: Any, args: list[Any], kwargs: Mapping[str, Any]) -> Any:
    """Calls a method or a plain function that `check_callable` let pass."""
    holder, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    if isinstance(holder, str):
        METER.spend(1 + len(holder) // 64)
        if name == "join":
            return join(str(holder), *args, **kwargs)
        if name == "replace":
            return replace(str(holder), *args, **kwargs)
        if name in _PADDING:
            METER.write(max(map(int, map(width, args[:1])), default=0))
    elif isinstance(holder, (list, tuple)):
        METER.weigh(holder)
    return function(*args, **kwargs)


def operate(operator: str, left: Any, right: Any) -> None:
    """Counts what an operator makes, before it does. Raises LimitError."""
    if operator == "*":
        text, times = (right, left) if isinstance(left, int) else (left, right)
        if isinstance(text, (str, list, tuple)) and isinstance(times, int):
            (METER.write if isinstance(text, str) else METER.spend)(len(text) * max(times, 0))
    if isinstance(left, int) and isinstance(right, int):
        bits = left.bit_length() * right if operator == "**" else left.bit_length() + right.bit_length()
        if bits > 2 * NUMBER_BITS:
            raise LimitError(f"expected numbers of at most {NUMBER_BITS} bits, got larger ones")
    elif isinstance(left, str) and isinstance(right, str):
        METER.write(len(left) + len(right))
    elif isinstance(left, (list, tuple)):
        METER.weigh(left)
        METER.weigh(right)
