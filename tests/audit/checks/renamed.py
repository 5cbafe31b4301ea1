"""Every name that is defined and used is renamed where it is defined, one after the other: is the use of nothing found?

A name is renamed on all lines that define it, in one file, if another line of the device has it as well. What a line
defines is in `names.yaml` of the network OS: definitions of kinds that no list has
are not counted, ports and bonds neither.

    python -m tests.audit.checks.renamed [NOS…]       generated configs of seven designs
    python -m tests.audit.checks.renamed DIR          the configs of a folder
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fabric.audit.checks import syntax_of
from fabric.audit.checks.files.policy import undefined
from fabric.audit.checks.role_peers.outline import names_of
from fabric.model.facts import Facts
from fabric.nos.reading import read_device, scan
from fabric.nos.statements.names import GIVEN
from tests.audit.checks.shapes import SHAPES, SYSTEMS, samples


@dataclass
class Found:
    """Counts.

    Attributes:
        kinds: (kind of name, found?) → names that were renamed.
        missed: each that was not found, as text.
    """

    kinds: Counter[tuple[str, bool]] = field(default_factory=Counter)
    missed: list[str] = field(default_factory=list)

    def add(self, facts: Facts, files: Mapping[str, str]) -> None:
        """Every name of a device that is defined and used."""
        before = set(_uses(facts))
        for kind, name, file, lines in _defined(facts):
            text = files[file].split("\n")
            for line in lines:
                text[line - 1] = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", f"{name}-RENAMED", text[line - 1])
            changed = read_device(facts.name, facts.nos, {**files, file: "\n".join(text)})
            hit = any(name in use for use in set(_uses(changed)) - before)
            self.kinds[kind, hit] += 1
            if not hit:
                self.missed.append(f"{facts.name} {file}:{lines[0]} {kind} {name}: {text[lines[0] - 1].strip()[:80]}")


def _uses(facts: Facts) -> Iterator[str]:
    """Names that are used and not defined."""
    yield from (fact.value for fact in undefined(syntax_of(facts.nos).names, names_of(facts)))


def _defined(facts: Facts) -> Iterator[tuple[str, str, str, list[int]]]:
    """(kind, name, file, lines of its definition) of every name that another line of the device has as well."""
    names = syntax_of(facts.nos).names
    lines: dict[tuple[int, str, str], list[int]] = {}
    for name, place in names_of(facts):
        if not name.used and not name.of and name.text != GIVEN and not name.text.isdigit():
            rows = facts.texts[place.file].split("\n")
            head = next((at for at in range(place.line, 0, -1) if name.text in rows[at - 1]), place.line)
            lines.setdefault((name.kind, name.text, place.file), []).append(head)
    words = Counter(word for text in facts.texts.values() for row in text.split("\n") for word in set(WORD.findall(row)))
    for (kind, name, file), own in lines.items():
        built_in = names.kinds[kind].built_in
        if words[name] > len(set(own)) and not PORT.fullmatch(name) and not (built_in and built_in.fullmatch(name)):
            yield names.kinds[kind].title, name, file, sorted(set(own))


WORD = re.compile(r"[\w-]+")
PORT = re.compile(
    r"(?:swp|[Ee]th|eth|mgmt|et-|Management|irb|ae|Vlan|vlan|bond|br|po|[Pp]ort|lo).*"
)  # is there without a name


def of_designs(nos: str) -> Found:
    """The names of the first switch of each role of seven designs."""
    result = Found()
    for shape in SHAPES:
        for switch in samples(nos, shape):
            result.add(read_device(switch.view.device.name, nos, switch.files), switch.files)
    return result


def of_folder(path: Path) -> Found:
    """The names of all devices of a folder."""
    result = Found()
    for own in scan(path).devices:
        result.add(read_device(own.name, own.nos, own.files), own.files)
    return result


def main() -> None:
    """The counts and what is missed."""
    words = sys.argv[1:]
    folders = [Path(word) for word in words if word not in SYSTEMS]
    for what in folders or [word for word in words if word in SYSTEMS] or SYSTEMS:
        result = of_folder(what) if isinstance(what, Path) else of_designs(what)
        hits = sum(count for (_, hit), count in result.kinds.items() if hit)
        every = sum(result.kinds.values())
        print(f"{what}: {hits} of {every} = {100 * hits / max(1, every):.0f} %", flush=True)
        for kind in sorted({kind for kind, _ in result.kinds}):
            print(f"   {kind}: {result.kinds[kind, True]} of {result.kinds[kind, True] + result.kinds[kind, False]}")
        print("\n".join(f"   {line}" for line in result.missed[:40]))


if __name__ == "__main__":
    main()
