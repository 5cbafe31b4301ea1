"""The output folder `generated/<site>/`: written whole or not at all, and only where it is ours.

Which files are ours stands in the folder's manifest. A run stages its files in a journal, commits, and
then only renames; a run killed at any moment is finished or rolled back by the next. A power cut is
weaker: staged content is not synced file by file, so a damaged one is found by its sha256 and reported.
"""

from fabric.output.apply import recover
from fabric.output.compare import Comparison, check, diff
from fabric.output.errors import LINE_ENDS, LineEndsError, OutputError
from fabric.output.journal import unfinished
from fabric.output.stage import Staged, stage
from fabric.output.store import Changes, Keep, Store, Transaction

__all__ = [
    "LINE_ENDS",
    "Changes",
    "Comparison",
    "Keep",
    "LineEndsError",
    "OutputError",
    "Staged",
    "Store",
    "Transaction",
    "check",
    "diff",
    "recover",
    "stage",
    "unfinished",
]
