"""What each `--json` prints: a JSON Schema (2020-12) a document, by the name of its command.

The last part of `$id` is the version. A new key that is optional keeps it, anything else that a reader may notice does not.
"""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).parent
INPUTS = ("job",)  # input files beside intents that have a schema, which `pipeline.schema` makes of their models


def names() -> list[str]:
    return sorted(path.stem for path in HERE.glob("*.json"))


def text(name: str) -> str:
    """The schema as it is committed."""
    return (HERE / f"{name}.json").read_text(encoding="utf-8")
