"""Random texts that users read, to judge their wording: `python -m tools.sample SEED [COUNT]`.

The texts are titles and remediations of checks, messages and hints of errors and findings, help of options, and notes.
"""

from __future__ import annotations

import ast
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).parents[1] / "fabric"
ATTRIBUTES = {"title": "title", "remediation": "fix"}  # of a check
KEYWORDS = {"help": "help", "hint": "hint", "message": "message"}
# Functions that report an error, a finding or a note; their text arguments are message and hint.
REPORTING = {"error", "warn", "fail", "note", "Diagnostic", "Finding", "at", "about", "mistake", "UsageError", "InputError"}
NOTES = {"notes", "warnings", "lines"}


class Text(NamedTuple):
    file: str
    line: int
    kind: str
    text: str


def texts() -> Iterator[Text]:
    """Every text of the package, by file and line."""
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE.parent).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for kind, value in _candidates(node):
                text = _text(value)
                if len(text.split()) > 2:
                    yield Text(name, value.lineno, kind, text)


def _candidates(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Expressions that are a text for users, with their kind."""
    if isinstance(node, ast.ClassDef):
        for part in node.body:
            if isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name) and part.targets[0].id in ATTRIBUTES:
                yield ATTRIBUTES[part.targets[0].id], part.value
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in KEYWORDS:
        yield node.targets[0].id, node.value
    elif isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in REPORTING:
            yield from (("message or hint", value) for value in node.args)
        if name == "append" and isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") in NOTES:
            yield from (("note", value) for value in node.args)
        yield from ((KEYWORDS[word.arg], word.value) for word in node.keywords if word.arg in KEYWORDS)


def _text(node: ast.expr) -> str:
    """A string literal, with `{…}` for the expressions of an f-string; "" for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_part(part) for part in node.values)
    return ""


def _part(node: ast.expr) -> str:
    return f"{{{ast.unparse(node.value)}}}" if isinstance(node, ast.FormattedValue) else _text(node)


if __name__ == "__main__":
    seed, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100
    every = sorted(set(texts()))
    print(f"{count} of {len(every)} texts, seed {seed}")
    for n, item in enumerate(sorted(random.Random(seed).sample(every, count)), 1):
        print(f"{n:3} {item.file}:{item.line} [{item.kind}] {item.text}")
