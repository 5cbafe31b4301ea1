"""Tables of lines: what a rule keeps, what is passed, and what is unread."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from fabric.model.facts import Facts, Located
from fabric.nos.reading import read_indented
from fabric.nos.reading.rules import Line, Reading, Rules, add, below, heads_of, keep, known, one_of, put, switch, through
from tests import ROOT


@dataclass
class Part:
    size: Located[int] | None = None


@dataclass
class Subject:
    part: Part = field(default_factory=Part)
    name: Located[str] | None = None
    on: Located[bool] | None = None
    words: list[Located[str]] = field(default_factory=list)
    values: dict[str, Located[str]] = field(default_factory=dict)


def refuse(subject: Subject, line: Line) -> None:
    raise ValueError("expected nothing")


INNER: Rules[Subject] = Rules({r"word(?: (\S+))?": add("words")}, "note")
TABLE: Rules[Subject] = Rules(
    {
        r"name (.+)": keep("name", str.upper),
        r"on": switch("on", True),
        r"no on": switch("on", False),
        r"(?:first|second) (\S+)": add("words"),
        r"value (\S+)": put("values", "key"),
        r"section": below(INNER),
        r"refused": refuse,
        r"(\d+) digits": add("words"),
        rf"way (?:{one_of('in, out')})": known,
        **through("part", {r"size (\d+)": keep("size", int)}),
    },
    "mtu, ip route",
)


def read(text: str, table: Rules[Subject] = TABLE, *, strict: bool = True) -> tuple[Subject, Facts]:
    subject, facts = Subject(), Facts(name="x", nos="x")
    table.over(read_indented(text), [subject], Reading(facts, "file", strict))
    return subject, facts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name a b", Subject(name=Located("A B", 1, "file"))),
        ("on", Subject(on=Located(True, 1, "file"))),
        ("on\nno on", Subject(on=Located(False, 2, "file"))),
        ("first a\nsecond b", Subject(words=[Located("a", 1, "file"), Located("b", 2, "file")])),
        ("value a", Subject(values={"key": Located("a", 1, "file")})),
        ("size 7", Subject(part=Part(Located(7, 1, "file")))),
        ("section\n word a\n word", Subject(words=[Located("a", 2, "file"), Located("", 3, "file")])),
        ("12 digits", Subject(words=[Located("12", 1, "file")])),
        ("no name a", Subject()),
        ("way in", Subject()),
    ],
)
def test_what_a_rule_keeps(text: str, expected: Subject) -> None:
    subject, facts = read(text)
    assert subject == expected
    assert facts.unread == facts.broken == []


@pytest.mark.parametrize(
    ("text", "unread"),
    [
        ("mtu 9000\n below", []),  # a head is passed with everything below it
        ("ip route 1\nip other", ["ip other@2"]),
        ("no mtu\ndefault ip route 1\nno other", ["no other@3"]),
        ("other\n below\n  deeper", ["other@1", "below@2", "deeper@3"]),
        ("on\n below", ["below@2"]),  # a rule that begins no section
        ("section\n note 1\n mtu 9000", ["mtu 9000@3"]),
        ("ons\nnames a\nway up", ["ons@1", "names a@2", "way up@3"]),
    ],
)
def test_what_no_table_knows_is_unread(text: str, unread: list[str]) -> None:
    assert [f"{parsed.value}@{parsed.line}" for parsed in read(text)[1].unread] == unread


def test_a_line_that_cannot_be_read_is_broken() -> None:
    facts = read("on\nrefused\n below")[1]
    assert facts.broken == [Located("refused: expected nothing", 2, "file")]


def test_what_a_table_passes_is_its_choice() -> None:
    everything: Rules[Subject] = Rules({r"on": switch("on", True)}, None)
    subject, facts = read("on\n below\nother\n below", everything, strict=False)
    assert (subject.on, facts.unread) == (Located(True, 1, "file"), [])
    stated: Rules[Subject] = Rules({r"on": switch("on", True)}, "mtu, no mtu", undoing=False)
    assert [parsed.line for parsed in read("no on\nno mtu\nmtu", stated)[1].unread] == [1]
    assert [parsed.line for parsed in read("on\n below\nother\n below", strict=False)[1].unread] == [3]


@pytest.mark.parametrize("path", sorted(ROOT.glob("fabric/nos/*/passed.yaml")), ids=lambda path: path.parent.name)
def test_heads_belong_to_tables(path: Path) -> None:
    modules = [module.read_text() for module in path.parent.glob("read/*.py")]
    for name, heads in heads_of(str(path.parent / "read" / "device.py")).items():
        assert any(f'"{name}"' in module for module in modules)
        assert len(set(heads.split(", "))) == len(heads.split(", "))
