"""Hooks of the documentation site (`mkdocs.yml`, `make site`): pages are those that GitHub shows, the site adds the rest.

* First page: the top of the README, and the five ways in of `docs/README.md`, which as a whole is the page of all pages.
* Navigation: the sections and pages of `docs/README.md`, in its order. A page that is not in it is a warning, which
  `make site` ends with.
* Files outside `docs/` that pages link to: `CONTRIBUTING.md`, `CHANGELOG.md`, and each intent of `intent/` as a page.
* Links whose text is a file name (`[lab.md](lab.md)`, for GitHub) get the title of the page.
* Search: a how-to page counts more than a page with the same words; what the index says of a page finds it as well. The
  first page, the index and the sections `Next` have words of other pages, so they are not searched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from posixpath import basename, dirname, join, normpath, relpath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # tests read the index without the library
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
ASSETS = Path(__file__).parent / "assets"
INDEX, ALL_PAGES, START = "README.md", "pages.md", "index.md"  # in docs/; its name on the site; the first page
WAYS = "Five ways in"
LINK = re.compile(r"(?<!!)\[(?P<text>[^\]\n]*)\]\((?P<target>[^)#:\s]+)(?P<anchor>#[^)\s]*)?\)")
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
OUTSIDE = ("CONTRIBUTING.md", "CHANGELOG.md")
GENERATED = "generated"  # too many files for the site: the page of example intents says how to make them
# The theme's script of the search, minified: what is in it → what it must be, and where to look when it has changed.
SEARCH = {
    # lunr joins equal parts of its tree of words by their letters and the numbers of their nodes, one after the other. With
    # digits among the letters two different parts can have the same key, and a search for a word below them ends with an
    # error. A comma behind each number keeps them apart.
    "e=e+s+o.id": ('e=e+s+o.id+","', "TokenSet.toString of lunr"),
    # Every word of a question is a beginning: `a` finds `actions`. The index has no words such as `a`, so a question needs
    # none of them, unless it has no others. `cables` is no beginning of `cable`, so its ending goes.
    r".split(/\s+/g).reduce(": (
        r".split(/\s+/g).filter((r,n,i)=>i.some(e=>lunr.stopWordFilter(e.toLowerCase()))?"
        "lunr.stopWordFilter(r.toLowerCase()):r)"
        '.map(r=>/^[a-z]{4,}[^s]s$/i.test(r)?r.replace(/(?<=[a-z]{4})ies$|(?<=ch|sh|x|ss)es$|s$/i,""):r).reduce(',
        "what the theme makes of a question",
    ),
}
BOOST = {"howto/": 1.5, "examples/": 0.3, "CHANGELOG.md": 0.1, "releases/": 0.1, "CONTRIBUTING.md": 0.3, "values.md": 0.1}


def parts(text: str, level: str = "##") -> Iterator[tuple[str, str]]:
    """Headings of a level with the text below them."""
    for part in re.split(rf"^{level} ", text, flags=re.MULTILINE)[1:]:
        heading, _, below = part.partition("\n")
        yield heading, below


def targets(text: str) -> list[str]:
    """Pages that a text links to."""
    return [match["target"] for match in LINK.finditer(text) if match["target"].endswith(".md")]


def sections(text: str) -> Iterator[tuple[str, list[str]]]:
    """Headings of the index with the pages below them, without the ways in: their pages are in a section as well."""
    yield from ((heading, targets(below)) for heading, below in parts(text) if heading != WAYS)


def navigation(text: str) -> Iterator[dict[str, Any]]:
    """The same, with the groups of a section."""
    for heading, below in parts(text):
        if heading != WAYS:
            yield {heading: [{group: targets(its)} for group, its in parts(below, "###")] or targets(below)}


def first_page(readme: str, index: str) -> str:
    """The README up to the end of its first section, and the ways in."""
    top = re.match(r".+?^## .+?(?=^## )", readme, re.MULTILINE | re.DOTALL)
    ways = dict(parts(index)).get(WAYS)
    if not top or not ways:
        raise ValueError(f"the first page of the site: expected a section in README.md, and `## {WAYS}` in docs/{INDEX}")
    more = f"[All pages]({INDEX}): one for each question, then guides, reference and explanation."
    ways = ways.rstrip().replace("](#", f"]({INDEX}#")
    shown = re.sub(r"\[([^\]]+)\]\(#[^)]*\)", r"\1", top[0].replace("](docs/", "]("))  # sections that are not here
    return f"{shown}## {WAYS}\n{ways}\n\n{more}\n"


def descriptions(text: str) -> dict[str, str]:
    """What the index says of each page."""
    found = re.findall(r"^\* \[[^\]]+\]\((\S+\.md)\): (.*(?:\n  .*)*)", text, flags=re.MULTILINE)
    return {target: " ".join(words.split()).rstrip(".") for target, words in found}


def examples() -> list[str]:
    """Intents of `intent/`, by name."""
    return sorted(path.stem for path in (ROOT / "intent").glob("*.yaml"))


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """The navigation."""
    rest = [{"Example intents": [f"examples/{name}.md" for name in examples()]}, {"Project": list(OUTSIDE)}]
    config.nav = [START, {"All pages": ALL_PAGES}, *navigation(_index(config)), *rest]
    # In place of the script of another host that the plugin `offline` would add: see the file.
    config.extra["polyfills"] = ["assets/file-worker.js?iframe-worker"]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the first page and those from outside `docs/`; the index is no folder's first page."""
    from mkdocs.structure.files import File

    index = files.get_file_from_path(INDEX)
    assert index
    files.remove(index)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    files.append(File.generated(config, ALL_PAGES, content=_index(config)))
    files.append(File.generated(config, START, content=first_page(readme, _index(config))))
    for name in OUTSIDE:
        files.append(File.generated(config, name, content=(ROOT / name).read_text(encoding="utf-8")))
    for path in sorted(ASSETS.iterdir()):
        files.append(File.generated(config, f"assets/{path.name}", content=path.read_text(encoding="utf-8")))
    for name in examples():
        intent = (ROOT / "intent" / f"{name}.yaml").read_text(encoding="utf-8")
        files.append(File.generated(config, f"examples/{name}.md", content=f"# {name}.yaml\n\n```yaml\n{intent}```\n"))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links of a page, as the site has them."""
    for prefix, boost in BOOST.items():
        if page.file.src_uri.startswith(prefix):
            page.meta.setdefault("search", {})["boost"] = boost
    here = page.file.src_uri
    if words := descriptions(_index(config)).get(here):
        page.meta["tags"] = [words]
    if here in (START, ALL_PAGES):
        page.meta["search"] = {"exclude": True}
    if here == START:
        page.meta["hide"] = ["navigation", "toc"]
    elif here.startswith("howto/"):
        page.meta["hide"] = ["toc"]  # they are one screen; their output needs the width
    text, last = "", 0
    for fence in FENCED.finditer(markdown):
        text += LINK.sub(lambda match: _link(match, here, files), markdown[last : fence.start()]) + fence[0]
        last = fence.end()
    return text + LINK.sub(lambda match: _link(match, here, files), markdown[last:])


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Leaves the sections `Next` out of the search."""
    return html.replace('<h2 id="next">', '<h2 id="next" data-search-exclude>')


