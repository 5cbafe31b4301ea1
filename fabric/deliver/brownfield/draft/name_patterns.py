"""Name patterns: which parts of the names of devices are numbers of theirs, and which are text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

Coordinates = Mapping[str, int]  # of a device by field, from 1: {"unit": 1, "rail": 3}
FREE = ("unit", "rack", "pod")  # fields whose numbers a lock keeps; the others follow from the wiring
_HINTS = {  # the end of the text before a number
    "unit": re.compile(r"(?i)(^|[^a-z])(u|su|unit|pod|block|stripe)[-_.]?$"),
    "rack": re.compile(r"(?i)(^|[^a-z])(rack|r|rk)[-_.]?$"),
    "pod": re.compile(r"(?i)(^|[^a-z])(p|pod)[-_.]?$"),
    "plane": re.compile(r"(?i)(^|[^a-z])(p|pl|plane)[-_.]?$"),
    "rail": re.compile(r"(?i)(^|[^a-z])(r|rail)[-_.]?$"),
}
_FIELD = re.compile(r"\{(\w+)(?::0?(\d*))?\}")


@dataclass(frozen=True)
class Pattern:
    """A pattern, and the numbers that each name gives its fields; None for a name of another form."""

    text: str
    values: tuple[Mapping[str, int] | None, ...]

    @property
    def fitting(self) -> int:
        """Names of the form of the pattern."""
        return sum(its is not None for its in self.values)

    @property
    def alone(self) -> bool:
        """Whether {n} is the only number."""
        return {name for name, _ in _FIELD.findall(self.text)} & {"n", *FREE, "plane", "rail"} == {"n"}


def pattern(
    names: Sequence[str], coordinates: Sequence[Coordinates], default: str, words: Mapping[str, str]
) -> Pattern | None:
    """The pattern that fits most names, the default first.

    Args:
        names: of the devices of one role, in the order of the plan's tables.
        coordinates: of each, the fields that its role has.
        words: text of the fields that are no numbers, `{"fabric": "backend"}`.
    """
    if not names:
        return None
    usual = _matched(default, names, words)
    if usual.fitting == len(names) and _distinct(usual):
        return usual
    found = [its for its in (usual, *_candidates(names, coordinates, words)) if its.fitting and _distinct(its)]
    found = [its for its in found if its.alone or _counts(its, coordinates)]
    found = [its for its in found if all(values.get("n", 1) > 0 for values in its.values if values)]  # numbers begin at 1
    return max(found, key=lambda its: (its.fitting, _score(its.text)), default=None)


def _counts(found: Pattern, coordinates: Sequence[Coordinates]) -> bool:
    """Whether {n} counts from 1 among the devices with equal values of the other fields."""
    numbers: dict[tuple[int, ...], list[int]] = {}
    for values, own in zip(found.values, coordinates, strict=True):
        if values is not None and "n" in values:
            key = tuple(own.get(field, 0) for field in sorted(values) if field != "n")
            numbers.setdefault(key, []).append(values["n"])
    return all(sorted(its) == list(range(1, len(its) + 1)) for its in numbers.values())


def _score(text: str) -> float:
    """How well the text before each number tells what it is; fewer fields are better where it does not."""
    score, at = 0.0, 0
    for match in _FIELD.finditer(text):
        before, name = text[at : match.start()], match[1]
        if name in _HINTS:
            score += 1 if _HINTS[name].search(before) else -1.5
        elif name == "n" and any(hint.search(before) for hint in _HINTS.values()):
            score -= 1
        at = match.end()
    return score


def _distinct(found: Pattern) -> bool:
    values = [tuple(sorted(its.items())) for its in found.values if its is not None]
    return len(set(values)) == len(values)


def _matched(text: str, names: Sequence[str], words: Mapping[str, str]) -> Pattern:
    """The numbers that names have in a pattern."""
    parts, at = [], 0
    for match in _FIELD.finditer(text):
        parts.append(re.escape(text[at : match.start()]))
        name, width = match[1], int(match[2] or 0)
        digits = rf"0\d{{{width - 1}}}|[1-9]\d{{{width - 1},}}" if width > 1 else r"[1-9]\d*|0"
        zeros = "|".join(rf"0{{{zero}}}[1-9]\d{{{width - zero - 1}}}" for zero in range(1, width))
        digits = rf"{zeros}|[1-9]\d{{{max(0, width - 1)},}}" if width > 1 else digits
        parts.append(re.escape(words[name]) if name in words else rf"(?P<{name}>{digits})")
        at = match.end()
    form = re.compile("".join((*parts, re.escape(text[at:]))))
    matches = (form.fullmatch(name) for name in names)
    return Pattern(text, tuple({key: int(its) for key, its in m.groupdict().items()} if m else None for m in matches))


def _candidates(names: Sequence[str], coordinates: Sequence[Coordinates], words: Mapping[str, str]) -> Iterator[Pattern]:
    """Patterns made of the usual form of the names."""
    split = [re.split(r"(\d+)", _shown(name, words)) for name in names]
    forms = Counter(tuple(parts[::2]) for parts in split)
    texts = forms.most_common(1)[0][0]
    rows = [at for at, parts in enumerate(split) if tuple(parts[::2]) == texts]
    columns = [[split[row][2 * at + 1] for row in rows] for at in range(len(texts) - 1)]
    its = [coordinates[row] for row in rows]
    varying = [at for at, column in enumerate(columns) if len(set(column)) > 1]
    last = len(columns) - 1
    if len(varying) <= 1 and columns:
        yield _filled(texts, columns, {varying[0] if varying else last: "n"}, names, words)
    for fields in permutations(("n", *(its[0] if its else ())), len(varying)):
        chosen = dict(zip(varying, fields, strict=True))
        if not all(field == "n" or _follows(columns[at], its, field) for at, field in chosen.items()):
            continue
        if "n" not in fields and last >= 0 and last not in varying and int(columns[last][0]) == 1:
            yield _filled(texts, columns, {**chosen, last: "n"}, names, words)
        elif varying:
            yield _filled(texts, columns, chosen, names, words)


def _shown(name: str, words: Mapping[str, str]) -> str:
    """A name with fields in place of the words that it has: `{fabric}-leaf1`."""
    for field in ("site", "fabric", "group"):
        word = words.get(field, "")
        if len(word) > 1:
            name = re.sub(rf"(?<![A-Za-z0-9{{]){re.escape(word)}(?![A-Za-z}}])", f"{{{field}}}", name, count=1)
    return name


def _follows(column: Sequence[str], coordinates: Sequence[Coordinates], field: str) -> bool:
    """Whether the numbers of a column are those of a field, or stand for them one to one."""
    pairs = {(its.get(field, 0), int(text)) for text, its in zip(column, coordinates, strict=True)}
    if field not in FREE:
        return all(one == other for one, other in pairs)
    values = [other for _, other in pairs]
    return len({one for one, _ in pairs}) == len(pairs) == len(set(values)) and min(values) > 0


def _filled(
    texts: Sequence[str],
    columns: Sequence[Sequence[str]],
    fields: Mapping[int, str],
    names: Sequence[str],
    words: Mapping[str, str],
) -> Pattern:
    """A pattern of texts and numbers; numbers that are no field stand as they are."""
    parts = [texts[0]]
    for at, column in enumerate(columns):
        width = max((len(text) for text in column if text.startswith("0")), default=0)
        field = fields.get(at)
        parts.append(column[0] if field is None else f"{{{field}:0{width}}}" if width > 1 else f"{{{field}}}")
        parts.append(texts[at + 1])
    return _matched("".join(parts), names, words)
