"""Names that the statements of a device use and do not define, for the tests of each network OS."""

from __future__ import annotations

from collections.abc import Mapping

from fabric.audit.checks import syntax_of
from fabric.audit.checks.files.policy import undefined
from fabric.audit.checks.role_peers.outline import names_of
from fabric.model.facts import Located
from fabric.nos.reading import read_device


def undefined_in(nos: str, files: Mapping[str, str]) -> list[Located[str]]:
    """In the order of the statements, each use once."""
    facts = read_device("device", nos, files)
    found = undefined(syntax_of(nos).names, names_of(facts))
    return list(dict.fromkeys(Located(str(one.value), one.line, one.file) for one in found))
