"""A site's own templates: looked at before they run, counted where work is repeated, and printed in a sandbox."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, TemplateNotFound, TemplateSyntaxError, nodes, pass_context
from jinja2.exceptions import SecurityError
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

from fabric.base.diagnostics import nearest, one_of, show
from fabric.configs.templating import functions
from fabric.configs.templating.functions import FILTER_NAMES, METER, LimitError, number, printable
from fabric.configs.templating.shipped import SYNTAX, ShippedLoader, environment, shipped_templates, template_text

# --- What a template may say ----------------------------------------------------------------------------------

MAX_DEPTH = 100  # of nested expressions and statements

# Names of filters with a blank, which no template can use.
WEIGH, MADE, SPEND, JOINED = "site weigh", "site made", "site spend", "site joined"
_PER_STEP = 8  # nodes of a body that count as one step


@dataclass(frozen=True)
class Problem:
    """What is wrong with a site's template, and in which line of it (0: the whole of it)."""

    line: int
    message: str
    hint: str = ""


def base_of(tree: nodes.Template) -> str | None:
    """The shipped template that a site's extends; None when it extends none, or one by a computed name."""
    found = [node for node in tree.body if isinstance(node, nodes.Extends)]
    name = found[0].template if found else None
    return name.value if isinstance(name, nodes.Const) and name.value in shipped_templates() else None


def problems(tree: nodes.Template) -> Iterator[Problem]:
    """What a site's template may not say: on top of one shipped template and its blocks, with shipped parts alone."""
    if _too_deep(tree):
        yield Problem(0, f"expected at most {MAX_DEPTH} levels of expressions and blocks in each other, got more")
        return
    yield from _extends(tree)
    yield from _loads(tree)
    for loop in tree.find_all(nodes.For):
        if loop.recursive:
            yield Problem(loop.lineno, "expected a loop over a list, got a recursive one", "write a macro")
    for node in tree.find_all(nodes.Filter):
        if node.name not in FILTER_NAMES:
            yield Problem(node.lineno, f"no filter '{node.name}' for a site's template", nearest(node.name, FILTER_NAMES))
    if base := base_of(tree):
        yield from _unknown_blocks(tree, base)


def _too_deep(tree: nodes.Node) -> bool:
    level: Sequence[nodes.Node] = [tree]
    for _ in range(MAX_DEPTH):
        level = [child for node in level for child in node.iter_child_nodes()]
        if not level:
            return False
    return True


def _extends(tree: nodes.Template) -> Iterator[Problem]:
    first = "it goes to the first line"
    tags = list(tree.find_all(nodes.Extends))
    shipped = shipped_templates()
    if len(tags) > 1 or (tags and tags[0] not in tree.body):
        yield Problem(tags[-1].lineno, "expected one {% extends … %}, outside of any condition", first)
    elif base_of(tree) is None:
        name = tags[0].template if tags else None
        got = "no such line" if name is None else show(name.value) if isinstance(name, nodes.Const) else "an expression"
        line = tags[0].lineno if tags else 0
        yield Problem(line, f'expected {{% extends "…" %}} of {one_of(shipped)}, got {got}', first)


def _loads(tree: nodes.Template) -> Iterator[Problem]:
    kinds: tuple[Any, ...] = (nodes.Include, nodes.Import, nodes.FromImport)
    for node in (tag for kind in kinds for tag in tree.find_all(kind)):
        name = node.template
        if not isinstance(name, nodes.Const) or name.value not in shipped_templates():
            word = {nodes.Include: "include", nodes.Import: "import"}.get(type(node), "from … import")
            got = show(name.value) if isinstance(name, nodes.Const) else "an expression"
            yield Problem(
                node.lineno,
                f"{word}: expected the name of a shipped template, got {got}",
                "a site's template reads no file but itself; write what it needs into it",
            )


def _unknown_blocks(tree: nodes.Template, base: str) -> Iterator[Problem]:
    blocks = block_names(base)
    own = list(tree.find_all(nodes.Block))
    inner = {block.name for node in own for block in node.find_all(nodes.Block)}
    for block in own:
        if block.name not in blocks and block.name not in inner:
            yield Problem(block.lineno, f"expected a block of {base}, got '{block.name}'", nearest(block.name, blocks))


@cache
def block_names(template: str) -> frozenset[str]:
    """Names of the blocks of a shipped template, and of those that it extends."""
    tree = environment().parse(template_text(template))
    names = frozenset(block.name for block in tree.find_all(nodes.Block))
    base = base_of(tree)
    return names | block_names(base) if base else names


