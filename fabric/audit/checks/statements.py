"""The structural comparison under the checks of files: every statement of a switch against those that the plan renders.

The checks of facts come first, as they explain. A difference that one of their findings already names is not repeated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from difflib import SequenceMatcher
from functools import cache, lru_cache
from ipaddress import ip_address, ip_network
from pathlib import Path

from fabric.audit.checks.finding import ERROR, UNKNOWN, About, Finding
from fabric.base.text import plural
from fabric.hardware.catalog.models import SwitchModel
from fabric.model.facts import Located
from fabric.model.plan import Device, SwitchView
from fabric.nos.reading.sections import StatementPath
from fabric.nos.statements.compare import CHANGED, EXTRA, MISSING, Difference, compare
from fabric.nos.statements.syntax import Known, Syntax
from fabric.nos.target import installed

QUOTED = 100  # characters of a statement
SPELLED_ALIKE = 0.7  # share of the letters of two words that are the same, in one order
WORD = re.compile(r"(?<![\w.:/-])[^\W\d]*[\d./:-][\w.:/-]*")  # words that name an object: addresses, numbers, names


@cache
def syntax_of(nos: str) -> Syntax:
    """How the statements of a network OS are compared; one without a syntax is compared line by line."""
    target = installed(nos)
    return target.syntax.get() if target is not None and target.syntax is not None else Syntax(parts={}, rules_file=Path())


def statement_differences(nos: str, planned: Mapping[str, str], running: Mapping[str, str]) -> list[Difference]:
    """Every statement of the running files that differs from the planned ones.

    Args:
        nos: network OS of both.
        planned: path → text that the plan renders.
        running: path → text that the device has.

    Returns:
        Differences in the order of the running files. Planned files whose part no running file has are left out.
    """
    syntax = syntax_of(nos)
    collected = syntax.texts(running)
    files = {text.part: text.file for text in collected}
    first, second = syntax.without_equal([text for text in syntax.texts(planned) if text.part in files], collected)
    known: Known[StatementPath] = {}
    sides = syntax.read_texts(first, known), syntax.read_texts(second, known)
    return compare(syntax, *sides, files, lambda: syntax.read_texts(collected, known))


def misspelled(differences: Sequence[Difference]) -> Iterator[Difference]:
    """The differences; a missing statement and an unplanned one that differ in a letter or two are one changed statement.

    `ipv6 access-grup MANAGEMENT in`: the network OS does not have this statement, and the planned one is missing.
    """
    lost: dict[tuple[object, ...], list[Difference]] = {}
    for difference in differences:
        if difference.kind == MISSING and not difference.label:
            for key, _ in _but_one_part(difference):
                lost.setdefault(key, []).append(difference)
    changes: dict[int, Difference] = {}
    for difference in differences:
        if difference.kind != EXTRA or difference.label:
            continue
        candidates = (
            (other, at) for key, at in _but_one_part(difference) for other in lost.get(key, ()) if id(other) not in changes
        )
        near = next((other for other, at in candidates if _is_near(other.path[at], difference.path[at])), None)
        if near is not None:
            changes[id(near)] = changes[id(difference)] = Difference(
                kind=CHANGED, path=near.path, place=difference.place, got=difference.path, below=near.below
            )
    written: set[int] = set()
    for difference in differences:
        changed = changes.get(id(difference), difference)
        if id(changed) not in written:
            written.add(id(changed))
            yield changed


def _but_one_part(one: Difference) -> Iterator[tuple[tuple[object, ...], int]]:
    """(what is equal where a statement differs in one part of its path, position of that part)."""
    for at in range(1, len(one.path)):
        yield (one.place.file, one.below, at, one.path[:at], one.path[at + 1 :]), at


def _is_near(lost: str, extra: str) -> bool:
    """Whether two parts of a path differ in one word, and in that by a few letters."""
    planned, running = lost.split(), extra.split()
    odd = [pair for pair in zip(planned, running, strict=False) if pair[0] != pair[1]]
    return len(planned) == len(running) and len(odd) == 1 and SequenceMatcher(None, *odd[0]).ratio() >= SPELLED_ALIKE


def missing_files(nos: str, planned: Mapping[str, str], running: Mapping[str, str]) -> tuple[str, ...]:
    """Parts of a planned config that no running file has, without those that a folder of running configs may lack."""
    syntax = syntax_of(nos)
    compared = {syntax.part(file, text) for file, text in running.items()}
    parts = {syntax.part(file, text) for file, text in planned.items()}
    return tuple(sorted(parts - compared - syntax.optional - {""}))


def unexplained(differences: Sequence[Difference], findings: Sequence[Finding]) -> Iterator[Difference]:
    """The differences that no error names.

    A finding names the statement at its line. On the line of a section, or of the file as a whole, it names the missing
    statements that share an address, number or name with its values.
    """
    words: dict[tuple[str, int], set[str]] = {}
    for finding in findings:
        if finding.severity != ERROR:
            continue
        words.setdefault((finding.file, finding.line), set()).update(WORD.findall(" ".join(finding.about.values)))
    for difference in differences:
        file, line = difference.place.file, difference.place.line
        if difference.kind != MISSING and (file, line) in words:
            continue
        near = words.get((file, line), set()) | words.get((file, 0), set())
        if not near & set(WORD.findall(difference.path[-1])):
            yield difference


def about(syntax: Syntax, difference: Difference) -> About:
    """The same for other checks."""
    key = syntax.key(difference.path)
    is_misspelled = difference.kind == CHANGED and not (key and key == syntax.key(difference.got))
    if difference.kind != MISSING and not is_misspelled:
        return UNKNOWN
    return About(absent=True, statement=_stated(syntax, difference.path), path=difference.path[1:])


def message(syntax: Syntax, difference: Difference) -> str:
    """What differs. Only the plan's statements are quoted: a line written by hand may contain a password."""
    planned = _quoted(syntax, difference.path)
    more = f" and {plural(difference.below, 'statement')} below it" if difference.below else ""
    if difference.kind == MISSING:
        return f"missing statement: {planned}{more}"
    if difference.kind == CHANGED:
        return f"changed statement: expected {planned}"
    if difference.kind == EXTRA:
        where = f" in {_quoted(syntax, section)}" if (section := difference.path[:-1])[1:] else ""
        return f"unplanned statement{where}" + more
    return f"wrong order of statements: expected {_quoted(syntax, difference.got)} before this statement"


