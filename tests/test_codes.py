"""Codes: each is of one subject and listed, none is given twice, and new ones find room in the range of their subject."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

import pytest

from fabric.audit.checks import Check, ids, of_subject
from fabric.audit.checks.base import every
from fabric.audit.codes import without_check
from fabric.base.diagnostics import SUBJECTS, subject_of
from fabric.model.settings.services import Checks
from tests import ROOT
from tests.test_imports import nodes

CODE = re.compile(r"FAB[0-9]+")
# Subjects of codes without a class.
SUBJECTS_WITHOUT_CHECKS = {"report", "file", "language", "refusal", "remark", "choice", "lab"}
SUBJECTS_WITHOUT_CHECKS |= {"carrying-out", "infiniband", "day-zero"}


def literals() -> Iterator[str]:
    """Every code that stands in the program as a value of its own."""
    for path in (ROOT / "fabric").rglob("*.py"):
        if path.name != "codes.py":
            for node in nodes(path):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and CODE.fullmatch(node.value):
                    yield node.value


def test_every_code_that_is_raised_is_listed() -> None:
    known = without_check().keys() | {check.id for check in every()}
    assert sorted(set(literals()) - known) == []


def test_every_code_that_is_listed_is_raised() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "fabric").rglob("*.py") if path.name != "codes.py")
    assert [code for code in without_check() if code not in text] == []


def test_a_code_is_a_checks_or_a_stages() -> None:
    assert sorted(without_check().keys() & ids(*(subject.name for subject in SUBJECTS if subject.has_checks))) == []
    assert list(without_check()) == sorted(without_check())
    assert {subject.name for code in without_check() if (subject := subject_of(code))} == SUBJECTS_WITHOUT_CHECKS


def test_ranges_do_not_overlap() -> None:
    ends = [end for subject in SUBJECTS for end in (subject.first, subject.last)]
    assert ends == sorted(ends)
    assert all(before.last < after.first for before, after in pairwise(SUBJECTS))


@pytest.mark.parametrize(
    ("code", "name"),
    [
        *(("FAB201", "design"), ("FAB249", "design"), ("FAB2010", "design"), ("FAB2499", "design"), ("FAB250", "files")),
        *(("FAB350", "state"), ("FAB400", "choice"), ("FAB440", "choice")),
        *(("FAB2500", "files"), ("FAB20", None), ("FAB20100", None), ("fab201", None), ("FAB201x", None)),
    ],
)
def test_the_subject_of_a_code(code: str, name: str | None) -> None:
    subject = subject_of(code)
    assert (subject.name if subject else None) == name


def test_a_code_outside_of_its_subject_is_refused() -> None:
    design = of_subject("design")[0]
    with pytest.raises(TypeError, match="Stray: expected a code of the subject 'design', got FAB299"):
        type("Stray", (design,), {"id": "FAB299", "__doc__": "What.\n\nWhy."})
    with pytest.raises(TypeError, match="Twice: FAB201 is the id of AsNumbers"):
        type("Twice", (design,), {"id": "FAB201", "__doc__": "What.\n\nWhy."})
    with pytest.raises(TypeError, match="Bare: expected title, severity, example, remediation, and a docstring"):
        type("Bare", (Check,), {"id": "FAB2011", "__doc__": "What.\n\nWhy."})


def test_a_four_digit_code_can_be_silenced() -> None:
    assert Checks(silence={"FAB2010": "why"}).silence == {"FAB2010": "why"}
