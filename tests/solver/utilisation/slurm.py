"""Output of `sacct --json` in the forms of its data parsers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any


def slurm(rows: Sequence[tuple[int, int, int]], objects: bool = False, model: str = "h100") -> str:
    """Jobs as (GPUs, submission in seconds, elapsed seconds); `objects`: numbers as {set, infinite, number}."""
    return json.dumps({"meta": {"Slurm": {"release": "23.11.4"}}, "jobs": [job(*row, objects, model) for row in rows]})


def job(gpus: int, submit: int, elapsed: int, objects: bool = False, model: str = "h100") -> dict[str, Any]:
    def number(value: int) -> Any:
        return {"set": True, "infinite": False, "number": value} if objects else value

    start = 1_700_000_000 + submit
    tres = [
        {"type": "cpu", "name": "", "id": 1, "count": 16 * gpus},
        {"type": "gres", "name": "gpu", "id": 1001, "count": gpus},
        {"type": "gres", "name": f"gpu:{model}", "id": 1002, "count": gpus},
    ]
    return {
        "job_id": 1000 + submit,
        "partition": "train",
        "state": {"current": ["COMPLETED"], "reason": "None"},
        "time": {"submission": number(start), "start": number(start + 5), "end": number(start + elapsed), "elapsed": elapsed},
        "tres": {"allocated": tres, "requested": tres},
        "steps": [{"tres": {"allocated": tres}}],
    }
