"""check and diff: they tell what generate would do and write nothing."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from fabric.base.output import Comparison, OutputError, check, diff
from tests.base.output.helpers import Files, generate, killed_at, snapshot

CLEAN = Comparison(missing=(), different=(), orphaned=(), unowned=(), stale_manifest=False, unfinished=False)


def test_a_generated_folder_is_clean(site: Path) -> None:
    generate(site, {"a/b": b"1"})
    assert check(site, [("a/b", b"1")]) == CLEAN
    assert CLEAN.clean


def test_every_finding(site: Path) -> None:
    generate(site, {"same": b"1", "edited": b"1", "lost": b"1", "orphan": b"1", "limited": b"1"})
    (site / "edited").write_bytes(b"2")
    (site / "lost").unlink()
    (site / "theirs").write_bytes(b"2")
    before = snapshot(site)
    want = {"same": b"1", "edited": b"1", "lost": b"1", "theirs": b"1", "more": b"1"}
    found = check(site, want.items(), keep=lambda path: path == "limited")
    assert found == Comparison(
        missing=("lost", "more"),
        different=("edited",),
        orphaned=("orphan",),
        unowned=("theirs",),
        stale_manifest=True,
        unfinished=False,
    )
    assert not found.clean
    assert snapshot(site) == before


def test_an_absent_folder_is_not_made(site: Path) -> None:
    assert check(site, [("a", b"1")]).missing == ("a",)
    assert not site.exists()


def test_a_file_to_adopt_and_a_wrong_line_make_the_manifest_stale(site: Path) -> None:
    generate(site, {"a": b"1"})
    (site / "b").write_bytes(b"1")
    found = check(site, [("a", b"1"), ("b", b"1")])
    assert (found.missing, found.unowned, found.stale_manifest) == ((), (), True)
    (site / "manifest.txt").write_text(f"{'0' * 64}  a\n")
    assert check(site, [("a", b"1")]).stale_manifest


def test_an_unfinished_run_shows(site: Path) -> None:
    generate(site, {"a": b"1"})
    # Step 1: the first file is about to be staged.
    assert killed_at(1, lambda step: generate(site, {"a": b"2", "b": b"1"}, step=step))
    before = snapshot(site)
    assert check(site, [("a", b"1")]).unfinished
    assert snapshot(site) == before


@pytest.mark.parametrize("function", [check, lambda site, files: list(diff(site, files))])
def test_a_path_twice(site: Path, function: object) -> None:
    with pytest.raises(OutputError, match="twice"):
        function(site, [("a", b"1"), ("a", b"1")])  # type: ignore[operator]


def test_diff_text(site: Path) -> None:
    generate(site, {"a": b"1\n2\n", "gone": b"x\n", "same": b"s\n"})
    text = "".join(diff(site, [("a", b"1\n3\n"), ("new", b"n"), ("same", b"s\n")], prefix="generated/ams1/"))
    assert text == (
        "diff --git a/generated/ams1/a b/generated/ams1/a\n"
        "--- a/generated/ams1/a\n+++ b/generated/ams1/a\n@@ -1,2 +1,2 @@\n 1\n-2\n+3\n"
        "diff --git a/generated/ams1/new b/generated/ams1/new\nnew file mode 100644\n"
        "--- /dev/null\n+++ b/generated/ams1/new\n@@ -0,0 +1 @@\n+n\n\\ No newline at end of file\n"
        "diff --git a/generated/ams1/gone b/generated/ams1/gone\ndeleted file mode 100644\n"
        "--- a/generated/ams1/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
    )


def test_diff_leaves_out_what_generate_leaves_alone(site: Path) -> None:
    generate(site, {"limited": b"1", "orphan": b"1"})
    (site / "orphan").write_bytes(b"edited")
    (site / "theirs").write_bytes(b"theirs")
    assert list(diff(site, [("theirs", b"1")], keep=lambda path: path == "limited")) == []


TEXT = st.text(st.sampled_from("ab\n\r\f\u2028é"), max_size=12).map(str.encode)
SETS = st.dictionaries(st.sampled_from(["a", "b c", "d/e", "ü", 'q"']), TEXT | st.just(b"\xff\n"))


@settings(max_examples=60, deadline=None)
@given(SETS, SETS)
def test_git_applies_the_diff(tmp_path_factory: pytest.TempPathFactory, old: Files, new: Files) -> None:
    site = tmp_path_factory.mktemp("site")
    generate(site, old)
    text = "".join(diff(site, new.items())).encode(errors="surrogateescape")
    if text:
        subprocess.run(["git", "apply", "--whitespace=nowarn", "-"], cwd=site, input=text, check=True)
    after = snapshot(site)
    del after["manifest.txt"]
    assert {path: data for path, data in after.items() if not path.endswith("/")} == new
