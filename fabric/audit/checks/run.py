"""One run of the checks: intents, a folder of configs, a Batfish server, in any mix."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from fabric.audit.checks import base
from fabric.audit.checks.base import FilesCheck, ids, run as run_checks
from fabric.audit.checks.files.duplicates import OneOwner
from fabric.audit.checks.files.igp import not_judged
from fabric.audit.checks.files.reading import FolderCheck, Unreadable
from fabric.audit.checks.files.role_peers import Compared, EqualsCheck
from fabric.audit.checks.files.services import HostNames
from fabric.audit.checks.files.session_ends import addresses_unread
from fabric.audit.checks.files.subnet_folder import ManagerFiles, collected
from fabric.audit.checks.files.subnets_compared import findings as compared_subnets
from fabric.audit.checks.finding import ERROR, NOTE, WARNING, Finding, Read, Verdict
from fabric.audit.checks.incomplete_files import (
    is_part,
    mark_pieces,
    mark_steps,
    without_consequences,
    without_doubles,
    without_parts,
)
from fabric.audit.checks.network import Network, planes
from fabric.audit.checks.omitted import without_results_of_slips, without_undefined_sources
from fabric.audit.checks.role_peers.compare import Comparison, compared
from fabric.audit.checks.role_peers.roles import Outlines
from fabric.audit.checks.site import Checked, Site, finding_of
from fabric.base.diagnostics import Diagnostic, MissingError
from fabric.base.processes import Progress, silent, uncollected
from fabric.base.reading import refuse_folder
from fabric.base.text import listed
from fabric.configs import Renderer
from fabric.model.facts import Facts
from fabric.model.plan import Plan
from fabric.nos.reading import Folder, scan
from fabric.nos.reading.readers import NO_CONFIG

# --- folder of third-party configs ----------------------------------------------------------------------------


def check_folder(folder: Folder) -> Checked:
    """Every check that needs no plan, over all devices of a folder."""
    result = Checked()
    sites = [planes(devices) for devices in folder.sites()]
    devices = [network for site in sites for network in site]
    mark_steps(devices)
    mark_pieces(devices)
    networks = [Network(tuple(devices)) for site in sites for devices in site]
    for network in networks:
        findings, skipped = check_network(network)
        result.findings += findings
        result.skipped += skipped
    result.ran |= ids("files")
    read = [facts for network in networks for facts in network.devices]
    result.findings += [Unreadable.of(device, error) for device, error in folder.unreadable.items()]
    result.findings += run_checks(FolderCheck, folder) + apart(folder)
    result.findings += [alike(site) for site in sites if len(site) > 1]
    result.read.append(
        Read(
            what=f"configs in {folder.root}",
            path=folder.root,
            devices=len(read),
            files=sum(len(device.files) for device in folder.devices) + len(folder.unrecognized),
            statements=sum(facts.statements for facts in read),
            unread=tuple(fact for facts in read for fact in facts.unread),
        )
    )
    return result


def check_network(network: Network, outlines: Outlines | None = None) -> tuple[list[Finding], list[tuple[str, str]]]:
    """(findings about devices without a plan, what could not be compared and why)."""
    read = outlines or Outlines()
    findings, skipped = _judged(network, read)
    findings = without_results_of_slips(network, findings, lambda corrected: _judged(corrected, read.copy())[0])
    return without_parts(network.devices, findings), skipped


def _judged(network: Network, outlines: Outlines) -> tuple[list[Finding], list[tuple[str, str]]]:
    comparison = compared(network.devices, outlines)  # reads every statement, with the names in it
    outlines.read(network.devices)
    network = replace(network, names=outlines.names, refused=outlines.refused)
    found = run_checks(FilesCheck, network)
    findings = without_undefined_sources(without_consequences(network.devices, found))
    subject = Compared(network, findings, outlines, comparison)
    skipped = [*_not_compared(comparison), *not_judged(subject), *addresses_unread(network), *_parts(network)]
    return without_doubles(network, findings + run_checks(EqualsCheck, subject)), skipped


def _not_compared(comparison: Comparison) -> Iterator[tuple[str, str]]:
    subject = "comparison of devices of one role"
    if comparison.alone:
        yield subject, f"fewer than 3 devices of a role: {listed(comparison.alone)}"
    if comparison.apart:
        yield subject, f"too different from the devices with similar names: {listed(comparison.apart)}"


def _parts(network: Network) -> Iterator[tuple[str, str]]:
    if parts := [facts.name for facts in network.devices if facts.statements and is_part(facts)]:
        yield "what configs lack", f"parts of configs: {listed(parts)}"


def apart(folder: Folder) -> list[Finding]:
    """A note for every folder that is taken for a network of its own."""
    message = "checked as a separate network: the folder has several states of a network"
    hint = "check one folder at a time if both contain configs of the same network"
    return [HostNames.in_file("", path, 0, message, hint, NOTE) for path in folder.apart]


def alike(site: list[list[Facts]]) -> Finding:
    """A note for networks that have the same link addresses."""
    names = listed([network[0].name for network in site], 3)
    message = f"{len(site)} networks with the same link addresses ({names}): each was checked separately"
    hint = "check one folder at a time if they are versions of one network"
    first = site[0][0]
    return OneOwner.in_file(first.name, first.files[0], 0, message, hint, NOTE)


# --- any mix of inputs ----------------------------------------------------------------------------------------

NAME_FOLDER = "name the folder of the configs; `fabric catalog --os` lists the network OSes whose configs are read"


@dataclass(frozen=True, kw_only=True)
class Scope:
    """Input of a run of checks.

    Attributes:
        files: intents.
        configs: folder of configs to check in place of generated files.
        batfish: address of a Batfish server; "" for none.
        output: folder in place of the `output` of the intents.
        jobs: processes; 0 for one per core.
        all_servers: compare the files of every server with its leaves, not of a sample.
        cluster: folder with the objects of the cluster that the servers are nodes of.
    """

    files: tuple[Path, ...] = ()
    configs: Path | None = None
    batfish: str = ""
    output: Path | None = None
    jobs: int = 0
    all_servers: bool = False
    cluster: Path | None = None


@dataclass(frozen=True)
class Outcome:
    """The verdict, and why it may not be whole."""

    verdict: Verdict
    broken: bool = False  # an intent cannot be planned: nothing behind it was checked
    missing: str = ""  # something outside was asked for and is not there; the other checks ran


@dataclass(kw_only=True)
class Given(Folder):
    """A folder that was named, with the files of subnet managers in it."""

    managers: list[ManagerFiles] = field(default_factory=list)


def named_folder(scope: Scope, *, managers: bool = False) -> Given | None:
    """The folder of configs that is judged, with `managers` the files of subnet managers as well.

    Raises OSError for a folder that is not there, InputError for one without anything to judge.
    """
    if scope.configs is None:
        return None
    folder = Given(**vars(scan(scope.configs)))
    if managers:
        folder.managers = collected(scope.configs, frozenset(path for device in folder.devices for path in device.files))
    recognized = {path for manager in folder.managers for path in manager.paths.values()}
    folder.unrecognized = {path: kind for path, kind in folder.unrecognized.items() if path not in recognized}
    if not folder.devices and not folder.managers:
        passed = {path: _passed(path) for path in folder.passed}
        unread = passed | {path: kind.reason for path, kind in folder.unrecognized.items()}
        expected = "configs of switches" + (" or files of a subnet manager" if managers else "")
        refuse_folder(folder.root, expected, unread, NAME_FOLDER)
    return folder


def _passed(path: str) -> str:
    """Why a file is left out by its name."""
    ending = Path(path).suffix.lower()
    return f"{ending} is no ending of a config" if ending in NO_CONFIG else "belongs to a config, or is a copy of one"


@uncollected()
def run(
    scope: Scope,
    folder: Folder | None,
    ready: Sequence[Renderer],
    mistakes: Sequence[Diagnostic],
    fail_on: str,
    *,
    cables: Callable[[Plan], Iterable[Diagnostic]] = lambda _: (),
    progress: Progress | None = None,
) -> Outcome:
    """Checks every requested intent and config.

    `mistakes` are the errors of intents that cannot be planned; the other intents are checked nevertheless. `cables` gives
    the links of a plan that no cable joins.
    """
    bar, broken = progress or silent, [finding_of(one) for one in mistakes]
    managers = folder.managers if isinstance(folder, Given) else []
    sites = [Site(one, folder, scope.jobs, bar, all_servers=scope.all_servers, managers=managers) for one in ready]
    results = [site.check() for site in sites]
    for site, result in zip(sites, results, strict=True):
        result.findings += map(finding_of, cables(site.plan))
    missing = _batfish(scope.batfish, sites, results) if scope.batfish else ""
    if scope.cluster is not None:
        _cluster(scope.cluster, sites, results)
    if folder is not None and results:
        results[0].findings += _beside(sites, folder)
    results = [site.silenced(result) for site, result in zip(sites, results, strict=True)]
    if folder is not None and not scope.files:
        results.append(check_folder(folder))
        _managers(managers, results[0])
        missing = _batfish_of_folder(scope.batfish, folder, results[0]) if scope.batfish else ""
    return Outcome(_verdict(results, broken, fail_on), bool(broken), missing)


def _beside(sites: list[Site], folder: Folder) -> Iterator[Finding]:
    """Files beside those of the planned switches: without a parser, of unplanned devices, second copies."""
    planned = {job.device.name for site in sites for job in site.todo}
    names = ", ".join(site.plan.site for site in sites)
    yield from base.run(FolderCheck, folder)
    judged, misnamed = folder.by_name(), folder.misnamed()
    for device in folder.devices:
        first, file = judged[device.name], next(iter(device.files))
        if device.filed in planned and misnamed.get(device.filed) is device:
            continue  # the finding about the switch that lacks its config says so
        if device.name not in planned:
            message = f"no switch of site {names} has this host name"
            yield HostNames.in_file(device.name, file, 0, message, severity=WARNING)
        elif first is not device:
            message = f"duplicate host name: {next(iter(first.files))} was checked instead of this file"
            yield HostNames.in_file(device.name, file, 0, message, "remove one of the two files from the folder", ERROR)


def _managers(managers: Sequence[ManagerFiles], result: Checked) -> None:
    """Adds what files of subnet managers say against each other."""
    result.findings += compared_subnets(managers)
    for its in managers:
        result.read.append(Read(what="files of a subnet manager", path=its.folder, files=len(its.paths)))


def _cluster(folder: Path, sites: list[Site], results: list[Checked]) -> None:
    """Adds what the objects of a cluster say otherwise than the sites that have one."""
    from fabric.audit.checks import cluster

    meant = [at for at, site in enumerate(sites) if any(its.spec.network_operator for its in site.plan.fabrics.values())]
    for at in meant or range(len(sites)):
        found, read = cluster.findings(sites[at].plan, folder)
        results[at].findings += found
        results[at].read.append(read)
        results[at].ran |= ids("cluster")


def _batfish(host: str, sites: list[Site], results: list[Checked]) -> str:
    """Adds what Batfish finds; "" or why it could not be asked. A server that is not there is not asked again."""
    from fabric.audit.checks import batfish

    missing, reached = "", True
    for site, result in zip(sites, results, strict=True):
        try:
            if not reached:
                raise MissingError(missing)
            findings, covered, ran = batfish.run(site.plan, site.texts, host)
        except MissingError as error:
            missing = missing or str(error)
            reached = reached and isinstance(error, batfish.SnapshotError)
            subject = "Batfish" if len(sites) == 1 else f"Batfish: site {site.plan.site}"
            result.skipped.append((subject, str(error)))
            continue
        result.findings += findings
        result.skipped += covered
        result.ran |= ran
    return missing


def _batfish_of_folder(host: str, folder: Folder, result: Checked) -> str:
    """Adds what Batfish finds in configs without a plan; "" or why it could not be asked."""
    from fabric.audit.checks.batfish.configs import run_folder

    try:
        findings, skipped, ran = run_folder(folder, host)
    except MissingError as error:
        result.skipped.append(("Batfish", str(error)))
        return str(error)
    result.findings += findings
    result.skipped += skipped
    result.ran |= ran
    return ""


def _verdict(results: list[Checked], broken: list[Finding], fail_on: str) -> Verdict:
    return Verdict.of(
        [*broken, *(finding for result in results for finding in result.findings)],
        [read for result in results for read in result.read],
        {code for result in results for code in result.ran},
        [row for result in results for row in result.skipped],
        fail_on,
    )
