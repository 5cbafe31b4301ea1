"""Each exception of the comparison of role peers (FAB289): its pair of configs needs it, and with it there is no finding."""

from __future__ import annotations

import pytest

from fabric.audit.checks.role_peers import exceptions as table
from fabric.audit.checks.role_peers.exceptions import PeerException, exceptions
from fabric.audit.checks.run import check_network
from tests.audit.checks.files.helpers import Files, network

HEADS = {"junos": "set system host-name leaf{n}\n"}
DEVICES = 4


def files(entry: PeerException) -> Files:
    """The first leaf differs by design from the others."""
    texts = {
        n: HEADS.get(entry.nos, "hostname leaf{n}\n") + (entry.own if n == 1 else entry.usual) for n in range(1, DEVICES + 1)
    }
    return {f"leaf{n}.{entry.nos}": text.replace("{n}", str(n)) for n, text in texts.items()}


def found(entry: PeerException) -> list[str]:
    findings, _ = check_network(network(files(entry)))
    return [f"{finding.device}: {finding.message}" for finding in findings if finding.id == "FAB289"]


@pytest.mark.parametrize("entry", exceptions(), ids=lambda entry: entry.name)
def test_a_pair_of_configs_needs_its_exception(entry: PeerException, monkeypatch: pytest.MonkeyPatch) -> None:
    assert found(entry) == []
    monkeypatch.setattr(table, "exceptions", lambda: tuple(other for other in exceptions() if other is not entry))
    (without,) = found(entry)
    assert without.startswith("leaf1: ")


def test_names_and_reasons_are_unique() -> None:
    assert len({entry.name for entry in exceptions()}) == len({entry.reason for entry in exceptions()}) == len(exceptions())
