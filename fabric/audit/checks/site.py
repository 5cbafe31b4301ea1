"""Checking a site: its design, and what the files of its switches and servers say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from fabric.audit.checks import servers
from fabric.audit.checks.base import Design, FilesCheck, checks, ids, run
from fabric.audit.checks.compare_with_plan import Difference, class_differences, differences
from fabric.audit.checks.design.base import FabricCheck
from fabric.audit.checks.files.reading import OnDisk, OnDiskCheck, Rest, RestCheck, Statements, Unreadable
from fabric.audit.checks.files.services import HostNames
from fabric.audit.checks.files.subnet_folder import ManagerFiles, of_subnet
from fabric.audit.checks.files.subnets import JUDGED, SubnetCheck, SubnetFiles
from fabric.audit.checks.finding import ERROR, Finding, Read, Subject
from fabric.audit.checks.incomplete_files import CUT_OFF, Cut, cuts
from fabric.audit.checks.network import Network
from fabric.audit.checks.omitted import Silences, explaining, follows, without_repetitions
from fabric.audit.checks.planned import planned_rows
from fabric.audit.checks.role_peers.outline import judged
from fabric.audit.checks.rows import blocks_of, rows_of
from fabric.base.diagnostics import Diagnostic
from fabric.base.output.site_folder import kind
from fabric.base.processes import Progress, in_chunks, silent
from fabric.base.reading import UnreadableError
from fabric.base.text import listed, plural
from fabric.configs import Job, Renderer
from fabric.configs.disk_state import GeneratedFolder
from fabric.configs.hosts import host_files
from fabric.configs.infiniband.files import FOLDER as SUBNETS, Managed, files as subnet_files
from fabric.model.facts import Facts, Located
from fabric.model.plan import LONGER_WARNING, Device, Plan, SwitchView
from fabric.nos.reading import Device as Found, Folder, is_read, read_device
from fabric.nos.target import UNSUPPORTED, target

# --- one switch -----------------------------------------------------------------------------------------------

NOTHING: Mapping[str, str] = {}


def judge(view: SwitchView, facts: Facts, files: Mapping[str, str], rendered: Mapping[str, str] = NOTHING) -> list[Finding]:
    """Everything that the files of a switch say otherwise than its plan, and what is wrong in them by itself.

    `rendered`: path → what the plan renders, of the files whose statements are compared.
    """
    if cut := list(cuts(facts.nos, rendered, files)) if rendered else []:
        return _of_cut(view, facts, files, rendered, cut)
    found = judged(facts)
    names, refused = {id(facts): found.names}, {id(facts): found.refused}
    findings = run(FilesCheck, Network((facts,), view.device.name, tuple(_differences(view, facts)), names, refused))
    findings = without_repetitions(findings)
    rest = _rest(Rest(view, facts, files, rendered, tuple(findings)))
    dropped = [finding for finding in findings if follows(finding, rest)]
    if dropped:  # what they covered is reported by its statement
        findings = [finding for finding in findings if finding not in dropped]
        rest = explaining(_rest(Rest(view, facts, files, rendered, tuple(findings))), dropped)
    return findings + rest


def _rest(subject: Rest) -> list[Finding]:
    """The findings about what no other check covers; each check knows the findings before it."""
    found: list[Finding] = []
    for check in checks(RestCheck):
        found += check.run(replace(subject, reported=(*subject.reported, *found)))
    return found


def _of_cut(
    view: SwitchView, facts: Facts, files: Mapping[str, str], rendered: Mapping[str, str], cut: list[Cut]
) -> list[Finding]:
    """The files as if they went on as planned: what is wrong in front of their ends is still reported."""
    ends = {one.file: one.line for one in cut}
    whole = {**files, **{one.file: one.completed for one in cut}}
    name = facts.name
    facts = read_device(name, facts.nos, whole)
    facts.name = name
    found = [one.finding(view.device.name) for one in cut]
    for one in judge(view, facts, whole, rendered):
        found.append(replace(one, line=min(one.line, ends.get(one.file, one.line))))
    return found


def _differences(view: SwitchView, facts: Facts) -> Iterator[Difference]:
    top = Located(None, 0, facts.files[0] if facts.files else "")
    idiom = target(view.device.nos).idiom
    derived = idiom.derives if idiom else frozenset[str]()  # their statement shows whether the derived value differs
    found = differences(planned_rows(view), rows_of(facts), top, blocks_of(facts))
    yield from _grouped(one for one in found if not (one.about.absent and one.key.kind in derived))
    yield from class_differences(view, facts)


def _grouped(found: Iterable[Difference]) -> Iterator[Difference]:
    """A line of a peer group that is wrong for all its neighbors is reported once."""
    alike: dict[tuple[str, str, str, Located[object], Subject], list[Difference]] = {}
    for one in found:
        alone = Subject() if one.key.subject.kind == "neighbor" else one.key.subject
        alike.setdefault((one.key.kind, one.expected, one.got, one.place, alone), []).append(one)
    for group in alike.values():
        yield replace(group[0], alike=tuple(one.key.subject for one in group))


# --- site -----------------------------------------------------------------------------------------------------


@dataclass
class Checked:
    """What was found at a site, silenced findings among them, and what it was found in."""

    findings: list[Finding] = field(default_factory=list)
    ran: set[str] = field(default_factory=set)
    read: list[Read] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A switch whose files were read; small, as it comes back from another process."""

    findings: tuple[Finding, ...]
    ends: servers.Ends
    files: int
    statements: int
    unread: tuple[Located[str], ...]
    stale: tuple[str, ...]  # files that an older intent made
    line_ends: tuple[str, ...] = ()  # files that differ in line ends alone
    paths: tuple[str, ...] = ()  # every file of the switch, as the site's folder names it


