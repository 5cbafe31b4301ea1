"""The output folder `generated/<site>/`: written whole or not at all, and only where it is ours.

Which files are ours stands in the folder's manifest. A run stages its files in a journal, commits, and
then only renames; a run killed at any moment is finished or rolled back by the next. A power cut is
weaker: staged content is not synced file by file, so a damaged one is found by its sha256 and reported.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
