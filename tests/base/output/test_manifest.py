"""Damaged manifests and damaged journals end in an error that says what to do."""

import hashlib
from pathlib import Path

import pytest

from fabric.base.output import OutputError, check, recover, site_folder, unfinished
from fabric.base.output.journal import Step
from tests.base.output.helpers import count_steps, generate, killed_at, snapshot, whole

SHA = "a" * 64
OTHER = "b" * 64


def test_round_trip_is_sorted_by_byte() -> None:
    owned = {"b": SHA, "a/é": OTHER, "a b": SHA, "Z": SHA}
    data = site_folder.render(owned)
    assert [line[66:] for line in data.decode().splitlines()] == ["Z", "a b", "a/é", "b"]
    assert site_folder.parse(data) == owned


@pytest.mark.parametrize("marker", ["<<<<<<< HEAD", "=======", ">>>>>>> branch", "||||||| base"])
def test_conflict_markers(site: Path, marker: str) -> None:
    generate(site, {"a": b"1"})
    (site / "manifest.txt").write_text(f"{SHA}  a\n{marker}\n{OTHER}  b\n")
    before = snapshot(site)
    for run in (lambda: generate(site, {"a": b"2"}), lambda: check(site, [])):
        with pytest.raises(OutputError, match="line 2: a merge left conflict markers") as raised:
            run()
        assert "fabric generate" in raised.value.hint
    assert snapshot(site) == before


def test_both_sides_of_a_merge_may_stay(site: Path) -> None:
    generate(site, {"a": b"1", "gone": b"1"})
    real = hashlib.sha256(b"1").hexdigest()
    (site / "manifest.txt").write_text(f"{OTHER}  a\n{real}  a\n{OTHER}  elsewhere\n{real}  gone\n")
    generate(site, {"a": b"2"})
    assert snapshot(site) == whole({"a": b"2"})


@pytest.mark.parametrize(
    "text", ["what\n", f"{SHA} a\n", f"{SHA}  ../a\n", f"{SHA}  /etc/passwd\n", f"{SHA}  a\r\n", "\udcff"]
)
def test_damaged_lines(text: str) -> None:
    with pytest.raises(OutputError):
        site_folder.parse(text.encode(errors="surrogateescape"))


def test_line_ends_of_windows_are_named() -> None:
    with pytest.raises(OutputError, match="line 1: expected a line that ends with LF, got CRLF") as raised:
        site_folder.parse(f"{SHA}  a\r\n{OTHER}  b\r\n".encode())
    assert ".gitattributes" in raised.value.hint


OLD = {"a": b"1", "b/c": b"1", "gone": b"1"}
NEW = {"a": b"2", "b/c": b"1", "new": b"2"}


def kill_before(site: Path, word: str) -> None:
    """Leave `site` between OLD and NEW, killed before the first step `word`."""

    def run(step: Step) -> None:
        generate(site, NEW, step=step)

    generate(site, OLD)
    number = count_steps(run).index(word)
    generate(site, OLD)
    assert killed_at(number, run)


@pytest.mark.parametrize("left", ["", "half", "all but the last byte", "garbled", "not text"])
def test_a_torn_record_is_rolled_back(site: Path, left: str) -> None:
    kill_before(site, "remove a file")
    record = site / ".journal" / "commit"
    data = record.read_bytes()
    torn = {
        "": b"",
        "half": data[: len(data) // 2],
        "all but the last byte": data[:-1],
        "garbled": data.replace(b"changed", b"removed", 1),
        "not text": b"\xff" * 100,
    }
    record.write_bytes(torn[left])
    assert unfinished(site)
    assert recover(site) == "rolled back"
    assert snapshot(site) == whole(OLD)
    assert recover(site) is None


@pytest.mark.parametrize("line", ["remove {sha} ../../x", "new ../../../x a", "chmod {sha} a"])
def test_a_record_from_elsewhere_cannot_reach_out(site: Path, line: str) -> None:
    kill_before(site, "remove a file")
    base = (site / ".journal" / "commit").read_text().split("\n")[0]
    body = f"{base}\n{line.format(sha=SHA)}\n"
    (site / ".journal" / "commit").write_text(f"{body}end {hashlib.sha256(body.encode()).hexdigest()}\n")
    before = snapshot(site)
    with pytest.raises(OutputError):
        recover(site)
    assert snapshot(site) == before


def test_damaged_staged_content_is_noticed_before_anything_is_done(site: Path) -> None:
    kill_before(site, "remove a file")
    next((site / ".journal" / "new").iterdir()).write_bytes(b"")
    before = snapshot(site)
    with pytest.raises(OutputError, match="damaged") as raised:
        recover(site)
    assert ".journal" in raised.value.hint
    assert snapshot(site) == before


def test_a_journal_of_another_checkout_is_not_finished(site: Path) -> None:
    kill_before(site, "place a file")
    (site / "manifest.txt").write_bytes(b"")
    with pytest.raises(OutputError, match="changed since"):
        recover(site)


def test_work_done_between_kill_and_recovery_is_not_lost(site: Path) -> None:
    kill_before(site, "remove a file")
    (site / "gone").write_bytes(b"edited")
    (site / "new").write_bytes(b"theirs")
    with pytest.raises(OutputError, match="cannot write new: not in the manifest"):
        recover(site)
    assert (site / "new").read_bytes() == b"theirs"
    (site / "new").unlink()
    assert recover(site) == "finished"
    assert snapshot(site) == {**whole(NEW), "gone": b"edited"}


def test_recover_without_a_folder_makes_none(site: Path) -> None:
    assert recover(site) is None
    assert not unfinished(site)
    assert not site.exists()
