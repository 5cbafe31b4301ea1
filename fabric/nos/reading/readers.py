"""The readers of the installed network OSes, and which of them a file is for: known by its content, not by its name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import PurePath
from typing import NamedTuple

from fabric.base.reading import UnreadableError, guarded, refuse_long_numbers
from fabric.model.facts import Facts, Located
from fabric.nos.target import Read, Reader, Signs, target, targets

# --- Readers --------------------------------------------------------------------------------------------------

HOST_NAME = r'^[ \t]*hostname\s+"?([\w.-]+)'  # as most have it


@cache
def readers() -> Mapping[str, Reader]:
    """Network OS → its reader, in the order of their ranks; a network OS without one is left out."""
    found = {name: own.reader for name, own in targets().items() if own.reader is not None}
    return dict(sorted(found.items(), key=lambda item: item[1].rank))


def is_read(nos: str) -> bool:
    """Whether the files of a network OS can be read and compared with a plan."""
    return target(nos).reader is not None and target(nos).idiom is not None


def read_device(name: str, nos: str, files: Mapping[str, str]) -> Facts:
    """The facts of one device.

    Args:
        name: used where no file tells its host name.
        nos: its network OS.
        files: path → text.

    Raises:
        KeyError: the network OS has no reader.
        UnreadableError: a file that the reader fails on.
    """
    reader = target(nos).reader
    if reader is None:
        raise KeyError(nos)
    read = reader.read.get()
    try:
        facts = _read(read, name, files)
    except UnreadableError as error:
        for path, text in files.items() if len(files) > 1 else ():
            _read(read, name, {path: text})  # the file that is meant
        raise error from None
    facts.texts = files
    _settle_names(facts)
    _report_conflicts(facts)
    return facts


def _read(read: Read, name: str, files: Mapping[str, str]) -> Facts:
    for path, text in files.items():
        with guarded(path):
            refuse_long_numbers(text)
    with guarded(next(iter(files), "")):
        return read(name, files)


def _report_conflicts(facts: Facts) -> None:
    """A file with the markers of a git merge is broken at the first of them, whatever its parser made of them."""
    for path, text in facts.texts.items():
        if (start := _CONFLICT.search(text)) is None:
            continue
        line = text.count("\n", 0, start.start()) + 1
        markers = {number for number, one in enumerate(text.splitlines(), 1) if _MARKER.match(one)}
        facts.broken = [fact for fact in facts.broken if fact.file != path]
        facts.broken.append(Located("unresolved merge conflict: expected no marker lines of git", line, path))
        facts.unread = [fact for fact in facts.unread if fact.file != path or fact.line not in markers]


@cache
def host_name() -> re.Pattern[str]:
    """A line with a host name, in the words of any network OS: `hostname` or `host-name` stands in front of it."""
    return re.compile("|".join(filter(None, (HOST_NAME, *(reader.host_name for reader in readers().values())))), re.M)


def host_names(text: str) -> list[re.Match[str]]:
    """Every line with a host name. The pattern is asked near the one word in all of them: other lines are thousands."""
    spans = list[tuple[int, int]]()
    for word in _NAMES_HOST.finditer(text):
        last = spans[-1][1] if spans else 0
        rest = _BEHIND.match(text, word.end())
        end = rest.end() if rest else len(text)
        if word.start() < last:
            spans[-1] = spans[-1][0], max(last, end)
            continue
        begin = text.rfind("\n", last, word.start()) + 1 or last
        while begin > last and text[begin - 2 : begin] == "\\\n":  # the line goes on from the one above
            begin = text.rfind("\n", last, begin - 1) + 1 or last
        spans.append((begin, end))
    return [match for begin, end in spans for match in host_name().finditer(text, begin, end)]


_NAMES_HOST = re.compile("host-?name")
_BEHIND = re.compile(r"[^\w.-]*[^\n]*")  # to the name, and the rest of its line


@lru_cache(maxsize=10_000)  # texts of one folder, each of which several steps ask for
def named(text: str) -> re.Match[str] | None:
    """The line with the host name of a text: a later one overrides an earlier one."""
    return next(reversed(host_names(text)), None)


def _settle_names(facts: Facts) -> None:
    """The name that most files of a device have, else the first, is its own; the others are noted.

    A name in the only file of its form, a database beside files of daemons, is that of the device.
    """
    texts = facts.texts.items() if len(facts.texts) > 1 else ()
    found = [_located(path, text, match) for path, text in texts if (match := named(text))]
    counts = Counter(_short(name.value) for name in found)
    if len(counts) < 2:
        return
    forms, own = Counter(PurePath(path).suffix for path in facts.texts), facts.hostname
    usual = max(counts, key=counts.__getitem__)
    if own and forms[PurePath(own.file).suffix] == 1 and _short(own.value) in counts:
        usual = _short(own.value)
    facts.others = [name for name in found if _short(name.value) != usual]
    if own and _short(own.value) != usual:
        facts.hostname = next(name for name in found if _short(name.value) == usual)
        facts.name = facts.hostname.value


def _located(path: str, text: str, match: re.Match[str]) -> Located[str]:
    return Located(next(filter(None, match.groups()), ""), text.count("\n", 0, match.end()) + 1, path)


def _short(name: str) -> str:
    """A host name without its domain."""
    return name.partition(".")[0].lower()


_CONFLICT = re.compile(r"^(?:<{7}|>{7})(?: .*)?\r?$", re.M)
_MARKER = re.compile(r"(?:<{7}|\|{7}|={7}|>{7})(?: |$)")  # `=======` alone may be a line of a banner


# --- Files that no reader takes -------------------------------------------------------------------------------

# Network OSes without a reader, the most particular first: IOS XE has the signs of IOS as well.
FOREIGN: Mapping[str, Signs] = {
    "SR Linux": (
        (3, r"^(?:set|delete) / ?(?:interface|network-instance|system|acl|routing-policy) "),
        (9, r"^(?:interface (?:ethernet-\d|mgmt0|system0|lag\d|irb\d)\S*|network-instance \S+) \{"),
        (9, r'"srl_nokia-[\w-]+:'),
    ),
    "SR OS": ((3, r"^# TiMOS-"), (3, r"^configure \{$|^/configure \S")),
    "IOS XR": (
        (3, r"^!! IOS XR|^RP/\d+/\S+#"),
        (3, r"^ ipv4 address \d"),
        (2, r"^interface (?:Bundle-Ether\d|(?:TenGigE|HundredGigE|FortyGigE|TwentyFiveGigE|MgmtEth)\d)"),
    ),
    "ASA": ((3, r"^ASA Version \d"),),
    "IOS XE": ((3, r"^version 1[67]\.\d"), (2, r"^(?:no )?platform (?:console|punt-keepalive|qfp)")),
    "IOS": ((3, r"^version 1[2-5]\.\d"),),
    "IOS or IOS XE": (
        (3, r"^service timestamps "),
        (3, r"^boot-start-marker"),
        (4, r"^ ip address \d+\.\d+\.\d+\.\d+ 255\."),  # FRR takes no mask, EOS and NX-OS indent by more
        (2, r"^interface (?:GigabitEthernet|TenGigabit\w+|HundredGig(?!E\d)\w+|FortyGig(?!E\d)\w+|TwentyFiveGig(?!E\d)\w+)"),
    ),
    "NCLU": ((3, r"^net add \S"),),
    "VRP or Comware": ((3, r"^ ?sysname \S"),),
    "OS10": ((3, r"^! Version 10\.\d+\.\d+"),),
    "RouterOS": ((2, r"^/interface "),),
    "FortiOS": ((3, r"^config vdom|^config system global"),),
    "VyOS": (  # in braces or as set lines, as Junos
        (9, r"^// vyos-config-version|^ {4}(?:ethernet eth|vxlan vxlan|bridge br)\d+ \{$"),
        (9, r"^set (?:interfaces (?:ethernet eth|vxlan vxlan|bridge br)\d|system config-management |firewall ipv4 )|^vyos@"),
    ),
}

# Statements that several network OSes share, so that a few of them do not tell which: two signs are a part of a config.
PART: Signs = (
    (2, r"^router (?:bgp|ospf|isis)\b.*\n[ \t]+\S"),
    (1, r"^conf(?:ig(?:ure)?)? t(?:erm(?:inal)?)?[ \t\r]*$"),
    (1, r"^hostname \S+[ \t\r]*$"),
    (1, r"^interface [^\s\d]*\d\S*[ \t\r]*\n[ \t]+\S"),
    (1, r"^vrf (?:context|definition|instance) \S"),
    (1, r"^vlan \d[\d,-]*[ \t\r]*$"),
    (1, r"^ip(?:v6)? (?:route|prefix-list) \S"),
    (1, r"^route-map \S+ (?:deny|permit) \d"),
)
LEAST = 2  # of a part
SEVERAL_REASON = "configs of several devices in one file"
EMPTY = "empty"
PART_REASON = "part of a config, too short to tell its network OS"

COMMANDS = r"(?:show|display|ping6?|traceroute6?|tracert|nmap|arp|netstat|ethtool|dig|nslookup|vtysh|(?:net|nv)[ _]show)"
# A prompt with a command, or how the output of one begins.
OUTPUT = re.compile(
    rf"^[\w.@:~()\[\]/-]+ ?[#>$%] ?{COMMANDS}\b|^(?:PING \S+ |Starting Nmap |traceroute to |Pinging )|\A\s*{COMMANDS} \S",
    re.M,
)
OUTPUT_NAME = re.compile(rf"(?:^|[#>$%] ?){COMMANDS}[ _-]", re.I)
CONFIG_NAME = re.compile(r"(?:^|[ ._-])(?:run(?:ning)?|startup)[ _-]?conf\w*(?:\.\w+)?$|\.(?:cfg|set)$", re.I)
PLAY = re.compile(r"^- (?:hosts|name): .*\n(?:[ \t]+\S.*\n)*?[ \t]+(?:hosts|tasks|roles|vars|[\w.]+):", re.M)
DATA = frozenset((".ini", ".json", ".toml", ".xml", ".yaml", ".yml"))


def foreign(text: str) -> str:
    """The network OS that a text with signs of FOREIGN is for."""
    return next(name for name, signs in FOREIGN.items() if any(re.search(sign, text, re.M) for _, sign in signs))


def is_part(text: str) -> bool:
    """Whether a text has statements as configs have them, too few to tell their network OS."""
    return sum(weight for weight, sign in PART if re.search(sign, text, re.M)) >= LEAST


def is_output(path: str, text: str) -> bool:
    """Whether a file holds what a command printed."""
    return bool(OUTPUT.search(text) or (OUTPUT_NAME.search(PurePath(path).name) and not named_as_config(path)))


def is_play(text: str) -> bool:
    """Whether a text is a list of tasks, which may have parts of configs in them."""
    return ("- hosts:" in text or "- name:" in text) and PLAY.search(text) is not None


def is_data(path: str, text: str) -> bool:
    """Whether a file is YAML, JSON or the like, as topologies and variables are."""
    return PurePath(path).suffix.lower() in DATA or is_play(text) or text.lstrip()[:1] in ("{", "[") or text.startswith("---")


def named_as_config(path: str) -> bool:
    """Whether the name of a file is one that configs have, where its text tells nothing."""
    return bool(CONFIG_NAME.search(PurePath(path).name))


# --- Recognition ----------------------------------------------------------------------------------------------

HEAD_BYTES = 200_000  # signs stand early
FIRST_BYTES = 4_000  # enough for most files: the rest is read where they leave a doubt
CERTAIN = 4  # points of the first kind before the second, which no further sign changes
OTHER = "other"
SEVERAL = 3  # host names in one file: a second one may replace the first

# What is no config of a switch, by its ending.
NO_CONFIG = frozenset((
    ".csv", ".docx", ".gif", ".gz", ".html", ".j2", ".jinja", ".jinja2", ".jpeg", ".jpg", ".log", ".md", ".part", ".pcap",
    ".pdf", ".pkt", ".png", ".pptx", ".py", ".pyc", ".sh", ".svg", ".tmpl", ".tpl", ".vsdx", ".xlsx", ".zip",
))  # fmt: skip
# Of these, what a file of commands may be called as well.
SCRIPTS = frozenset((".log", ".part", ".sh"))


@dataclass(frozen=True, slots=True)
class Kind:
    """`nos` is one of the readers', another kind of file that one has (`interfaces`), "companion", or "" for what cannot be
    read."""

    nos: str
    reason: str = ""  # why it cannot be read
    config: bool = False  # it cannot be read, and yet is a config, or may well be: a device is missing
    hint: str = ""  # what to do about it, where that is particular to the file


class _Sign(NamedTuple):
    """A sign of a kind of file: its weight, its pattern, and words that stand in all that matches, which are sooner found."""

    weight: int
    pattern: re.Pattern[str]
    words: str

    def is_in(self, text: str) -> bool:
        return self.words in text and self.pattern.search(text) is not None


def _words_in(sign: str) -> str:
    """The longest words of a pattern that all of its matches have; "" where that is not plain to see."""
    flat = re.sub(r"\\.|\[[^\]]*\]", "\0", sign)
    while (inner := re.sub(r"\([^()]*\)", "\0", flat)) != flat:
        flat = inner
    flat = re.sub(r".(?:[?*+]|\{[\d,]*\})", "\0", flat)
    return "" if "|" in flat or "(?i" in sign else max(re.findall(r"[\w -]*", flat), key=len)


@cache
def _signs() -> Mapping[str, list[_Sign]]:
    """Kind of file → its signs; the kind that stands first wins where two have as many."""
    kinds = {nos: reader.signs for nos, reader in readers().items()}
    for reader in readers().values():
        kinds |= reader.other_kinds
    return {
        kind: [_Sign(weight, re.compile(sign, re.M), _words_in(sign)) for weight, sign in signs]
        for kind, signs in (kinds | {OTHER: [sign for signs in FOREIGN.values() for sign in signs]}).items()
    }


def recognize(path: str, text: str) -> Kind:
    """The kind of a file."""
    name = PurePath(path).name
    if "\0" in text[:HEAD_BYTES]:
        return Kind("", "binary")
    if text.lstrip()[:1] in ("{", "[", "<") and (kind := _other_form(text)):
        return kind
    if text.lstrip()[:5] == "<?xml":  # topologies of labs, with configs in them
        return Kind("", "a document in XML")
    if any(name in reader.companions for reader in readers().values()):
        return Kind("companion")
    if text.lstrip()[:1] in ("{", "[") and (nos := _json_kind(name, text)):
        return Kind(nos)
    text = _without_blank_lines(text[:HEAD_BYTES])
    scores = _scores(text)
    for nos, reader in readers().items():
        if text and reader.file_names and re.search(reader.file_names, name, re.I):
            scores[nos] += 2
    best = max(scores, key=lambda kind: scores[kind])
    if scores[best] < 2 or is_play(text):
        return _unread(path, text)
    if best == OTHER:
        return Kind("", f"{foreign(text)} config, and there is no reader for this network OS", config=True)
    hosts = {name for match in host_names(text) for name in match.groups() if name}
    return Kind("", SEVERAL_REASON, config=True) if len(hosts) >= SEVERAL else Kind(best)


def _other_form(text: str) -> Kind | None:
    """A config in JSON or XML of a network OS whose reader takes its text."""
    for nos, reader in readers().items():
        for pattern, command in reader.other_forms:
            if re.search(pattern, text[:HEAD_BYTES]):
                form = "XML" if text.lstrip()[0] == "<" else "JSON"
                hint = f"replace the file by the output of `{command}`"
                return Kind("", f"{target(nos).title} config in {form}", config=True, hint=hint)
    return None


def is_script(text: str) -> bool:
    """Whether most lines of a text are commands of a network OS that set its config, one over several lines counts once."""
    lines = [line for line in text[:HEAD_BYTES].replace("\\\n", " ").split("\n") if line.strip() and line.lstrip()[0] != "#"]
    return any(sum(bool(command.match(line)) for line in lines) * 2 > len(lines) for command in _commands())


@cache
def _commands() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(reader.script) for reader in readers().values() if reader.script)


def _unread(path: str, text: str) -> Kind:
    """What a text is that has no sign of a network OS."""
    if not text:
        return Kind("", EMPTY, named_as_config(path) or bool(_json_kind(PurePath(path).name, "")))
    if is_part(text):
        return Kind("", PART_REASON, config=True)
    if is_output(path, text):
        return Kind("", "output of commands")
    if is_data(path, text):
        return Kind("", "YAML or JSON data")
    return Kind("", "no sign of a network OS", named_as_config(path))


def _without_blank_lines(text: str) -> str:
    """Signs begin with any number of blanks: their time would grow with the square of that of blank lines."""
    return "\n".join(line for line in text.split("\n") if line.strip())


def _json_kind(name: str, text: str) -> str:
    """The network OS of a text in brackets, "" for none; the name of a file that is cut off tells as well."""
    for nos, reader in readers().items():
        named = reader.file_names and re.search(reader.file_names, name, re.I)
        if reader.is_json and (named or any(sign.is_in(text[:HEAD_BYTES]) for sign in _signs()[nos])):
            return nos
    return ""


def _scores(text: str) -> dict[str, int]:
    """Kind of file → the weight of its signs in the text. The head of the text decides where it leaves no doubt."""
    for length in (FIRST_BYTES, HEAD_BYTES):
        head = text[:length]
        scores = {kind: sum(sign.weight for sign in signs if sign.is_in(head)) for kind, signs in _signs().items()}
        first, second = sorted(scores.values(), reverse=True)[:2]
        if first - second >= CERTAIN or len(text) <= length:
            break
    return scores
