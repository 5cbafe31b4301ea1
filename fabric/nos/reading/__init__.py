"""What the configurations of devices say, read back from their files: facts with lines, whatever the network OS.

    files of a folder ──recognize──▶ files of each device ──one reader a network OS──▶ Facts

Nothing here knows a plan or a template: a reader takes what the syntax allows, whatever program wrote the file.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