class Site:
    """One intent, planned and ready to be checked.

    Args:
        folder: configs to be judged in place of the generated ones.
        jobs: processes; 0 takes every core.
        all_servers: compare the files of every server with its leaves, not those of a sample.
        managers: files of subnet managers in the folder.
    """

    def __init__(
        self,
        renderer: Renderer,
        folder: Folder | None = None,
        jobs: int = 0,
        progress: Progress = silent,
        *,
        all_servers: bool = False,
        managers: Sequence[ManagerFiles] = (),
    ) -> None:
        self.managers = managers
        self.folder, self.jobs, self.progress = folder, jobs, progress
        self.renderer, self.plan, self.home = renderer, renderer.plan, renderer.plan.settings.home
        given = None if folder is None else folder.by_name()
        misnamed = {} if folder is None else folder.misnamed()
        self.sample = servers.Sample.of_site(self.plan, whole=all_servers)
        self.work = _Work(self.renderer, GeneratedFolder(self.plan.settings), given, self.sample, misnamed)
        self.todo = self.renderer.jobs(lambda name: True)
        self.stale_hosts = set[str]()

    def texts(self, device: Device) -> Mapping[str, str]:
        """The files of a switch that are judged: path → text."""
        job = next(job for job in self.todo if job.device is device)
        return self.work.texts(job, _Seen())

    def check(self) -> Checked:
        """Every check of the design, of the files of its switches and of those of its servers."""
        made, result = self.plan, Checked()
        # FAB297 says as an error what FAB167 warns of.
        result.findings += [warning for warning in warnings_of(made) if warning.id != "FAB167" or self.folder is not None]
        for fabric in made.fabrics.values():
            result.findings += run(FabricCheck, Design(made, fabric))
        result.ran |= ids("silence", "design", "files", "servers")
        result.read.append(
            Read(what=f"plan of site {made.site}, {plural(len(made.fabrics), 'fabric')}", path=str(self.home.path))
        )
        self._files(result)
        return result

    def silenced(self, result: Checked) -> Checked:
        """The result with its silenced findings marked: the last step, when everything was found."""
        result.findings = list(Silences(self.plan).apply(result.findings, result.ran))
        return result

    # --- files --------------------------------------------------------------------------------------------------

    def _files(self, result: Checked) -> None:
        judged: list[Judged] = []
        with self.progress(f"{self.plan.site}: switches", len(self.todo)) as advance:
            first = [self.work.judge(job) for job in self.todo[:1]]  # in this process, so that workers inherit what it loads
            for chunk in chain([first], in_chunks(self.work.judge, self.todo[1:], self.jobs)):
                judged += chunk
                advance(len(chunk))
        for switch in judged:
            result.findings += switch.findings
        result.findings += self._unread()
        self._servers(result, {key: end for switch in judged for key, end in switch.ends.items()})
        for subnet in self.renderer.subnets:
            if (files := self._subnet(subnet)) is not None:
                result.findings += run(SubnetCheck, files)
            if files is None or files.not_collected:
                lacking = f": {listed(files.not_collected)}" if files is not None else ""
                result.skipped.append((f"subnet manager of '{subnet.subnet.name}'", f"not in the folder{lacking}"))
        if self.folder is None:
            place, shown = self.plan.at("site"), str(self.home.shown)
            result.findings += run(OnDiskCheck, OnDisk(place, shown, self.work.disk, *self._differences(judged)))
        if judged:
            result.read.append(self._read(judged))

    def _unread(self) -> Iterator[Finding]:
        """A finding for each network OS whose files cannot be parsed."""
        place = self.plan.at("site")
        for name, count in sorted(Counter(job.device.nos for job in self.todo if not is_read(job.device.nos)).items()):
            what = f"configs of {target(name).title} cannot be parsed"
            message = f"{what}: only the plan of {plural(count, 'switch', 'switches')} was checked"
            hint = "add `reader` and `idiom` to the target of this network OS (CONTRIBUTING.md)"
            yield finding_of(Diagnostic(UNSUPPORTED, place, message, hint, "warning"))

    def _differences(self, judged: Sequence[Judged]) -> tuple[list[str], list[str]]:
        """Files that an older intent made or that are missing, and files that differ in line ends alone.

        The files of servers follow from the same plan: of them only the sample is compared, all others must be there.
        """
        disk = self.work.disk
        if not disk.owned:
            return [], []
        stale = {path for switch in judged for path in switch.stale} | self.stale_hosts
        line_ends = {path for switch in judged for path in switch.line_ends}
        generated = {path for switch in judged for path in switch.paths}
        for path, data in self.renderer.site_files():
            look = disk.look(path, data)
            generated.add(path)
            if look.state == "CRLF":
                line_ends.add(path)
            judged_by_key = path.startswith(f"{SUBNETS}/") and path.rpartition("/")[2] in JUDGED
            if look.stale or (look.state == "edited" and not judged_by_key):  # not meant to be edited
                stale.add(path)
        names = {device.name for fabric in self.plan.fabrics.values() for device in fabric.devices}
        for path in disk.owned:
            folder, _, rest = path.partition("/")
            name = rest.partition("/")[0]
            of_host = folder == "hosts" and self.plan.settings.output.hosts and (name in names or name.startswith("_"))
            if (path not in generated and not of_host) or kind(disk.folder / path) == "absent":
                stale.add(path)
        return sorted(stale), sorted(line_ends)

    def _subnet(self, subnet: Managed) -> SubnetFiles | None:
        """The files of a subnet manager, as they lie in the folder and as they are planned."""
        if self.folder is not None:
            return of_subnet(subnet, self.managers, len(self.renderer.subnets) > 1)
        fresh = {path.rpartition("/")[2]: data for path, data in subnet_files(subnet)}
        looked = {name: self.work.disk.look(f"{subnet.folder}/{name}", data).data for name, data in fresh.items()}
        texts = {name: data.decode("utf-8", "replace") for name, data in looked.items()}
        planned = {name: data.decode() for name, data in fresh.items()}
        return SubnetFiles(subnet, f"{self.home.shown}/{subnet.folder}", texts, planned)

    def _servers(self, result: Checked, ends: servers.Ends) -> None:
        """Files of servers against the ends of their leaves that are as planned."""
        if not ends:
            return
        fresh = host_files(self.plan, self.sample.servers.__contains__)

        def look(path: str, data: bytes) -> bytes:
            state = self.work.disk.look(path, data)
            if state.stale:
                self.stale_hosts.add(path)
            return state.data

        result.findings += servers.disagreements(self.plan, ends, fresh, look, str(self.home.shown))
        result.skipped += self.sample.skipped

    def _read(self, judged: Sequence[Judged]) -> Read:
        unread = tuple(statement for switch in judged for statement in switch.unread)
        shown, fresh = str(self.home.shown), ""
        if self.folder is not None:
            shown = self.folder.root
        elif not self.work.disk.owned:
            fresh = ", as `fabric generate` would write them"
        read = [switch for switch in judged if switch.files]
        counts = {"files": sum(switch.files for switch in read), "statements": sum(switch.statements for switch in read)}
        title = f"configs of site {self.plan.site}{fresh}"
        return Read(what=title, path=shown, devices=len(read), **counts, unread=unread)


