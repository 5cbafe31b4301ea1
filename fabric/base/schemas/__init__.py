"""JSON Schemas: models of documents (`models.py`), and what a JOB file may hold."""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).parent / "inputs"


def inputs() -> list[str]:
    """Names of the input files beside intents that have a schema."""
    return sorted(path.stem for path in HERE.glob("*.json"))


def text(name: str) -> str:
    """The schema of an input file as it is committed."""
    return (HERE / f"{name}.json").read_text(encoding="utf-8")
