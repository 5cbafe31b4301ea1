"""`fabric schema`: the JSON Schema of the intent language."""

from __future__ import annotations

from fabric.cli.reports import put


def schema() -> None:
    """Print the JSON Schema of the intent language, for editors."""
    from fabric.intent.schema import text

    put(None, text())
