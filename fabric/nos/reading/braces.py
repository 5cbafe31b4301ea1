"""Texts whose sections stand in braces: their words and signs, and what in them has no meaning."""

from __future__ import annotations

import re

COMMENT = r"/\*.*?(?:\*/|\Z)|\#[^\n]*"
# Over several lines: a certificate. A quote behind a backslash begins none, so that no text is searched for an end twice.
QUOTED = r'(?<!\\)(?:"(?:[^"\\\n]|\\.)*"|"(?:[^"\\]|\\.)*"(?=\s*(?:[;\]{#]|$)))'
TOKEN = re.compile(
    rf"""
    \n
  | ^(?:\{{\w+(?::\w+)*\}}|\[edit[^\n]*\]|[^\s@"{{}};]+@[^\s"{{}};]+[>#%](?=[ \n]))  # what a prompt shows beside a config
  | ^![^\n]*  # a header that a tool put there
  | [{{}};\]]
  | \[(?=\s)
  | {COMMENT}
  | {QUOTED}
  | (?:[^\s{{}};"$]+|\$\{{\w+\}}|\$)+
  | "[^"\\\n]*\\[^\n]*  # never closed: the rest of its line, whose quotes are all escaped
  | "
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
ASIDE = re.compile(f"{QUOTED}|{COMMENT}", re.MULTILINE | re.DOTALL)


def bare(text: str) -> str:
    """A text without comments and with `''` for what stands in quotes: braces in them have no meaning. Its lines stay."""
    return ASIDE.sub(lambda match: "\n" * match[0].count("\n") or "''", text)


def is_open(token: str) -> bool:
    """Whether a token is a quote that is never closed."""
    if token[0] != '"' or (token[-1] == '"' and token[-2:-1] not in ("", "\\")):
        return False
    return len(token) == 1 or token[-1] != '"' or (len(token) - len(token[:-1].rstrip("\\"))) % 2 == 0


def unquoted(token: str) -> str:
    return token[1:-1].replace('\\"', '"') if token[:1] == '"' else token
