"""`fabric schema`: the JSON Schema of the intent language."""

from __future__ import annotations

from fabric.cli.reports import put
from fabric.intent.schema import text


def schema() -> None:
    """Print the JSON Schema of the intent language, for editors."""
    put(None, text())
