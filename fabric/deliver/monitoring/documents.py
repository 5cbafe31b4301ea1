"""YAML as Prometheus and Alertmanager read it; texts of several lines stay readable."""

from __future__ import annotations

import re

from fabric.base.formats.yaml import dump


def document(data: object, head: str = "") -> str:
    """A document under a comment of one or several lines."""
    return dump(data, head, width=126, allow_unicode=True)


def file_name(text: str) -> str:
    """A name that stays in its folder; names of an intent are such names already."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", text).lstrip(".") or "_"
