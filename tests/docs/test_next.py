"""Every page leads on: its last section is `Next`. What generates a page is stated where no reader begins."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import ROOT
from tools.docs.ending import ending
from tools.docs.site import INDEX, WAYS, first_page, parts, sections, targets

DOCS = ROOT / "docs"
PAGES = [path for path in sorted(DOCS.rglob("*.md")) if path != DOCS / INDEX]  # which is itself a list of pages
STEP = re.compile(r"\* \[[^\]]+\]\((?P<target>[^)#\s]+)(?:#[\w-]+)?\): \S.*\.")
GENERATED = re.compile(r"(?:generated|written|made|printed) (?:by|from)\b.*`(?:make|python)\b|do not edit", re.IGNORECASE)
FIRST = 12  # lines


def broken(text: str, folder: Path) -> list[str]:
    """What the last section of a page lacks. Anchors of its links are tested with those of the site."""
    heading, below = list(parts(re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)))[-1]
    if heading != "Next":
        return [f"the last section is {heading!r}"]
    rows = [line for line in re.sub(r"<!--.*?-->", "", below, flags=re.DOTALL).split("\n") if line]
    found = [STEP.fullmatch(row) for row in rows]
    wrong = [row for row, match in zip(rows, found, strict=True) if not (match and (folder / match["target"]).exists())]
    return wrong if 1 <= len(rows) <= 3 else [*wrong, f"{len(rows)} links"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_a_page_ends_with_where_to_go_next(page: Path) -> None:
    assert broken(page.read_text(encoding="utf-8"), page.parent) == []


def test_pages_without_it_are_found() -> None:
    assert broken("# A\n\n## B\n", DOCS) == ["the last section is 'B'"]
    assert broken("# A\n\n## Next\n", DOCS) == ["0 links"]
    row = "* [a](nowhere.md): a reason."
    assert broken(f"# A\n\n## Next\n\n{row}\n", DOCS) == [row]
    assert broken("# A\n\n" + ending("make docs", "[a](cli.md): a reason."), DOCS) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_a_page_does_not_begin_with_how_it_is_made(page: Path) -> None:
    lines = page.read_text(encoding="utf-8").split("\n")
    assert [line for line in lines[:FIRST] if GENERATED.search(line)] == []


def test_the_first_page_has_five_ways_in() -> None:
    readme, index = ((path / "README.md").read_text(encoding="utf-8") for path in (ROOT, DOCS))
    page = first_page(readme, index)
    assert page.startswith("\n\n".join(readme.split("\n\n")[:2]))
    assert [part for part in ("![", "```yaml", "```console") if part not in page] == []
    ways = dict(parts(dict(parts(page))[WAYS], "###"))
    assert len(ways) == 5
    listed = {name for _, names in sections(index) for name in names}
    for way, below in ways.items():
        steps = re.findall(r"^(\d+)\. ", below, re.MULTILINE)
        assert steps == [str(number) for number in range(1, len(steps) + 1)], way
        assert 3 <= len(steps) <= 7, way
        assert set(targets(below)) <= {*listed, INDEX}, way
    assert len(targets(page)) < 60  # the index has all


def test_the_index_begins_with_the_ways_in() -> None:
    index = (DOCS / INDEX).read_text(encoding="utf-8")
    assert next(parts(index))[0] == WAYS


@pytest.mark.parametrize("readme", ["# a\n\ntext\n", "# a\n\n## b\n\ntext\n"])
def test_a_readme_without_a_section_is_refused(readme: str) -> None:
    with pytest.raises(ValueError, match="the first page of the site"):
        first_page(readme, (DOCS / INDEX).read_text(encoding="utf-8"))