def remediation(syntax: Syntax, difference: Difference) -> str:
    """What to do on the device."""
    if difference.kind in (MISSING, CHANGED):
        section = difference.path[1:-1]
        where = f" in `{syntax.separator.join(section)}`" if section and not syntax.verb else ""
        return f"{'add' if difference.kind == MISSING else 'set'} {_quoted(syntax, difference.path)}{where}"
    if difference.kind == EXTRA:
        return "remove the statement, or add it to the intent or to an override"
    return f"move {_quoted(syntax, difference.got)} before this statement"


def _quoted(syntax: Syntax, path: StatementPath) -> str:
    text = _stated(syntax, path).replace("\n", " ")
    return f"`{text[:QUOTED]}…`" if len(text) > QUOTED else f"`{text}`"


def _stated(syntax: Syntax, path: StatementPath) -> str:
    """A statement as the network OS takes it."""
    return f"{syntax.verb} {syntax.joined(path)}" if syntax.verb else path[-1]


# --- literals -------------------------------------------------------------------------------------------------
# Addresses that stand in a file and that the plan knows nothing of: the last net under all readers.
#
# A filter, a prefix list, a comment even: whatever line an address is on, it must be one that the switch's view has, or the
# network of one. So an address that was mistyped is found although nothing reads its line.

IPV4 = re.compile(r"(?<![\w.:-])(?:\d{1,3}\.){3}\d{1,3}(?:/\d{1,2})?(?![\w.])")
IPV6 = re.compile(r"(?<![\w:.])(?=[0-9a-fA-F]*:[0-9a-fA-F:]*:)[0-9a-fA-F:]{3,39}(?:/\d{1,3})?(?![\w:.])")
ANY = ("0.", "127.", "224.", "255.", "169.254.")  # every address, loopback, multicast, masks, link-local


def unknown_addresses(view: SwitchView, files: Mapping[str, str]) -> Iterator[Located[str]]:
    """Every address of the files that is none of the view's, with its line."""
    known = known_addresses(view)
    for file, text in files.items():
        for pattern in (IPV4, IPV6):
            if pattern is IPV6 and view.underlay.family != "ipv6" and view.loopback6 is None:
                continue
            for match in pattern.finditer(text):
                address = match[0]
                if address not in known and address.partition("/")[0] not in known and not _general(address):
                    yield Located(address, text.count("\n", 0, match.start()) + 1, file)


def _general(text: str) -> bool:
    if text.startswith(ANY):
        return True
    try:
        ip = ip_address(text.partition("/")[0])
    except ValueError:
        return True  # 10.300.1.1 is a version, a serial number, anything
    return ip.is_link_local or ip.is_multicast or ip.is_unspecified or (ip.version == 6 and ":" in text and len(text) < 6)


def known_addresses(view: SwitchView) -> set[str]:
    """Every address in the view, without its length, and the networks and far ends that follow from one."""
    addresses: set[str] = set()
    for port in view.ports:
        for address, far in ((port.address, port.peer_address), *((s.address, s.peer_address) for s in port.subinterfaces)):
            if address:
                _add(addresses, address)
            if far:
                addresses.add(far)
    for column in fields(view):
        if column.name not in ("ports", "sessions"):  # sessions stand on the ports
            for text in _strings(getattr(view, column.name)):
                for match in (*IPV4.finditer(text), *(IPV6.finditer(text) if ":" in text else ())):
                    _add(addresses, match[0])
    return addresses


def _add(found: set[str], text: str) -> None:
    without_prefix_length, _, length = text.partition("/")
    found.add(without_prefix_length)
    if length and length not in ("32", "128"):
        found.update(_network(text))


@lru_cache(maxsize=65536)
def _network(text: str) -> tuple[str, ...]:
    """The network's own address, and both ends of a point-to-point one."""
    try:
        net = ip_network(text, strict=False)
    except ValueError:
        return ()
    return (str(net[0]), str(net[1])) if net.num_addresses == 2 else (str(net.network_address),)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        if "." in value or ":" in value:
            yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _strings(item)
    elif is_dataclass(value) and not isinstance(value, (SwitchModel, Device)):
        for part in fields(value):
            yield from _strings(getattr(value, part.name))
