"""Words that only one statement has, where many similar statements have a word that differs in one letter.

No list of commands is complete, but a folder of configs has every command many times: `neighbour` once, `neighbor` 400 times.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple, TypeAlias

from fabric.audit.checks.role_peers.outline import MIN_LETTERS, MIN_USUAL, Outline
from fabric.audit.checks.role_peers.shapes import AT_PORT, NUMBER, STATED, VALUE
from fabric.nos.statements.syntax import Place

WORD = re.compile(r"[^\s|=]+")
MARK = re.compile(f"[{VALUE}{STATED}{AT_PORT}{NUMBER}]")
END = re.compile(r"(?:exit|end)(?:-|$)")  # words that close a section
PART = re.compile(r"[^-_.]+")
Words: TypeAlias = tuple[str, ...]  # of a statement, VALUE for any value


class Misspelled(NamedTuple):
    """A word that is most likely misspelled.

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
        texts = [statement.form.text for statement in own.statements]
        self.counts.update(texts)
        if not self.first.keys() >= set(texts):
            for text, place in zip(texts, own.statements.values(), strict=True):
                self.first.setdefault(text, (device, place))

    def copy(self) -> Forms:
        """To which other devices can be added."""
        return Forms(self.counts.copy(), self.first.copy())


def misspelled(forms: Forms, nos: str) -> list[Misspelled]:
    """Each word once, in the order of the files; words of other commands of the network OS are none."""
    usual, users = _usual(forms.counts)
    by_word: dict[tuple[int, str], Misspelled] = {}
    for text, count in forms.counts.items():
        words = _words(text) if count == 1 else ()
        for word, other, similar in (*_slips(words, usual), *_ends(words, nos)):
            if not users[word] and word not in command_words(nos):
                device, place = forms.first[text]
                known = by_word.get((device, word))
                if known is None or place.line < known.place.line:
                    by_word[device, word] = Misspelled(device, place, word, other, similar)
    return sorted(by_word.values(), key=lambda entry: (entry.place.file, entry.place.line))


def _usual(counts: Mapping[str, int]) -> tuple[dict[int, dict[Words, int]], Counter[str]]:
    """(number of words → the words of usual statements → statements, word → forms of several statements that have it)."""
    usual: dict[int, dict[Words, int]] = defaultdict(lambda: defaultdict(int))
    users = Counter[str]()
    for text, count in counts.items():
        if count > 1:
            words = _words(text)
            usual[len(words)][words] += count
            users.update(set(words))
    common = {
        length: {words: count for words, count in counts_of.items() if count >= MIN_USUAL}
        for length, counts_of in usual.items()
    }
    return common, users


def _slips(words: Words, usual: Mapping[int, Mapping[Words, int]]) -> Iterator[tuple[str, str, int]]:
    """(word, the word of similar statements, how many they are); a value of theirs may be any word."""
    best: dict[str, tuple[int, str]] = {}
    for other, count in usual.get(len(words), {}).items():
        slip = _slip(words, other)
        if slip is not None:
            word, right = slip
            best[word] = max(best.get(word, (0, "")), (count, right))
    yield from ((word, right, count) for word, (count, right) in best.items())


def _ends(words: Words, nos: str) -> Iterator[tuple[str, str, int]]:
    """A line of one word that is a misspelled end of a section, which is no statement itself."""
    if len(words) == 2 or words[-2:-1] == ("/",):
        yield from (
            (words[-1], right, 0) for right in sorted(command_words(nos)) if END.match(right) and is_slip(words[-1], right)
        )


def _slip(words: Words, other: Words) -> tuple[str, str] | None:
    """The one word that differs and is a slip, with the right one."""
    found = None
    for word, right in zip(words, other, strict=True):
        if word != right and right != VALUE:
            if found or word == VALUE:
                return None
            found = word, right
    return found if found is not None and is_slip(*found) else None


@cache
def command_words(nos: str) -> frozenset[str]:
    """Words of the shipped templates of a network OS."""
    from fabric.configs.templating.shipped import templates_root  # only where a word looks misspelled

    texts = (path.read_text(encoding="utf-8") for path in sorted((templates_root() / nos).glob("*.j2")))
    return frozenset(word for text in texts for word in WORD.findall(text))


def _words(text: str) -> Words:
    """The words of a form, VALUE for any value: behind a misspelled word another pattern may name it."""
    return tuple([VALUE if MARK.search(word) else word for word in WORD.findall(text)])


def is_slip(word: str, usual: str) -> bool:
    """Whether two words differ in one letter too many, too few, wrong or swapped; `team-a` and `team-b` are names."""
    if len(usual) < MIN_LETTERS:
        return len(usual) == MIN_LETTERS - 1 and word[:-1] == usual and word.isalpha()
    if word == usual or len(word) < MIN_LETTERS or abs(len(word) - len(usual)) > 1:
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
    return rest[1:] == other[1:] and rest[:1].isalpha() and all(len(one) >= MIN_LETTERS for one, _ in changed)
