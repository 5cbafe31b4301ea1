"""What a site's template may say: looked at before it runs, and counting put into it where work is repeated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import nodes
from jinja2.visitor import NodeTransformer

from fabric.base.diagnostics import nearest, one_of, show
from fabric.configs.templating.functions import FILTER_NAMES
from fabric.configs.templating.shipped import environment, shipped_templates, template_text

MAX_DEPTH = 100  # of expressions and statements in each other

# Filters that no template can name: they have a blank in it.
WEIGH, MADE, SPEND, JOINED = "site weigh", "site made", "site spend", "site joined"
_PER_STEP = 8  # nodes of a body that are run in one step


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
    blocks = _blocks(base)
    own = list(tree.find_all(nodes.Block))
    inner = {block.name for node in own for block in node.find_all(nodes.Block)}
    for block in own:
        if block.name not in blocks and block.name not in inner:
            yield Problem(block.lineno, f"expected a block of {base}, got '{block.name}'", nearest(block.name, blocks))


@cache
def _blocks(template: str) -> frozenset[str]:
    """Names of the blocks of a shipped template, and of those that it extends."""
    tree = environment().parse(template_text(template))
    names = frozenset(block.name for block in tree.find_all(nodes.Block))
    base = base_of(tree)
    return names | _blocks(base) if base else names


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
        if not isinstance(node, (nodes.For, nodes.Macro, nodes.CallBlock, nodes.Block)):  # these count themselves
            waiting += node.iter_child_nodes()
    line = body[0].lineno if body else 0
    steps = nodes.Const(1 + size // _PER_STEP, lineno=line)
    return [nodes.ExprStmt(_counted(steps, SPEND), lineno=line), *body]
