"""The words of the glossary's table "Words not to use" stand nowhere: not in messages, hints, help, docstrings, comments,
identifiers, file names, docs, templates or alerts. `python -m tests.system.test_words [FOLDER]…` prints the lines.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

import pytest

from tests import ROOT

GLOSSARY = "docs/glossary.md"
ROOTS = ("fabric", "tools", "tests", "docs", "templates", "intent", ".ci", "*.md", "*.toml", "*.yml", "*.yaml", "Makefile")
SUFFIXES = {"", ".css", ".html", ".j2", ".js", ".json", ".md", ".py", ".pyi", ".toml", ".txt", ".yaml", ".yml"}
# Output of the program, which its source answers for, and files that others wrote.
LEFT_OUT = ("tests/golden/", "tests/reference/")

# Names of other people's formats and terms of the trade that contain one of the words.
TERMS = [
    "box-sizing",  # CSS
    "border-box",  # CSS
    "viewBox",  # SVG
    "MediaBox",  # PDF
    "stationBox",  # draw.io
    "shape=box",  # Graphviz
    "gear_box",
    "bounding box",
    "getBBox",  # SVG
    "Net_Box",  # NetBox, split
]

DRAWING = "rectangles of a drawing"
# File or folder → the words that may stand there, and why.
EXCEPTIONS: dict[str, tuple[set[str], str]] = {
    "tests/system/test_words.py": ({"*"}, "this table"),
    "fabric/base/formats/svg.py": ({"box", "boxes"}, DRAWING),
    "fabric/base/formats/__init__.pyi": ({"box"}, DRAWING),
    "fabric/deliver/export/drawio.py": ({"box"}, DRAWING),
    "fabric/deliver/export/pictures/": ({"box"}, DRAWING),
    "fabric/deliver/explore/picture.py": ({"box"}, DRAWING),
    "fabric/deliver/export/graphs.py": ({"box", "boxes"}, DRAWING),
    "fabric/deliver/report/app/style.css": ({"box"}, DRAWING),
    "fabric/deliver/report/app/40_drawing.js": ({"box", "boxes"}, DRAWING),
    "fabric/deliver/report/app/50_schematic.js": ({"box"}, DRAWING),
    "fabric/deliver/report/app/53_load_map.js": ({"box"}, DRAWING),
    "fabric/deliver/report/app/55_pod_picture.js": ({"box"}, DRAWING),
    "fabric/deliver/report/app/57_ladder.js": ({"box"}, DRAWING),
    "fabric/deliver/report/hardware.py": ({"box"}, DRAWING),
    "tests/deliver/export/test_svg.py": ({"box", "boxes"}, DRAWING),
    "tests/docs/public_questions.yaml": ({"box"}, "words of the people who asked"),
}


class Place(NamedTuple):
    file: str
    line: int  # 0: the name of the file
    word: str
    text: str


def words_not_to_use(glossary: str) -> list[str]:
    """First column of the table below "Words not to use": words and phrases, with commas between them."""
    _, _, section = glossary.partition("## Words not to use")
    rows = re.findall(r"^\| ([^|]+) \| [^|]+ \|$", section.partition("\n## ")[0], re.MULTILINE)
    return [word.strip() for row in rows[1:] for word in row.split(",")]


def compiled(words: Sequence[str]) -> re.Pattern[str]:
    """Finds the words, longest first: in prose, across the lines of a comment or a string, and as parts of identifiers."""
    gap = r"""(?:[\s_#*>"'-]|(?<=\s)[fr](?="))+"""
    spelled = (gap.join(map(re.escape, word.split())) for word in sorted(words, key=len, reverse=True))
    return re.compile(rf"(?<![A-Za-z])(?:{'|'.join(spelled)})(?![A-Za-z])", re.IGNORECASE)


@cache
def pattern() -> tuple[re.Pattern[str], frozenset[str]]:
    """What finds the words, and the first letters up to a gap of each."""
    words = words_not_to_use((ROOT / GLOSSARY).read_text(encoding="utf-8"))
    return compiled(words), frozenset(re.match("[a-z]+", word.lower())[0] for word in words)  # type: ignore[index]


def matches(text: str) -> Iterator[re.Match[str]]:
    """The words in a text, sought only where a word of the text is the first of one: a text has many, and few are."""
    words, first = pattern()
    end = 0
    for run in re.finditer("[A-Za-z]+", text):
        if run[0].lower() in first and run.start() >= end and (match := words.match(text, run.start())):
            end = match.end()
            yield match


def split(text: str) -> str:
    """`viewBox` as `view_Box`, `BOXSize` as `BOX_Size`; lines stay."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", text)


TERMS_SPLIT = re.compile("|".join(re.escape(split(term)) for term in TERMS), re.IGNORECASE)


def without_terms(text: str) -> str:
    return TERMS_SPLIT.sub(lambda term: re.sub(r"[^\n]", " ", term[0]), split(text))


def without_tables(glossary: str) -> str:
    """The glossary without what it names as not to use: the last column of the terms, the first of the last table."""
    terms, head, rest = glossary.partition("## Words not to use")
    table, next_head, names = rest.partition("\n## ")
    blank = re.compile(r"^(\|.*\|)[^|\n]*\|$", re.MULTILINE)
    written = re.sub(r"^\|[^|\n]*", "", table, flags=re.MULTILINE)
    return blank.sub(r"\1", terms) + head + written + next_head + blank.sub(r"\1", names)


def files() -> Iterator[str]:
    for root in ROOTS:
        for path in ROOT.glob(root):
            inside = path.rglob("*") if path.is_dir() else [path]
            names = (file.relative_to(ROOT).as_posix() for file in inside if file.is_file() and file.suffix in SUFFIXES)
            yield from sorted(name for name in names if not name.startswith(LEFT_OUT))


def places_in(file: str, text: str) -> Iterator[Place]:
    allowed: set[str] = set()
    for place, (words, _) in EXCEPTIONS.items():
        if file == place or (place.endswith("/") and file.startswith(place)):
            allowed |= words
    if "*" in allowed:
        return
    plain = without_terms(without_tables(text) if file == GLOSSARY else text)
    lines = text.splitlines()
    named = [(0, match, file) for match in matches(split(file))]
    inside = [(plain.count("\n", 0, match.start()) + 1, match, "") for match in matches(plain)]
    for line, match, shown in [*named, *inside]:
        word = " ".join(part for part in re.split(r"[^a-z]+", match[0].lower()) if part not in {"f", "r"})
        if word not in allowed:
            yield Place(file, line, word, shown or lines[line - 1].strip())


@cache
def remaining() -> list[Place]:
    texts = ((file, (ROOT / file).read_text(encoding="utf-8", errors="replace")) for file in files())
    return [place for file, text in texts for place in places_in(file, text)]


def test_no_word_not_to_use_remains() -> None:
    places = [f"{place.file}:{place.line}: {place.word}" for place in sorted(remaining())]
    assert not places, "docs/glossary.md has the word to use; `python -m tests.system.test_words` prints the lines"


def test_every_exception_is_needed() -> None:
    every = list(files())
    for place in EXCEPTIONS:
        inside = [file for file in every if file == place or (place.endswith("/") and file.startswith(place))]
        assert any(any(matches(without_terms((ROOT / file).read_text(encoding="utf-8")))) for file in inside), place


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def box_of(x): ...", ["box"]),
        ("class AttachedBoxes:", ["boxes"]),
        ("unless told\n    # otherwise", ["unless told otherwise"]),
        ('"plan the "\n    f"fabric again"', ["plan the fabric again"]),
        ("wayOut, way_out, WAYS-OUT", ["way out", "way out", "ways out"]),
        ('<svg viewBox="0 0 1 1"> NetBox, netbox, sandbox, gearbox', []),
        ("amended, unsaid", []),
    ],
)
def test_words_are_found(text: str, words: list[str]) -> None:
    assert [place.word for place in places_in("x.py", text)] == words


def test_the_glossary_may_name_them() -> None:
    text = "| a | b | box |\n\nA box.\n\n## Words not to use\n\n| not | write |\n|---|---|\n| box | x |\n"
    assert [place.line for place in places_in(GLOSSARY, text)] == [3]


if __name__ == "__main__":
    folders = tuple(sys.argv[1:]) or ("",)
    shown = [place for place in remaining() if place.file.startswith(folders)]
    for place in sorted(shown):
        print(f"{place.file}:{place.line}: {place.word}: {place.text}")