class Counting(NodeTransformer):
    """Puts a counter wherever a template repeats, compares or builds: Jinja itself hands over calls and operators only."""

    def visit_For(self, node: nodes.For) -> nodes.For:
        self.generic_visit(node)
        node.iter = _counted(node.iter, WEIGH)
        node.body = _measured(node.body)
        return node

    def _body(self, node: nodes.Macro | nodes.CallBlock | nodes.Block | nodes.Template) -> nodes.Node:
        self.generic_visit(node)
        node.body = _measured(node.body)
        return node

    visit_Macro = visit_CallBlock = visit_Block = visit_Template = _body

    def visit_Compare(self, node: nodes.Compare) -> nodes.Compare:
        self.generic_visit(node)
        sides: list[nodes.Compare | nodes.Operand] = [node, *node.ops]
        for side in sides:
            if not isinstance(side.expr, nodes.Const):
                side.expr = _counted(side.expr, WEIGH)
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        self.generic_visit(node)
        return _counted(nodes.List(node.nodes, lineno=node.lineno), JOINED)

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Node:
        self.generic_visit(node)
        return _counted(node, MADE) if isinstance(node.arg, nodes.Slice) else node

    def _built(self, node: nodes.List | nodes.Tuple | nodes.Dict) -> nodes.Node:
        self.generic_visit(node)
        return node if getattr(node, "ctx", "load") != "load" else _counted(node, WEIGH)

    visit_List = visit_Tuple = visit_Dict = _built


def _counted(node: nodes.Node, name: str) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


def _measured(body: list[nodes.Node]) -> list[nodes.Node]:
    """The body, begun by what one run of it costs."""
    size, waiting = 0, list(body)
    while waiting:
        node = waiting.pop()
        size += 1
        if not isinstance(node, (nodes.For, nodes.Macro, nodes.CallBlock, nodes.Block)):  # these count their own steps
            waiting += node.iter_child_nodes()
    line = body[0].lineno if body else 0
    steps = nodes.Const(1 + size // _PER_STEP, lineno=line)
    return [nodes.ExprStmt(_counted(steps, SPEND), lineno=line), *body]


# --- The sandbox ----------------------------------------------------------------------------------------------

CHAIN = "site:"  # prefix of the name of an overridden template; the files follow, the newest last
MAX_BYTES = 2_097_152  # of one template of a site: an import writes what a switch has beside the plan into one


_OF_JINJA = frozenset(["_block_vars", "_loop_vars"])  # passed by compiled templates in addition to their arguments
# Characters that text files of switches do not contain. Allowed are tabs, and the line feed that Jinja makes of line ends.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class SiteTemplateError(ValueError):
    """A file that is no template of a site: `problems` says why."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = tuple(problems)


def read(path: Path) -> str:
    """The text of a site's template. Raises OSError, SiteTemplateError for one that is too large or no UTF-8 text."""
    with path.open("rb") as stream:
        data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise SiteTemplateError([Problem(0, f"expected a file of at most {MAX_BYTES:,} bytes, got more")])
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SiteTemplateError([Problem(line, f"expected UTF-8 text, got the byte 0x{data[error.start]:02x}")]) from None


def check(path: Path) -> str:
    """The shipped template that a site's file extends, the file being in order. Raises OSError, SiteTemplateError."""
    text = read(path)
    try:
        tree = environment().parse(text)
        wrong = list(problems(tree))
        if not wrong:
            site_environment().compile(text, str(path), str(path))
    except TemplateSyntaxError as error:
        raise SiteTemplateError([Problem(error.lineno, f"not a Jinja template: {one_line(error)}")]) from error
    except (RecursionError, MemoryError, SyntaxError) as error:
        deep = "not a Jinja template that can be run: its expressions or blocks are nested too deep"
        raise SiteTemplateError([Problem(0, deep)]) from error
    except (ValueError, OverflowError) as error:  # a number with thousands of digits
        raise SiteTemplateError([Problem(0, f"not a Jinja template: {one_line(error)}")]) from error
    if wrong:
        raise SiteTemplateError(wrong)
    base = base_of(tree)
    assert base is not None  # without a base there is a problem
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
        tree: nodes.Template = Counting().visit(super()._parse(source, name, filename))
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
    environment.filters |= {WEIGH: _weighed, MADE: functions.made, SPEND: METER.spend, JOINED: _joined}
    environment.tests.clear()
    environment.tests.update(functions.tests())
    return environment


@pass_context  # prevents evaluation at compile time
def _finalized(context: Context, value: Any) -> Any:
    printable(value)
    METER.weigh(value)
    return number(value) if isinstance(value, int) else value


def _weighed(value: Any) -> Any:
    return METER.settle(value)


def _joined(values: list[Any]) -> str:
    return functions.join("", values)