def warnings_of(made: Plan) -> Iterator[Finding]:
    """What the planner warns of, as findings; `Silences` sorts out which of them are silenced.

    Cables longer than the headroom are the matter of a check (FAB243): they are not reported twice.
    """
    yield from (finding_of(warning) for warning in made.warnings if warning.code != LONGER_WARNING)
    yield from (finding_of(warning) for warning in made.silenced)


def finding_of(diagnostic: Diagnostic) -> Finding:
    """A diagnostic of the input as a finding."""
    place = diagnostic.place
    return Finding(
        id=diagnostic.code,
        severity=diagnostic.severity,
        device="",
        file=place.file,
        line=place.line,
        message=diagnostic.message,
        hint=diagnostic.hint,
        column=place.column,
    )


@dataclass(frozen=True)
class _Work:
    renderer: Renderer
    disk: GeneratedFolder
    given: Mapping[str, Found] | None  # name → device, of a folder that was named
    sample: servers.Sample
    misnamed: Mapping[str, Found]  # name → device of that folder with the host name of another

    def judge(self, job: Job) -> Judged:
        """One switch. What cannot be read of it is the only finding about its files, so that the others are judged."""
        seen = _Seen()
        try:
            return self._judge(job, seen)
        except UnreadableError as error:
            cause = (Unreadable.of(job.device.name, error),)
            return Judged(findings=cause, ends={}, files=len(seen.paths), statements=0, unread=(), **seen.folder)

    def _judge(self, job: Job, state: _Seen) -> Judged:
        view = self.renderer.views[job.fabric].of(job.device)
        texts = self.texts(job, state, view)
        folder = state.folder
        if not is_read(job.device.nos):
            unplanned = Rest(view, Facts(name=job.device.name, nos=job.device.nos), texts, state.rendered, ())
            return Judged(findings=tuple(Statements().run(unplanned)), ends={}, files=0, statements=0, unread=(), **folder)
        if wrong := self._not_judged(job, texts):
            return Judged(findings=(wrong,), ends={}, files=len(texts), statements=0, unread=(), stale=())
        facts = read_device(job.device.name, job.device.nos, texts)
        facts.name = job.device.name if self.given is None else facts.name
        findings = judge(view, facts, texts, state.rendered)
        codes = {code for finding in findings for code in (finding.id, *finding.about.explains)}
        right = codes.isdisjoint((CUT_OFF, *servers.ECHOED))
        ends = servers.ends(view, facts, self.sample) if right else {}
        count, unread = facts.statements, tuple(facts.unread)
        return Judged(findings=tuple(findings), ends=ends, files=len(texts), statements=count, unread=unread, **folder)

    def _not_judged(self, job: Job, texts: Mapping[str, str]) -> Finding | None:
        """Why the files of a planned switch cannot be compared with the plan."""
        name, nos = job.device.name, job.device.nos
        if not texts and (other := self.misnamed.get(name)):
            message = f"the config of {name} has the host name of another device: {other.name}"
            fact = other.facts.hostname
            file, line = (fact.file, fact.line) if fact else (next(iter(other.files)), 0)
            return HostNames.in_file(name, file, line, message, HostNames.of_copy.format(name), ERROR)
        if not texts:
            message = "no config with this host name was found"
            hint = "add the config of the switch with its planned host name"
        elif self.given is not None and self.given[name].nos != nos:
            message = f"network OS: expected {nos}, got {self.given[name].nos}"
            hint = "collect the config of this switch again, or correct `nos:` in the intent"
        else:
            return None
        file = next(iter(texts), str(self.renderer.plan.settings.home.path))
        return HostNames.in_file(name, file, 0, message, hint, ERROR)

    def texts(self, job: Job, state: _Seen, view: SwitchView | None = None) -> Mapping[str, str]:
        """Path → text of what is judged; `seen` takes down how it lies there."""
        if self.given is not None:
            if job.device.name not in self.given:
                return {}
            state.rendered |= {path: data.decode() for path, data in self.renderer.files(job, view)}
            return self.given[job.device.name].files
        contents = {}
        for path, fresh in self.renderer.files(job, view):
            look = self.disk.look(path, fresh)
            state.paths.append(path)
            if look.stale:
                state.stale.append(path)
            if look.state == "CRLF":
                state.line_ends.append(path)
            shown = f"{self.disk.shown}/{path}"
            contents[shown] = look.data.decode("utf-8", "replace")
            if look.data != fresh:
                state.rendered[shown] = fresh.decode()
        return contents


@dataclass
class _Seen:
    """How the files of a switch lie in the site's folder."""

    paths: list[str] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)  # made by an older intent
    line_ends: list[str] = field(default_factory=list)  # with CRLF
    rendered: dict[str, str] = field(default_factory=dict)  # path → what the plan renders, of files to be compared whole

    @property
    def folder(self) -> dict[str, tuple[str, ...]]:
        """As `Judged` has it."""
        return {"stale": tuple(self.stale), "line_ends": tuple(self.line_ends), "paths": tuple(self.paths)}
