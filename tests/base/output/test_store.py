"""What a run writes, removes, adopts, keeps and refuses."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from fabric.base.output import OutputError, Store, check, unfinished
from tests import samples
from tests.base.output.helpers import generate, listed, snapshot, whole


def test_only_what_changes_is_written(site: Path) -> None:
    first = generate(site, {"a": b"1", "b/c": b"1", "d": b"1"})
    assert first.new == ("a", "b/c", "d")
    assert (first.changed, first.removed, first.kept) == ((), (), ())
    before = {path: os.stat(site / path) for path in ("a", "b/c", "manifest.txt")}

    second = generate(site, {"a": b"1", "b/c": b"1", "d": b"1"})
    assert (second.new, second.changed, second.unchanged, second.recovered) == ((), (), 3, None)
    generate(site, {"a": b"1", "b/c": b"2", "d": b"1"})
    after = {path: os.stat(site / path) for path in before}
    assert (before["a"].st_mtime_ns, before["a"].st_ino) == (after["a"].st_mtime_ns, after["a"].st_ino)
    assert before["b/c"].st_ino != after["b/c"].st_ino
    assert before["manifest.txt"].st_ino != after["manifest.txt"].st_ino


def test_an_unchanged_run_leaves_the_manifest_alone(site: Path) -> None:
    generate(site, {"a": b"1"})
    before = os.stat(site / "manifest.txt")
    generate(site, {"a": b"1"})
    after = os.stat(site / "manifest.txt")
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)


def test_bytes_and_modes(site: Path) -> None:
    old = os.umask(0o022)
    try:
        generate(site, {"crlf": b"a\r\nb\rc", "empty": b"", "utf8 ü name": b"\xff\x00"})
    finally:
        os.umask(old)
    assert (site / "crlf").read_bytes() == b"a\r\nb\rc"
    assert {os.stat(file).st_mode & 0o777 for file in site.iterdir()} == {0o644}


def test_sha256sum_checks_the_manifest(site: Path) -> None:
    generate(site, {"b c": b"1", "a/ü": b"2", " lead": b"3", "*star": b"4"})
    assert subprocess.run(["sha256sum", "-c", "--strict", "manifest.txt"], cwd=site, capture_output=True).returncode == 0


def test_orphans_and_empty_folders_go(site: Path) -> None:
    generate(site, {"a/b/c": b"1", "a/d": b"1", "e/f/g": b"1"})
    (site / "e" / "mine").write_bytes(b"not ours")
    changes = generate(site, {"a/d": b"1"})
    assert changes.removed == ("a/b/c", "e/f/g")
    assert snapshot(site) == {**whole({"a/d": b"1"}), "e/mine": b"not ours"}


def test_the_last_file_may_go(site: Path) -> None:
    generate(site, {"a/b": b"1"})
    generate(site, {})
    assert snapshot(site) == {"manifest.txt": b""}


def test_hand_edits(site: Path) -> None:
    generate(site, {"still": b"1", "orphan": b"1", "deleted": b"1", "gone": b"1"})
    (site / "still").write_bytes(b"!")  # same size
    (site / "orphan").write_bytes(b"edited")
    (site / "deleted").unlink()
    (site / "gone").unlink()
    changes = generate(site, {"still": b"1", "deleted": b"1"})
    assert (changes.changed, changes.kept, changes.new, changes.removed) == (("still",), ("orphan",), ("deleted",), ())
    assert snapshot(site) == {**whole({"still": b"1", "deleted": b"1"}), "orphan": b"edited"}
    # It is theirs now: the next run says nothing of it, and does not overwrite it.
    assert generate(site, {"still": b"1", "deleted": b"1"}).kept == ()
    with pytest.raises(OutputError, match="orphan: not in the manifest"):
        generate(site, {"orphan": b"1"})


def test_equal_files_are_adopted_and_others_refused_together(site: Path) -> None:
    generate(site, {"ours": b"1"})
    for name in ("equal", "other", "more"):
        (site / name).write_bytes(b"theirs")
    before = snapshot(site)
    with pytest.raises(OutputError) as refused:
        generate(site, {"ours": b"2", "equal": b"theirs", "other": b"x", "more": b"y"})
    assert "more: not in the manifest\n  other: not in the manifest" in refused.value.message
    assert "equal: " not in refused.value.message
    assert refused.value.hint
    assert snapshot(site) == before

    changes = generate(site, {"ours": b"2", "equal": b"theirs"})
    assert (changes.unchanged, changes.changed) == (1, ("ours",))
    assert (site / "manifest.txt").read_bytes() == listed({"ours": b"2", "equal": b"theirs"})


def test_limit_leaves_the_rest_alone(site: Path) -> None:
    generate(site, {"leaf1/c": b"1", "leaf2/c": b"1", "leaf2/old": b"1", "spine1/c": b"1"})
    (site / "spine1/c").write_bytes(b"edited")
    changes = generate(site, {"leaf2/c": b"2"}, keep=lambda path: not path.startswith("leaf2/"))
    assert (changes.changed, changes.removed, changes.kept) == (("leaf2/c",), ("leaf2/old",), ())
    want = {"leaf1/c": b"1", "leaf2/c": b"2", "spine1/c": b"1"}
    assert snapshot(site) == {**whole(want), "spine1/c": b"edited"}


def test_a_failing_renderer_changes_nothing(site: Path) -> None:
    def fail_half_way() -> None:
        with Store(site).transaction() as run:
            run.write("a", b"2")
            run.write("b", b"%d" % (1 // 0))

    with pytest.raises(ZeroDivisionError):
        fail_half_way()
    assert not site.exists()
    generate(site, {"a": b"1"})
    with pytest.raises(ZeroDivisionError):
        fail_half_way()
    assert snapshot(site) == whole({"a": b"1"})


def test_leaving_without_commit_changes_nothing(site: Path) -> None:
    with Store(site).transaction() as run:
        run.write("a", b"2")
    assert not site.exists()


NAMES = st.sampled_from(["a", "b", "a/b", "a/c", "a/b/c", "b/c", "d/e/f", "d/e", "x y/ü"])
SETS = st.dictionaries(NAMES, st.binary(max_size=3)).filter(
    lambda files: not any(one != two and two.startswith(f"{one}/") for one in files for two in files)
)


@settings(max_examples=samples.examples(90), deadline=None)
@given(st.lists(SETS, max_size=5))
def test_any_sequence_of_file_sets(tmp_path_factory: pytest.TempPathFactory, sets: list[dict[str, bytes]]) -> None:
    site = tmp_path_factory.mktemp("site")
    before: dict[str, bytes] = {}
    for files in sets:
        changes = generate(site, files)
        assert snapshot(site) == whole(files)
        assert check(site, files.items()).clean
        assert not unfinished(site)
        assert set(changes.new) == files.keys() - before.keys()
        assert set(changes.removed) == before.keys() - files.keys()
        assert set(changes.changed) == {path for path in files.keys() & before.keys() if files[path] != before[path]}
        before = files
