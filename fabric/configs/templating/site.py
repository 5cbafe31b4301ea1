"""A site's own templates, printed in a sandbox that reads shipped templates and the files of this run's chains alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, TemplateNotFound, TemplateSyntaxError, nodes, pass_context
from jinja2.exceptions import SecurityError
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from fabric.configs.templating import functions, syntax
from fabric.configs.templating.meter import METER, LimitError, number, printable
from fabric.configs.templating.shipped import SYNTAX, ShippedLoader, environment

CHAIN = "site:"  # name of a template that a site's files override: this, then the files, newest last
MAX_BYTES = 131_072  # of one template of a site; the largest shipped one has an eighth of it


_OF_JINJA = frozenset(["_block_vars", "_loop_vars"])  # passed by compiled code beside what a template writes
# What no text file of a switch has. A tab, and the line end that Jinja makes of every other, may stand in one.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class SiteTemplateError(ValueError):
    """A file that is no template of a site: `problems` says why."""

    def __init__(self, problems: Sequence[syntax.Problem]) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = tuple(problems)


def read(path: Path) -> str:
    """The text of a site's template. Raises OSError, SiteTemplateError for one that is too large or no UTF-8 text."""
    with path.open("rb") as stream:
        data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise SiteTemplateError([syntax.Problem(0, f"expected a file of at most {MAX_BYTES:,} bytes, got more")])
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SiteTemplateError(
            [syntax.Problem(line, f"expected UTF-8 text, got the byte 0x{data[error.start]:02x}")]
        ) from None


def check(path: Path) -> str:
    """The shipped template that a site's file extends, the file being in order. Raises OSError, SiteTemplateError."""
    text = read(path)
    try:
        tree = environment().parse(text)
        wrong = list(syntax.problems(tree))
        if not wrong:
            site_environment().compile(text, str(path), str(path))
    except TemplateSyntaxError as error:
        raise SiteTemplateError([syntax.Problem(error.lineno, f"not a Jinja template: {one_line(error)}")]) from error
    except (RecursionError, MemoryError, SyntaxError) as error:
        deep = "not a Jinja template that can be run: its expressions or blocks are nested too deep"
        raise SiteTemplateError([syntax.Problem(0, deep)]) from error
    except (ValueError, OverflowError) as error:  # a number of thousands of digits
        raise SiteTemplateError([syntax.Problem(0, f"not a Jinja template: {one_line(error)}")]) from error
    if wrong:
        raise SiteTemplateError(wrong)
    base = syntax.base_of(tree)
    assert base is not None  # else there was a problem
    return base


@cache
def extended(path: Path) -> str:
    """`check`, once a file."""
    return check(path)


def one_line(error: BaseException) -> str:
    """An exception's text on one line."""
    return " ".join(_ADDRESS.sub("", str(error) or type(error).__name__).split())[:300]


_ADDRESS = re.compile(" (object )?at 0x[0-9a-f]+")


def render(base: str, paths: Sequence[Path], context: Mapping[str, object]) -> str:
    """A shipped template with the blocks that a site's files replace, newest last.

    Raises whatever the files do wrong; LimitError for what they cost, SecurityError for what they may not do.
    """
    with METER.running():
        text = site_environment().get_template(_composed(base, tuple(paths))).render(context)
    if wrong := _CONTROL.search(text):
        raise SecurityError(f"line {text.count(chr(10), 0, wrong.start()) + 1} of the file: control character {wrong[0]!a}")
    return text


@cache
def _composed(base: str, paths: tuple[Path, ...]) -> str:
    """The name of a chain, known to the loader from now on: nothing else makes a name that leads to a site's file."""
    name = CHAIN + base
    for path in paths:
        name = f"{name}\n{path}"
        _LOADER.composed[name] = path
    return name


class _Loader(ShippedLoader):
    """Shipped templates by name, and the chains that this run composed."""

    def __init__(self) -> None:
        self.composed: dict[str, Path] = {}

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, None]:
        if not template.startswith(CHAIN):
            return super().get_source(environment, template)
        path = self.composed.get(template)
        if path is None:
            raise TemplateNotFound(template)
        return read(path), str(path), None


_LOADER = _Loader()


class _SiteEnvironment(ImmutableSandboxedEnvironment):
    """Hands every call and operator over to be looked at and counted."""

    intercepted_binops = frozenset(["+", "*", "**", "%"])

    def join_path(self, template: str, parent: str) -> str:
        """Where a site's file extends the base, it extends what the files before it made of the base."""
        if not parent.startswith(CHAIN):
            return template
        before, _, _ = parent.rpartition("\n")
        base = before.split("\n")[0].removeprefix(CHAIN)
        return before if template == base and before.count("\n") else template

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree: nodes.Template = syntax.Counting().visit(super()._parse(source, name, filename))
        return tree

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        METER.spend(1)
        functions.check_callable(__obj)
        values = [METER.settle(value) for value in args]
        named = {key: METER.settle(value) for key, value in kwargs.items() if key not in _OF_JINJA}
        if getattr(__obj, "__self__", None) is None:
            return super().call(__context, __obj, *values, **named, **{key: kwargs[key] for key in _OF_JINJA & kwargs.keys()})
        return functions.made(functions.call(__obj, values, named))

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        METER.spend(1)
        if operator == "%" and isinstance(left, str):
            return functions.made(functions.percent(left, right))
        functions.operate(operator, left, right)
        result = super().call_binop(context, operator, left, right)
        return number(result) if isinstance(result, int) else result

    def getitem(self, obj: Any, argument: Any) -> Any:
        if isinstance(argument, tuple):
            METER.weigh(argument)  # which is hashed
        return super().getitem(obj, argument)

    def wrap_str_format(self, value: Any) -> Any:
        text = getattr(value, "__self__", None)
        if isinstance(text, str) and getattr(value, "__name__", "") in ("format", "format_map"):
            return functions.TextFormat(self, str(text), value.__name__ == "format_map")
        return None

    def concat(self, parts: Iterable[str]) -> str:
        """The text of a block, a macro or the file; counted while it is printed, so that an error has the line."""
        texts = []
        for part in parts:
            try:
                METER.write(len(part))
            except LimitError as error:
                throw = getattr(parts, "throw", None)
                if throw is not None:
                    throw(error)
                raise
            texts.append(part)
        return "".join(texts)


@cache
def site_environment() -> _SiteEnvironment:
    """One per process. Nothing is worked out while a template is compiled: only what runs is counted."""
    environment = _SiteEnvironment(loader=_LOADER, optimized=False, finalize=_finalized, **SYNTAX)
    environment.globals.clear()
    environment.globals.update(functions.GLOBALS)
    environment.filters.clear()
    environment.filters.update(functions.filters())
    environment.filters |= {
        syntax.WEIGH: _weighed,
        syntax.MADE: functions.made,
        syntax.SPEND: METER.spend,
        syntax.JOINED: _joined,
    }
    environment.tests.clear()
    environment.tests.update(functions.tests())
    return environment


@pass_context  # so that Jinja does not work it out while it compiles
def _finalized(context: Context, value: Any) -> Any:
    printable(value)
    METER.weigh(value)
    return number(value) if isinstance(value, int) else value


def _weighed(value: Any) -> Any:
    return METER.settle(value)


def _joined(values: list[Any]) -> str:
    return functions.join("", values)
