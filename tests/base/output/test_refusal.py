"""What a run refuses to write, and that it then changes nothing."""

import os
from pathlib import Path

import pytest

from fabric.base.output import OutputError, Store, check
from tests.base.output.helpers import generate, snapshot


@pytest.mark.parametrize("owned", [True, False])
@pytest.mark.parametrize("link", ["folder", "folder/file"])
def test_symlinks_are_refused(site: Path, tmp_path: Path, owned: bool, link: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_bytes(b"1")
    generate(site, {"folder/file": b"1"} if owned else {})
    (site / "folder" / "file").unlink(missing_ok=True)
    if link == "folder":
        (site / "folder").rmdir() if owned else None
        (site / "folder").symlink_to(outside)
    else:
        (site / "folder").mkdir(exist_ok=True)
        (site / "folder" / "file").symlink_to(outside / "file")
    for data in (b"1", b"2"):
        with pytest.raises(OutputError, match=r"folder/file: .*symlink"):
            generate(site, {"folder/file": data})
    assert check(site, [("folder/file", b"1")]).unowned == ("folder/file",)
    # As an orphan it is not removed through the link either.
    assert generate(site, {}).kept == (("folder/file",) if owned else ())
    assert snapshot(outside) == {"file": b"1"}


@pytest.mark.parametrize("name", [".journal", ".journal/new", "manifest.txt"])
def test_own_files_may_not_be_symlinks(site: Path, tmp_path: Path, name: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_bytes(b"1")
    (site / name).parent.mkdir(parents=True)
    (site / name).symlink_to(outside)
    with pytest.raises(OutputError, match="is not a"):
        generate(site, {"a": b"1"})
    assert snapshot(outside) == {"file": b"1"}


def test_a_pipe_in_the_way_is_refused_without_waiting_for_it(site: Path) -> None:
    site.mkdir(parents=True)
    os.mkfifo(site / "a")
    with pytest.raises(OutputError, match="a: not a regular file"):
        generate(site, {"a": b"1"})


@pytest.mark.parametrize(
    "path",
    [
        *("", "/a", "../a", "a/../b", "a/..", ".", "./a", "a//b", "a/", "a\\b", "a\nb", "a\0", "a\x7f", "a\udc80"),
        *("manifest.txt", ".journal", ".journal/commit", "manifest.txt/a"),
    ],
)
def test_bad_paths(site: Path, path: str) -> None:
    with pytest.raises(OutputError, match="cannot be an output file"):
        generate(site, {"good": b"1", path: b"1"})
    with pytest.raises(OutputError):
        check(site, [(path, b"1")])
    assert not site.exists()


def test_a_path_too_long_is_an_output_error(site: Path) -> None:
    with pytest.raises(OutputError, match="too long"):
        generate(site, {"a" * 300: b"1"})


@pytest.mark.parametrize("paths", [["a", "a/b"], ["a/b/c", "a"]])
def test_a_file_cannot_be_a_folder_too(site: Path, paths: list[str]) -> None:
    with pytest.raises(OutputError, match="also the folder"):
        generate(site, dict.fromkeys(paths, b"1"))
    assert not site.exists()


def test_a_path_generated_twice(site: Path) -> None:
    with Store(site).transaction() as run:
        run.write("a", b"1")
        with pytest.raises(OutputError, match="twice"):
            run.write("a", b"1")


def test_a_kept_file_does_not_give_way_to_a_folder(site: Path) -> None:
    generate(site, {"a": b"1", "b/c": b"1"})
    (site / "a").write_bytes(b"edited")
    (site / "b" / "mine").write_bytes(b"mine")
    before = snapshot(site)
    with pytest.raises(OutputError, match=r"a/x: its folder a is a file\n  b: a folder with other files"):
        generate(site, {"a/x": b"1", "b": b"1"})
    assert snapshot(site) == before


def test_an_unwritable_folder_is_an_output_error(site: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    site.mkdir(parents=True, mode=0o555)
    with pytest.raises(OutputError, match="Permission denied"):
        generate(site, {"a": b"1"})
