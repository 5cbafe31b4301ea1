"""The server's side: how it is reached, and what is made of answers that are none."""

from __future__ import annotations

import socket
import sys

import pytest

from fabric.audit.checks.batfish import run
from fabric.audit.checks.batfish.client import Server, Unanswered, _reason, address, rows_of
from fabric.base.diagnostics import MissingError
from tests.audit.checks.batfish.helpers import Site, small

HOSTS = {
    "batfish": ("batfish", 9996),
    "10.0.0.1:19996": ("10.0.0.1", 19996),
    "fd00::1": ("fd00::1", 9996),
    "localhost:": ("localhost:", 9996),
}


@pytest.mark.parametrize(("text", "expected"), HOSTS.items())
def test_address(text: str, expected: tuple[str, int]) -> None:
    assert address(text) == expected


@pytest.fixture
def unowned() -> str:
    """A port that nothing listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{one.getsockname()[1]}"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return small(tmp_path_factory.mktemp("small"))


def test_no_server_is_one_line(site: Site, unowned: str) -> None:
    pytest.importorskip("pybatfish", reason="the client of Batfish is not installed")
    with pytest.raises(MissingError) as error:
        run(site.plan, site.files, unowned)
    assert str(error.value) == f"no Batfish server answers at {unowned}: Connection refused"


def test_no_client_is_one_line(monkeypatch: pytest.MonkeyPatch, unowned: str) -> None:
    for name in ("pybatfish", "pybatfish.client", "pybatfish.client.session"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingError) as error:
        Server(unowned, "network")
    assert str(error.value) == "the Batfish client is not installed: run `pip install 'fabricwright[batfish]'`"


def test_rows() -> None:
    assert rows_of({"answerElements": [{"rows": [{"Node": "leaf"}]}]}) == [{"Node": "leaf"}]


def test_an_answer_in_words_is_no_answer() -> None:
    """Batfish answers so when nothing matches a location; an empty table would have looked like a pass."""
    with pytest.raises(Unanswered, match=r"^All sources have empty source IpSpaces$"):
        rows_of({"answerElements": [{"class": "StringAnswerElement", "answer": "All sources have empty source IpSpaces"}]})


REASONS = {
    "Work terminated abnormally\nwork_item: {}\n": "Work terminated abnormally",
    "Exception\nCaused by: A: first\n\tat x\nCaused by: B: last\n": "B: last",
    "": "no reason given",
    "x" * 300: "x" * 200,
}


@pytest.mark.parametrize(("text", "expected"), REASONS.items())
def test_reasons_are_one_line(text: str, expected: str) -> None:
    assert _reason(text) == expected
