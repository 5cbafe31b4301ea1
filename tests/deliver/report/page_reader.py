"""Reads a report the way a browser would, and strictly: every tag that opens closes, in order."""

from __future__ import annotations

import base64
import gzip
import json
import re
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser
from typing import Any

VOID = {"meta", "br", "link", "img", "input", "hr"}


@dataclass
class Page(HTMLParser):
    """A page's tags, its text outside of script and style, and what stands in those."""

    text: str
    tags: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    inside: dict[str, list[str]] = field(default_factory=lambda: {"script": [], "style": []})
    problems: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.feed(self.text)
        self.close()
        self.problems += [f"<{tag}> is not closed" for tag in self.open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if len({name for name, _ in attrs}) < len(attrs):
            self.problems.append(f"<{tag}> has an attribute twice")
        if tag not in VOID:
            self.open.append(tag)
        if tag in self.inside:
            self.inside[tag].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> closes something else")

    def handle_data(self, data: str) -> None:
        where = self.open[-1] if self.open else ""
        if where in self.inside:
            self.inside[where][-1] += data
        elif data.strip():
            self.words.append(data.strip())

    @property
    def messages(self) -> str:
        return "\n".join(self.words)

    @property
    def lines(self) -> str:
        """The words as a person reads them: a line for each row, item, paragraph and heading."""
        body = re.sub(r"<(script|style|title)[ >].*?</\1>", "", self.text, flags=re.DOTALL)
        body = re.sub(r"<pre>.*?</pre>", lambda match: match[0].replace("\n", "<br>"), body, flags=re.DOTALL)
        body = re.sub(r"\s+", " ", body)
        body = re.sub(r"</?(tr|li|p|h[1-6]|dt|caption|summary|figcaption|pre)[^>]*>|<br>", "\n", body)
        body = unescape(re.sub(r"<[^>]+>", "", re.sub(r"</(td|th)><", " | <", body)))
        return "\n".join(line for text in body.splitlines() if (line := text.strip(" |"))) + "\n"

    def values(self, attribute: str) -> list[str]:
        return [attrs[attribute] or "" for _, attrs in self.tags if attribute in attrs]

    @property
    def policy(self) -> str:
        return next(a["content"] or "" for t, a in self.tags if a.get("http-equiv") == "Content-Security-Policy")

    @property
    def data(self) -> dict[str, Any]:
        """The data document, decoded."""
        at = [attrs.get("id") for tag, attrs in self.tags if tag == "script"].index("fabric-data")
        found: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(self.inside["script"][at])))
        return found
