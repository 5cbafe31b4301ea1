"""YAML as Prometheus and Alertmanager read it; texts of several lines stay readable."""

from __future__ import annotations

import re
from typing import Any

import yaml


class _Dumper(yaml.SafeDumper):
    """Long texts as blocks, no anchors: a person reviews these files."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    block = "\n" in text and all(line == line.rstrip() and line.isprintable() for line in text.split("\n"))
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if block else None)


_Dumper.add_representer(str, _text)


def document(data: object, head: str = "") -> str:
    """A document under a comment of one or several lines."""
    comment = "".join(f"# {line}\n" for line in head.split("\n")) if head else ""
    return comment + yaml.dump(data, Dumper=_Dumper, sort_keys=False, width=126, allow_unicode=True)


def file_name(text: str) -> str:
    """A name that stays in its folder; names of an intent are such names already."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", text).lstrip(".") or "_"
