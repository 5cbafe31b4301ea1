"""One run of the checks: intents, a folder of configs, a Batfish server, in any mix."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fabric import pipeline
from fabric.checks.finding import Finding
from fabric.checks.folder import check_folder, unrecognised
from fabric.checks.site import Checked, Site, finding_of
from fabric.checks.verdict import Verdict
from fabric.diagnostics import InputError, MissingError
from fabric.generate import Progress, refuse_same_site
from fabric.readback.folder import scan


@dataclass(frozen=True)
class Scope:
    """What is to be checked."""

    files: tuple[Path, ...] = ()
    configs: Path | None = None
    batfish: str = ""
    output: Path | None = None
    jobs: int = 0


@dataclass(frozen=True)
class Outcome:
    """The verdict, and why it may not be whole."""

    verdict: Verdict
    broken: bool = False  # an intent cannot be planned: nothing behind it was checked
    missing: str = ""  # something outside was asked for and is not there; the other checks ran


def run(scope: Scope, fail_on: str, progress: Progress) -> Outcome:
    """Checks everything that is asked for. Raises OSError for a folder that is not there, InputError for two intents of
    one site."""
    folder = scan(scope.configs) if scope.configs is not None else None
    intents, sites, broken = [], [], list[Finding]()
    for path in scope.files:
        try:
            intents.append(pipeline.load(path, scope.output))
        except InputError as error:
            broken += [finding_of(one) for one in error.diagnostics]
    refuse_same_site(intents)
    for intent in intents:
        try:
            sites.append(Site(intent, folder, scope.jobs, progress))
        except InputError as error:
            broken += [finding_of(one) for one in error.diagnostics]
    results = [site.check() for site in sites]
    missing = _batfish(scope.batfish, sites, results) if scope.batfish else ""
    results = [site.silenced(result) for site, result in zip(sites, results, strict=True)]
    if folder is not None:
        results.append(Checked(unrecognised(folder)) if scope.files else check_folder(folder))
    return Outcome(_verdict(results, broken, fail_on), bool(broken), missing)


def _batfish(host: str, sites: list[Site], results: list[Checked]) -> str:
    """Adds what Batfish finds; "" or why it could not be asked."""
    from fabric.checks import batfish

    for site, result in zip(sites, results, strict=True):
        try:
            findings, covered = batfish.run(site.plan, site.texts, host)
        except MissingError as error:
            result.skipped.append(("Batfish", str(error)))
            return str(error)
        result.findings += findings
        result.skipped += covered
        result.ran |= {check.id for check in batfish.every_check()}
    return ""


def _verdict(results: list[Checked], broken: list[Finding], fail_on: str) -> Verdict:
    return Verdict.of(
        [*broken, *(finding for result in results for finding in result.findings)],
        [read for result in results for read in result.read],
        {code for result in results for code in result.ran},
        [row for result in results for row in result.skipped],
        fail_on,
    )