def _index(config: MkDocsConfig) -> str:
    return (Path(config.docs_dir) / INDEX).read_text(encoding="utf-8")


def _link(match: re.Match[str], here: str, files: Files) -> str:
    text, target, anchor = match["text"], match["target"], match["anchor"] or ""
    place = _place(normpath(join(dirname("" if here in OUTSIDE else f"docs/{here}") or ".", target)))
    if place is None:
        return text
    file = files.get_file_from_path(place)
    if file and text.endswith(basename(target)):
        text = _title(file.content_string) or text
    return f"[{text}]({relpath(place, dirname(here) or '.')}{anchor})"


def _place(path: str) -> str | None:
    """Path in the site of a file of the repository; None for what the site has not."""
    if path in ("docs", f"docs/{INDEX}"):
        return ALL_PAGES
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if path.startswith("intent/") and path.endswith(".yaml"):
        return f"examples/{path.removeprefix('intent/').removesuffix('.yaml')}.md"
    if path == "README.md":
        return START
    return path if path in OUTSIDE else None


def _title(markdown: str) -> str:
    found = re.search(r"^# (.+)$", markdown, re.MULTILINE)
    return found[1] if found else ""


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """The dialog of the search gets a name, for screen readers."""
    dialog = 'data-md-component="search" role="dialog"'
    return output.replace(dialog, f'{dialog} aria-label="Search"')


def on_post_build(config: MkDocsConfig) -> None:
    """Corrects the search."""
    from mkdocs.exceptions import PluginError

    (worker,) = Path(config.site_dir).glob("assets/javascripts/workers/search.*.min.js")
    text = worker.read_text(encoding="utf-8")
    for old, (new, where) in SEARCH.items():
        if text.count(old) != 1:
            raise PluginError(f"{worker.name}: expected {old} once: look at {where}")
        text = text.replace(old, new)
    worker.write_text(text, encoding="utf-8")
