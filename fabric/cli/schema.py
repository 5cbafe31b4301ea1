"""`fabric schema`: the JSON Schema of the intent language."""

from __future__ import annotations

import sys


def schema() -> None:
    """Print the JSON Schema of the intent language, for editors."""
    from fabric.intent.schema import text

    sys.stdout.write(text())
