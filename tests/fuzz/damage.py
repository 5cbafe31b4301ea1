"""Damage to a text: bytes, lines, numbers, and what is peculiar to YAML and JSON."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

Damage = Callable[[random.Random, bytes], bytes]

NUMBERS = (
    *("0", "1", "-1", "2", "3", "7", "10", "63", "64", "65", "127", "128", "255", "256", "1000", "4094", "4095", "9217"),
    *("65535", "65536", "338630", "1000000", "9999999", "10000000", "10000001", "99999999", "2147483648", "4294967296"),
    *("9223372036854775808", "18446744073709551616", "1" + "0" * 30, "1" * 5000, "-9999999", "0.5", "1.5", "-0.0", "1e308"),
    *("1e-308", "1e400", ".nan", "nan", ".inf", "-.inf", "inf", "0o17", "017", "0x1F", "1_000", "1:30", "2026-11-22"),
)
WORDS = (
    *("", "~", "null", "true", "no", "on", "{}", "[]", "[[]]", "{a: 1}", "[1, 2]", "''", '""', "' '", "a b", "a/b", "../x"),
    *("/etc/passwd", "-", "--", "*", "?", "%", "${HOME}", "{n}", "{{ 7 }}", "{0}", "{n:999999999}", "%s", "\\", "ä", "名前"),
    *("\u202e", "\U0001f600", "\ue000", "a" * 300, "x-" * 40, "nul", "con", ".", "..", "a..b", "0.0.0.0/0", "::/0", "::1"),
    *(
        "10.0.0.0/33",
        "10.0.0.1/8",
        "255.255.255.255/32",
        "10.0.0.0/31",
        "fd00::/64",
        "1.2.3",
        "0001..9999",
        "gpu-0001..99999999",
    ),
    *(
        "!!python/object/apply:os.system [id]",
        "!!binary aGk=",
        "!!set {a, b}",
        "&a [*a]",
        "*nowhere",
        "<<: {a: 1}",
        "? a\n: b",
    ),
)
_NUMBER = re.compile(rb"(?<![\w.])-?\d+(?:\.\d+)?")
_WORD = re.compile(rb"[A-Za-z][\w./:-]*")


def damaged(dice: random.Random, text: bytes, kinds: Sequence[Damage]) -> bytes:
    """One to four kinds of damage, one after the other."""
    for _ in range(dice.choice((1, 1, 1, 2, 2, 4))):
        text = dice.choice(kinds)(dice, text)
    return text


def _at(dice: random.Random, text: bytes) -> int:
    return dice.randrange(len(text) + 1)


def _splice(dice: random.Random, text: bytes, piece: bytes) -> bytes:
    at = _at(dice, text)
    return text[:at] + piece + text[at:]


def cut(dice: random.Random, text: bytes) -> bytes:
    return text[: _at(dice, text)]


def hole(dice: random.Random, text: bytes) -> bytes:
    at = _at(dice, text)
    return text[:at] + text[at + dice.choice((1, 2, 7, 40)) :]


def byte(dice: random.Random, text: bytes) -> bytes:
    return _splice(
        dice, text, dice.choice((b"\0", b"\xe9", b"\xff\xfe", b"\x1b[31m", b"\r", b"\x0c", b"\xc2\x85", b"\xed\xa0\x80"))
    )


def sign(dice: random.Random, text: bytes) -> bytes:
    return _splice(
        dice,
        text,
        dice.choice((b"{", b"}", b"[", b"]", b":", b": ", b"- ", b'"', b"'", b"#", b"&", b"*", b"|", b">", b",", b"\\")),
    )


def mark(dice: random.Random, text: bytes) -> bytes:
    return dice.choice((b"\xef\xbb\xbf", b"\xff\xfe", b"%YAML 9.9\n---\n", b"---\n", b"\0")) + text


def line_ends(dice: random.Random, text: bytes) -> bytes:
    return text.replace(b"\n", dice.choice((b"\r\n", b"\r", b"\n\n", b"")))


def tabs(dice: random.Random, text: bytes) -> bytes:
    return text.replace(b"  ", b"\t", dice.choice((1, 3, -1)))


def line(dice: random.Random, text: bytes) -> bytes:
    """A line removed, repeated, moved, with other indentation, or exchanged."""
    lines = text.split(b"\n")
    a, b = dice.randrange(len(lines)), dice.randrange(len(lines))
    what = dice.randrange(6)
    if what == 0:
        del lines[a]
    elif what == 1:
        lines.insert(b, lines[a])
    elif what == 2:
        lines[a], lines[b] = lines[b], lines[a]
    elif what == 3:
        lines[a] = b" " * dice.choice((1, 2, 4, 100)) + lines[a]
    elif what == 4:
        lines[a] = lines[a].lstrip()
    else:
        lines[a : a + dice.choice((1, 5, 50))] = []
    return b"\n".join(lines)


def number(dice: random.Random, text: bytes) -> bytes:
    """Another number in a number's place."""
    places = list(_NUMBER.finditer(text))
    if not places:
        return text
    place = dice.choice(places)
    return text[: place.start()] + dice.choice(NUMBERS).encode() + text[place.end() :]


def word(dice: random.Random, text: bytes) -> bytes:
    """Another word in a word's place, one of the text itself or an odd one."""
    places = list(_WORD.finditer(text))
    if not places:
        return text
    place = dice.choice(places)
    other = dice.choice(places).group() if dice.random() < 0.5 else dice.choice(WORDS).encode()
    return text[: place.start()] + other + text[place.end() :]


def long_word(dice: random.Random, text: bytes) -> bytes:
    return _splice(dice, text, dice.choice((b"a", b"1", b" ", b"(", b"-")) * dice.choice((1000, 20_000)))


def nested(dice: random.Random, text: bytes) -> bytes:
    """Nesting that ends the patience of a recursive reader."""
    deep = dice.choice((50, 2000, 100_000))
    return _splice(dice, text, dice.choice((b"[", b'{"a":', b"{a: ", b"- ", b"{\n")) * deep)


def empty(dice: random.Random, text: bytes) -> bytes:
    return dice.choice((b"", b"\n", b" ", b"{}", b"[]", b"null", b"0", b'"x"', b"\0" * 100))


def binary(dice: random.Random, text: bytes) -> bytes:
    return dice.choice((b"", b"\x1f\x8b\x08\x00", b"PK\x03\x04", b"\x7fELF")) + dice.randbytes(300)


def bomb(dice: random.Random, text: bytes) -> bytes:
    """Aliases of aliases: nine lines that unfold to a billion values."""
    lines = [b"a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [b"a%d: &a%d [%s]" % (n, n, b", ".join([b"*a%d" % (n - 1)] * 10)) for n in range(1, 10)]
    return text + b"\n" + b"\n".join(lines) + b"\n"


def yaml_feature(dice: random.Random, text: bytes) -> bytes:
    """A value of one line becomes something that YAML can say."""
    lines = text.split(b"\n")
    able = [at for at, each in enumerate(lines) if b": " in each]
    if not able:
        return text
    at = dice.choice(able)
    key, _, _ = lines[at].partition(b": ")
    lines[at] = key + b": " + dice.choice((*WORDS, *NUMBERS)).encode("utf-8")
    return b"\n".join(lines)


ANY: tuple[Damage, ...] = (cut, hole, byte, sign, mark, line_ends, tabs, line, line, number, number, word, word, long_word)
ANY += (nested, empty, binary)
YAML: tuple[Damage, ...] = (*ANY, bomb, yaml_feature, yaml_feature)
GENTLE: tuple[Damage, ...] = (line, line, number, number, number, word, word, hole)  # much of the file can still be read
