"""What an import reads: folders of configs, LLDP output and topology files, workbooks and inventories, as one survey."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fabric.audit.checks import Network, Scope, named_folder
from fabric.base.diagnostics import Diagnostic, InputError, Place, nearest, show
from fabric.deliver.brownfield.drafted import Drafted, drafted
from fabric.deliver.brownfield.sources.inventory import read_site
from fabric.deliver.brownfield.sources.topology import lldp_wires, wires_of
from fabric.deliver.brownfield.sources.workbook import read_workbook
from fabric.deliver.brownfield.survey.records import Survey
from fabric.deliver.brownfield.survey.site import survey, survey_of
from fabric.hardware import catalog
from fabric.model.settings.base import NAME
from fabric.nos.reading import Folder

WORKBOOK = ".xlsx"
MAX_FOLDER_BYTES = 1_000_000_000  # of all files below the folders; 5,000 configs of large switches


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRequest:
    """What is imported.

    Attributes:
        sources: folders of configs, or one workbook.
        output: the intent that is written.
        lldp: files and folders with LLDP output.
        topology: files that list cables.
        models: switch or a glob of names → its model in the catalog.
        site: name for the intent.
        jobs: processes; 0 for one per core.
        inventory: system, URL and token of a server that has the site, in place of sources.
    """

    sources: tuple[Path, ...]
    output: Path
    site: str
    lldp: tuple[Path, ...] = ()
    topology: tuple[Path, ...] = ()
    models: Mapping[str, str] = field(default_factory=dict)
    jobs: int = 0
    inventory: tuple[str, str, str] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Surveyed:
    """A survey, the configs that a plan of it can be compared with, and what makes an intent of it."""

    survey: Survey
    folder: Folder | None
    draft: Callable[[Survey], Drafted] = drafted


def surveyed(request: ImportRequest) -> Surveyed:
    """The survey of all sources. Raises InputError with the place of what cannot be read, OSError for a missing folder."""
    if not NAME.fullmatch(request.site):
        message = f"expected a name of letters, digits and inner hyphens, at most 32 of them, got {show(request.site)}"
        raise InputError([Diagnostic("FAB102", Place("--site"), message, "`--site dc1` names the site of the intent")])
    _refuse_models(request.models)
    if request.inventory is not None:
        truth = read_site(*request.inventory, request.site)
        found = truth.survey(request.site, request.models)
        return Surveyed(found, None, lambda survey: truth.named(drafted(survey), survey))
    books = [path for path in request.sources if path.suffix.lower() == WORKBOOK]
    folders = [path for path in request.sources if path not in books]
    wires = [*wires_of([path for path in request.topology if path.suffix.lower() != WORKBOOK])]
    for path in request.topology:
        if path.suffix.lower() == WORKBOOK:
            wires += read_workbook(path).wires
    if books:
        if folders or len(books) > 1:
            message = "expected folders of configs or one workbook, got both" if folders else "expected one workbook"
            hint = f"`fabric import {folders[0] if folders else 'configs/'} --topology {books[0]}` takes its cables"
            raise InputError([Diagnostic("FAB102", Place("SOURCE"), message, hint)])
        book = read_workbook(books[0])
        network = Network(tuple(book.devices))
        return Surveyed(survey_of([network], request.site, models=request.models, wires=[*book.wires, *wires]), None)
    folder = scanned(folders)
    lldp = lldp_wires(request.lldp, sorted({device.name for device in folder.devices})) if request.lldp else []
    return Surveyed(survey(folder, request.site, models=request.models, lldp=lldp, wires=wires), folder)


def scanned(paths: Sequence[Path]) -> Folder:
    """Folders of configs as one. Raises InputError for a folder without a config, and for more than can be read."""
    _refuse_size(paths)
    found = [folder for path in paths if (folder := named_folder(Scope(files=(), configs=path))) is not None]
    whole = Folder(
        root=found[0].root if len(found) == 1 else os.path.commonpath([Path(one.root).absolute() for one in found])
    )
    for folder in found:
        whole.devices += folder.devices
        whole.unrecognized |= folder.unrecognized
        whole.passed += folder.passed
        whole.apart += folder.apart
        whole.unreadable |= folder.unreadable
    return whole


def _refuse_size(paths: Sequence[Path]) -> None:
    for path in paths:
        total = 0
        for file in _files(path):
            total += file.lstat().st_size
            if total > MAX_FOLDER_BYTES:
                message = f"expected at most {MAX_FOLDER_BYTES // 1_000_000:,} MB of files, got more at {file}"
                raise InputError([Diagnostic("FAB002", Place(str(path)), message, "name the folder of the configs alone")])


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(folder) / name for name in sorted(names))


def _refuse_models(models: Mapping[str, str]) -> None:
    known = catalog.switch_names()
    wrong = [
        Diagnostic(
            "FAB102", Place("--model"), f"expected a switch model of the catalog, got '{model}'", nearest(model, known)
        )
        for model in dict.fromkeys(models.values())
        if catalog.switch(model) is None
    ]
    if wrong:
        raise InputError(wrong)
