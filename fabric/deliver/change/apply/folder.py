"""The folder of a change: what it was planned from, and its files against those of the same change planned again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from fabric.base.diagnostics import Diagnostic, InputError, Place, Report
from fabric.base.reading import text_of
from fabric.base.text import listed, plural
from fabric.deliver.change.apply.moments import Stage
from fabric.deliver.change.files import IMAGE, REQUEST, digest, is_typed, place
from fabric.deliver.change.records import Asked, Change
from fabric.nos.change import procedure
from fabric.nos.target import target

NO_CHANGE, EDITED, UNSUPPORTED, SECRETS = "FAB550", "FAB551", "FAB556", "FAB555"
SECRET = re.compile(r"\$\{([A-Z][A-Z0-9_]*)\}")
MAX_NAMED = 3


@dataclass(frozen=True, eq=False, kw_only=True)
class Work:
    """A change that is carried out.

    Attributes:
        folder: of its files, and of its journal.
        texts: path → text of these files.
        secrets: name → value, for the references in the files.
        change: SHA-256 of the change.
    """

    folder: Path
    site: str
    title: str
    stages: Sequence[Stage]
    texts: Mapping[str, str]
    secrets: Mapping[str, str]
    change: str

    def lines(self, wave: int, device: str, nos: str, name: str) -> list[str]:
        """What is typed, with secrets; none where the switch has no such file in the wave."""
        how = procedure(nos) if nos else None
        text = self.texts.get(place(wave, device, name, how), "") if how is not None else ""
        return self.filled(text.splitlines())

    def filled(self, lines: Sequence[str]) -> list[str]:
        """Lines with the secrets that they refer to."""
        return [SECRET.sub(lambda match: self.secrets.get(match[1], match[0]), line) for line in lines]

    def shown(self, text: str) -> str:
        """A text without secrets, for a person and the journal."""
        for name, value in self.secrets.items():
            text = text.replace(value, f"${{{name}}}")
        return text


def asked_of(folder: Path) -> Asked:
    """What the change of a folder was planned from. Raises InputError."""
    file = folder / REQUEST
    hint = "write the folder with `fabric change … --files FOLDER`"
    if not folder.is_dir() or not file.is_file():
        what = f"no {REQUEST} in it" if folder.is_dir() else "no such folder"
        raise InputError([Diagnostic(NO_CHANGE, Place(str(folder)), f"expected the folder of a change, got {what}", hint)])
    try:
        return TypeAdapter(Asked).validate_json(text_of(file, "request of a change"))
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"])) or "the file"
        message = f"{where}: {error.errors()[0]['msg'].lower()}"
        raise InputError([Diagnostic(NO_CHANGE, Place(str(file)), message, hint)]) from error


def texts_of(folder: Path, files: Mapping[str, str], asked: Asked, change: Change) -> dict[str, str]:
    """The files of a folder, which are those of the change planned again; names of images are filled in.

    Raises:
        InputError: a file was edited, is missing or is not of the change; a name of an image is not filled in.
    """
    wanted = {path: text for path, text in files.items() if path.startswith("wave-")}
    found = dict(_found(folder))
    other = [path for path in sorted({*wanted, *found}) if not _same(wanted.get(path), found.get(path))]
    report = Report()
    hint = f"plan it again: `{again(asked, folder)}`; with a journal, finish the change with the files it began with"
    if other:
        which = f"{plural(len(other), 'file')} ({listed(other, MAX_NAMED)})"
        message = f"expected the files of the change as it is planned now, got other ones: {which}"
        report.error(EDITED, Place(str(folder)), message, hint)
    elif digest(change) != asked.waves:
        report.error(
            EDITED, Place(str(folder)), "expected the waves that were planned, got others from the same request", hint
        )
    for path in sorted(wanted):
        if path in found and is_typed(path) and (names := [name for name in IMAGE.values() if _has(found[path], name)]):
            message = f"expected the name of an image, got {' and '.join(names)}"
            report.error(UNSUPPORTED, Place(str(folder / path)), message, "put in what the image is called on the switch")
    report.raise_errors()
    return found


def _found(folder: Path) -> Iterator[tuple[str, str]]:
    for file in sorted(folder.glob("wave-*/**/*")):
        if file.is_file():
            yield file.relative_to(folder).as_posix(), text_of(file, "file of a change")


def _has(text: str, name: str) -> bool:
    return re.search(rf"\b{name}\b", text) is not None


def _same(wanted: str | None, found: str | None) -> bool:
    """Whether a file is as planned; the name of an image may be anything that is one word."""
    if wanted is None or found is None or wanted == found:
        return wanted == found
    pattern = re.escape(wanted)
    for name in IMAGE.values():
        pattern = re.sub(rf"\b{name}\b", lambda _: r"[\w./:+~@%-]+", pattern)
    return re.fullmatch(pattern, found) is not None


def again(asked: Asked, folder: Path) -> str:
    """The command that plans a change."""
    words = ["fabric change", asked.old, *([asked.action, *asked.names] if asked.action else [asked.new])]
    request = asked.request
    words += [f"--floor {request.floor:g}"] if request.floor != 0.9 else []
    words += [f"--fabric {request.fabric}"] if request.fabric else []
    words += [f"--planes-active {request.planes_active}"] if request.planes_active else []
    return " ".join((*words, f"--files {folder}"))


def secrets_of(texts: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """The secrets that typed files refer to. Raises InputError for those that the environment does not have."""
    names = sorted({name for path, text in texts.items() if is_typed(path) for name in SECRET.findall(text)})
    report = Report()
    if missing := [name for name in names if not environment.get(name)]:
        message = f"expected the secrets that the files refer to in the environment, got no {listed(missing, MAX_NAMED)}"
        report.error(SECRETS, Place("environment"), message, f"export {missing[0]}=…, where no history keeps it")
    report.raise_errors()
    return {name: environment[name] for name in names}


def refuse_unsupported(stages: Sequence[Stage], folder: Path) -> None:
    """Raises InputError for switches whose network OS does not say how it takes a change."""
    tasks = [task for stage in stages for task in stage.wave.tasks]
    report = Report()
    for nos in sorted({task.nos for task in tasks if task.nos and procedure(task.nos) is None}):
        names = [task.device for task in tasks if task.nos == nos]
        message = f"not supported on {target(nos).title}: {listed(names, MAX_NAMED)}"
        report.error(
            UNSUPPORTED, Place(str(folder)), message, "add `change` to the target of this network OS (CONTRIBUTING.md)"
        )
    report.raise_errors()


def refuse_renamed(names: Mapping[str, str], folder: Path) -> None:
    """Raises InputError for switches that get another name: what others say of them changes in several waves."""
    if names:
        some = listed([f"{old} → {new}" for old, new in sorted(names.items())], MAX_NAMED)
        message = f"expected switches that keep their names, got {some}"
        raise InputError([Diagnostic(UNSUPPORTED, Place(str(folder)), message, "carry out the change of names by hand")])


def change_of(texts: Mapping[str, str], asked: Asked) -> str:
    """SHA-256 of a change, of its waves and files."""
    parts = "".join(f"{path}\0{text}\0" for path, text in sorted(texts.items()))
    return sha256(f"{asked.waves}\0{parts}".encode()).hexdigest()
