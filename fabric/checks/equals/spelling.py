"""Words that only one statement has, where many similar statements have a word that differs in one letter.

No list of commands is complete, but a folder of configs has every command many times: `neighbour` once, `neighbor` 400 times.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from fabric.checks.equals.outline import AT_PORT, NUMBER, STATED, VALUE, Outline
from fabric.nos.statements.syntax import Place

USUAL = 5  # statements that make a word usual
SHORTEST = 3  # letters of a usual word
WORD = re.compile(r"[^\s|=]+")
MARK = re.compile(f"[{VALUE}{STATED}{AT_PORT}{NUMBER}]")
PART = re.compile(r"[^-_.]+")
Slot = tuple[int, tuple[str, ...]]  # position of a word, and the others of its statement


class Misspelt(NamedTuple):
    """A word that is most likely misspelt.

    Attributes:
        device: `id()` of its facts.
        place: of the first statement with it.
        word: the word.
        usual: the word of similar statements.
        similar: statements with it.
    """

    device: int
    place: Place
    word: str
    usual: str
    similar: int


@dataclass
class Forms:
    """The forms of all statements of one network OS.

    Attributes:
        counts: text of a form → statements.
        first: text of a form → the first statement with it.
    """

    counts: Counter[str] = field(default_factory=Counter)
    first: dict[str, tuple[int, Place]] = field(default_factory=dict)

    def add(self, device: int, own: Outline) -> None:
        """The statements of a device."""
        self.counts.update([row.form.text for row in own.all_rows])
        first = self.first
        for form, _, place in own.all_rows:
            if form.text not in first:
                first[form.text] = device, place

    def copy(self) -> Forms:
        """To which other devices can be added."""
        return Forms(self.counts.copy(), self.first.copy())


def misspelt(forms: Forms, nos: str) -> list[Misspelt]:
    """Each word once, in the order of the files; words of other commands of the network OS are none."""
    rare = {text: _words(text) for text, count in forms.counts.items() if count == 1}
    slots = _slots(forms.counts, (slot for words in rare.values() for slot, _ in _slots_of(words)))
    users: Counter[str] = Counter(
        word for text, count in forms.counts.items() if count > 1 for word in set(_words(text))
    )  # forms of several statements, by word
    found: dict[tuple[int, str], Misspelt] = {}
    for text, words in rare.items():
        for slot, word in _slots_of(words):
            alike = [(count, other) for other, count in slots[slot].items() if count >= USUAL and is_slip(word, other)]
            if alike and not users[word] and word not in command_words(nos):
                count, usual = max(alike)
                device, place = forms.first[text]
                known = found.get((device, word))
                if known is None or place.line < known.place.line:
                    found[device, word] = Misspelt(device, place, word, usual, count)
    return sorted(found.values(), key=lambda one: (one.place.file, one.place.line))


@cache
def command_words(nos: str) -> frozenset[str]:
    """Words of the shipped templates of a network OS."""
    from fabric.templating.shipped import templates_root  # only where a word looks misspelt

    texts = (path.read_text(encoding="utf-8") for path in sorted((templates_root() / nos).glob("*.j2")))
    return frozenset(word for text in texts for word in WORD.findall(text))


def _words(text: str) -> tuple[str, ...]:
    """The words of a form, VALUE for any value: behind a misspelt word another pattern may name it."""
    return tuple([VALUE if MARK.search(word) else word for word in WORD.findall(text)])


def _slots_of(words: tuple[str, ...]) -> Iterator[tuple[Slot, str]]:
    for at, word in enumerate(words):
        if at and word != VALUE and len(word) >= SHORTEST:
            yield (at, (*words[:at], *words[at + 1 :])), word


def _slots(counts: Mapping[str, int], wanted: Iterable[Slot]) -> dict[Slot, dict[str, int]]:
    """Slot → the words in it → statements."""
    slots: dict[Slot, dict[str, int]] = {slot: defaultdict(int) for slot in wanted}
    for text, count in counts.items():
        for slot, word in _slots_of(_words(text)):
            if slot in slots:
                slots[slot][word] += count
    return slots


def is_slip(word: str, usual: str) -> bool:
    """Whether two words differ in one letter too many, too few, wrong or swapped; `team-a` and `team-b` are names."""
    if word == usual or min(len(word), len(usual)) < SHORTEST or abs(len(word) - len(usual)) > 1:
        return False
    same = next((at for at, (one, other) in enumerate(zip(word, usual, strict=False)) if one != other), None)
    if same is None:
        return word[-1:].isalpha() if len(word) > len(usual) else usual[-1:].isalpha()
    rest, other = word[same:], usual[same:]
    if len(word) != len(usual):
        return rest[1:] == other or rest == other[1:]
    if rest[2:] == other[2:] and rest[:2] == other[1::-1]:
        return True
    changed = [(one, two) for one, two in zip(PART.findall(word), PART.findall(usual), strict=False) if one != two]
    return rest[1:] == other[1:] and rest[:1].isalpha() and all(len(one) >= SHORTEST for one, _ in changed)
