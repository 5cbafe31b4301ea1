"""The one error of this package."""

from collections.abc import Iterator
from contextlib import contextmanager


class OutputError(Exception):
    """The output folder cannot be read or written as asked.

    `message` says what is wrong, `hint` what to do about it (may be empty).
    """

    def __init__(self, message: str, hint: str = "") -> None:
        # Both go to `args`: an error raised in a worker process is pickled from them.
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message


LINE_ENDS = (
    "git changed the line endings to CRLF: `git config core.autocrlf false`, remove the folder, `git checkout -- FOLDER`; "
    "the line `generated/** -text` in .gitattributes prevents this in every checkout"
)


class LineEndsError(OutputError):
    """A generated file has CRLF line ends, as a checkout with `core.autocrlf` makes them."""

    def __init__(self, message: str, hint: str = LINE_ENDS) -> None:
        super().__init__(message, hint)


@contextmanager
def explained(doing: str, hint: str = "") -> Iterator[None]:
    """Turn an operating system's error into an OutputError which says what was being done."""
    try:
        yield
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        raise OutputError(f"cannot {doing}: {error.strerror or error}{where}", hint) from error
