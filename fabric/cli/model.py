"""`fabric model`: the model of collective times against measurements; see `score.py` and `calibrate.py`."""

from __future__ import annotations

import typer

from fabric.cli.calibrate import calibrate
from fabric.cli.score import score

model = typer.Typer(help="Compare estimated times with measured ones; fit the model.", no_args_is_help=True)
model.command("score")(score)
model.command("calibrate")(calibrate)
