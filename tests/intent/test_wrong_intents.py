"""Wrong intents and what is said about them: `tests/golden/intents/NAME.yaml` and the exact words in `NAME.txt`.

UPDATE_GOLDEN=1 rewrites the words; read the diff as the person who made the mistake.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from fabric.cli import main

GOLDEN = Path(__file__).parents[1] / "golden" / "intents"
CASES = sorted(path.stem for path in GOLDEN.glob("*.yaml"))
HEAD = re.compile(r"(?P<file>[^:]+):(?P<line>\d+):(?P<column>\d+): error\[(?P<code>FAB\d{3})\]: (?P<message>.+)")

# A message either says what was expected, or plainly what is wrong.
CLEAR = re.compile(
    r"expected|not YAML|unknown key|unknown (switch|server) model|stands twice|are named|overlaps|too small|are needed|"
    r"cannot be built|is in use|is pinned twice|lies in the pool|there is no switch|merge keys|the tiers mix|has no NICs|"
    r"unfolds to|server group|too large"
)

HEADER = "version: 1\nsite: dc1\nfabrics:\n  backend:\n"
FABRIC = "    servers: {model: dgx-h100, count: 64}\n    topology: {switch: sn5600, unit: {servers: 32}}\n"
GOOD = HEADER + FABRIC


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of `fabric ARGUMENTS`."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    out, err = capsys.readouterr()
    return int(stop.value.code or 0), out, err


def refused(capsys: pytest.CaptureFixture[str], output: Path, file: str, *, plan: bool = True) -> str:
    """What `plan` and `generate` both say about a wrong intent; neither prints a result or writes a file."""
    code, out, words = run(capsys, "generate", file, "-o", str(output))
    assert (code, out) == (2, ""), words
    assert "Traceback" not in words
    assert "internal error" not in words
    assert [path for path in output.rglob("*") if path.is_file()] == []
    if plan:
        assert run(capsys, "plan", file) == (2, "", words)
    return words


@pytest.mark.parametrize("name", CASES)
def test_wrong_intent(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(GOLDEN)
    golden = GOLDEN / f"{name}.txt"
    words = refused(capsys, tmp_path / "generated", f"{name}.yaml")
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(words, encoding="utf-8")
    assert words == golden.read_text(encoding="utf-8")


# --- what holds for all of them -----------------------------------------------------------------------------


def heads(name: str) -> list[re.Match[str]]:
    """The first line of every diagnostic of a golden file."""
    lines = (GOLDEN / f"{name}.txt").read_text(encoding="utf-8").split("\n")
    found = [HEAD.fullmatch(line) for line in lines if line and not line.startswith("    ")]
    assert found
    assert all(found), f"not a diagnostic in {name}.txt"
    return [match for match in found if match]


def test_there_are_enough() -> None:
    assert len(CASES) >= 75
    assert sorted(path.stem for path in GOLDEN.glob("*.txt")) == CASES


@pytest.mark.parametrize("name", CASES)
def test_every_message_points_into_its_file(name: str) -> None:
    source = (GOLDEN / f"{name}.yaml").read_text(encoding="utf-8")
    lines = source.split("\n")
    assert lines[0].startswith("# "), "the first line says what is wrong"
    for head in heads(name):
        line, column = int(head["line"]), int(head["column"])
        assert head["file"] == f"{name}.yaml"
        assert 1 <= line <= len(lines)
        assert 1 <= column <= len(lines[line - 1]) + 1


@pytest.mark.parametrize("name", CASES)
def test_every_message_is_clear(name: str) -> None:
    for head in heads(name):
        assert CLEAR.search(head["message"]), head["message"]


def test_nearly_every_message_has_a_hint() -> None:
    words = [(GOLDEN / f"{name}.txt").read_text(encoding="utf-8") for name in CASES]
    errors = sum(text.count(": error[FAB") for text in words)
    assert sum(text.count("\n    hint: ") for text in words) >= 0.9 * errors


@pytest.mark.parametrize(
    ("name", "pointed_at"),
    [
        ("type-count-text", ['"64"']),
        ("key-near", ["modell", "uplink", "oversubscribtion", "speed"]),
        ("model-all-tiers", ["dgx-h101", "sn-5600", "sn5600x", "qfx5240-64o"]),
        ("pool-overlap", ["10.0.128.0/17"]),
        ("uniform-spine-count", ["7"]),
        ("yaml-duplicate-key", ["qos"]),
        ("name-site-path", ["../x"]),
        ("pin-port-range", ["70", "71", "72", "73"]),
        ("checks-code", ["fab182"]),
        ("planned-smaller", ["32"]),
        ("nos-near", ["sonik", "fr"]),
        ("breakout-impossible-speed", ["300"]),
    ],
)
def test_the_place_is_the_offending_text(name: str, pointed_at: list[str]) -> None:
    lines = (GOLDEN / f"{name}.yaml").read_text(encoding="utf-8").split("\n")
    found = [lines[int(head["line"]) - 1][int(head["column"]) - 1 :] for head in heads(name)]
    assert [text[: len(word)] for text, word in zip(found, pointed_at, strict=True)] == pointed_at


# --- files that are unsuitable for git ----------------------------------------------------------------------


def write(folder: Path, content: str | bytes) -> str:
    path = folder / "i.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return "i.yaml"


def bomb(levels: int) -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, levels)]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "i.yaml:1:1: error[FAB007]: expected an intent, got an empty file"),
        (b"version: 1\nsite: d\xe9\n", "i.yaml:2:8: error[FAB003]: expected UTF-8 text, got the byte 0xe9"),
        (b"\x7fELF\x02\x01\x01\x00\x00\xff\xfe", "i.yaml:1:10: error[FAB003]: expected UTF-8 text, got the byte 0xff"),
        (b"\x00" * 64, "i.yaml:1:1: error[FAB003]: not YAML: control characters are not allowed"),
        (bomb(12), "error[FAB004]: the file unfolds to more than 500,000 values"),
        ("a: " + "[" * 5_000, "i.yaml:1:44: error[FAB008]: expected at most 40 levels, got more"),
        ("{a: " * 5_000, "error[FAB008]: expected at most 40 levels, got more"),
        ("- " * 5_000 + "x\n", "error[FAB008]: expected at most 40 levels, got more"),
        ("a: " + "9" * 100_000 + "\n", "error[FAB101]: unknown key 'a'"),
        ("k" * 100_000 + ": 1\n", "error[FAB003]: not YAML"),
        ('? "' + "k" * 100_000 + '"\n: 1\n', "error[FAB101]: unknown key 'kkk"),
        ("\n".join(f"k{n}: 1" for n in range(3_000)) + "\n", "i.yaml:3000:1: error[FAB101]: unknown key 'k2999'"),
    ],
    ids=[
        "empty", "latin-1", "binary", "zeros", "alias-bomb", "deep-lists", "deep-mappings", "deep-sequences", "long-number",
        "long-key", "long-quoted-key", "many-mistakes",
    ],
)  # fmt: skip
def test_hostile_file(
    content: str | bytes,
    expected: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    words = refused(capsys, tmp_path / "out", write(tmp_path, content))
    assert expected in words
    assert all(len(line) < 1_000 for line in words.split("\n"))


def test_file_of_100_mb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    with (tmp_path / "i.yaml").open("wb") as stream:
        stream.truncate(100_000_000)
    words = refused(capsys, tmp_path / "out", "i.yaml")
    assert words == (
        "i.yaml:1:1: error[FAB002]: the file is too large: expected at most 8 MB\n"
        "    hint: an intent is a short text; is this the right file?\n"
    )


@pytest.mark.parametrize("kind", ["missing", "folder", "dangling link", "long name"])
def test_no_file(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    name = "x" * 300 + ".yaml" if kind == "long name" else "i.yaml"
    if kind == "folder":
        (tmp_path / name).mkdir()
    elif kind == "dangling link":
        (tmp_path / name).symlink_to("nowhere.yaml")
    words = refused(capsys, tmp_path / "out", name)
    assert "error[FAB001]: cannot be read: " in words
    assert "hint: " in words


# --- the lock file ------------------------------------------------------------------------------------------

MERGE = "<<<<<<< HEAD\n{0}=======\n{0}>>>>>>> growth\n"


@pytest.mark.parametrize(
    ("lock", "expected"),
    [
        ("", "lock.yaml:1:1: error[FAB150]"),
        ("version: 1\nfabrics: {}\n".join(["<<<<<<< HEAD\n", ">>>>>>> growth\n"]), "lock.yaml:"),
        (MERGE.format("version: 1\nfabrics: {}\n"), "lock.yaml:"),
        ("version: 2\nfabrics: {}\n", "lock.yaml:1:10: error[FAB150]: lock file version: expected 1, got 2"),
        ("version: 1\n", "error[FAB150]: lock file: expected a mapping of fabrics"),
        ("version: 1\nfabrics: []\n", "error[FAB150]: lock file: expected a mapping of fabrics"),
        ("version: 1\nfabrics: {backend: 5}\n", "error[FAB150]: lock file: 'blocks' is damaged"),
        ("version: 1\nfabrics: {backend: {blocks: [1]}}\n", "error[FAB150]: lock file: 'blocks' is damaged"),
        (
            "version: 1\nfabrics: {backend: {blocks: {id/leaf: ['rows=1']}}}\n",
            "error[FAB150]: lock file: expected a block",
        ),
        (
            "version: 1\nfabrics: {backend: {wiring: {leaf-spine: [x]}}}\n",
            "error[FAB150]: lock file: expected a wiring",
        ),
        ("version: 1\nfabrics: {backend: {shape: {tiers: two}}}\n", "error[FAB150]: lock file: 'shape' is damaged"),
        ("version: 1\nfabrics: {backend: {attachments: {ufm: [x]}}}\n", "error[FAB150]: lock file: expected leaf:slot"),
        ("\x00\x01\x02", "error[FAB003]: not YAML"),
    ],
)
def test_damaged_lock(
    lock: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    file = write(tmp_path, GOOD)
    kept = tmp_path / "generated" / "dc1" / "lock.yaml"
    kept.parent.mkdir(parents=True)
    kept.write_text(lock, encoding="utf-8")
    for command in ("plan", "generate"):
        code, out, words = run(capsys, command, file)
        assert (code, out) == (2, "")
        assert expected in words
        assert HEAD.match(words)
        assert [path.name for path in kept.parent.rglob("*") if path.is_file()] == ["lock.yaml"]


# --- a site's own templates and patches ---------------------------------------------------------------------

BGP = '{% extends "sonic/frr.conf.j2" %}{% block bgp %}BODY{% endblock %}\n'
TEMPLATES = {
    "syntax": (BGP.replace("{% endblock %}", ""), "not a Jinja template: Unexpected end of template"),
    "undefined": (
        BGP.replace("BODY", "\n{{ nothing.here }}"),
        "line 2: cannot be printed for 'backend-spine001': 'nothing'",
    ),
    "division": (BGP.replace("BODY", "{{ 1 / 0 }}"), "cannot be printed for 'backend-spine001': division by zero"),
    "sandbox": (
        BGP.replace("BODY", "{{ ''.__class__.__mro__ }}"),
        "access to attribute '__class__' of 'str' object is unsafe",
    ),
    "include": (
        BGP.replace("BODY", "{% include '/etc/passwd' %}"),
        "line 1: include: expected the name of a shipped template, got '/etc/passwd'",
    ),
    "endless": (BGP.replace("BODY", "{% for n in range(10 ** 9) %}x{% endfor %}"), "cannot be printed for"),
    "no-base": ("router bgp 1\n", 'expected {% extends "…" %} of one of eos/device.j2'),
    "wrong-base": ('{% extends "sonic/frr.j2" %}\n', "got 'sonic/frr.j2'"),
    "other-base": ('{% extends "../../etc/passwd" %}\n', "got '../../etc/passwd'"),
    "computed-base": ('{% extends "a" ~ "b" %}\n', "expected {% extends"),
    "wrong-block": (BGP.replace("bgp", "bgb"), "line 1: expected a block of sonic/frr.conf.j2, got 'bgb'"),
}


@pytest.mark.parametrize("name", TEMPLATES)
def test_wrong_template(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text, expected = TEMPLATES[name]
    (tmp_path / f"{name}.j2").write_text(text, encoding="utf-8")
    file = write(tmp_path, HEADER + "    nos: sonic\n" + FABRIC + f"overrides: {{template: {name}.j2}}\n")
    words = refused(capsys, tmp_path / "out", file, plan=False)
    assert f"i.yaml:8:23: error[FAB170]: override template '{name}.j2'" in words
    assert expected in words


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("template: ../../../etc/passwd", "i.yaml:8:23: error[FAB170]: override template '../../../etc/passwd'"),
        ("template: /etc/passwd", "expected a file below the folder of the intent"),
        ("template: link.j2", "override template 'link.j2': expected a file below the folder of the intent"),
        ("template: folder", "override template 'folder': there is no such file"),
        ("template: nowhere.j2", "override template 'nowhere.j2': there is no such file"),
        ("template: bytes.j2", "override template 'bytes.j2', line 1: expected UTF-8 text"),
        (r'file: config_db.json, patch: {"a\nb": 1}', r"control character in 'a\nb'"),
        (r'file: config_db.json, patch: {NTP: {x: ["a\u2028b"]}}', r"control character in 'a\u2028b'"),
        ("role: core, file: config_db.json, patch: {}", "overrides[0]: expected a switch that it applies to, got none"),
        (
            "devices: nobody*, file: config_db.json, patch: {}",
            "overrides[0]: expected a switch that it applies to, got none",
        ),
    ],
)
def test_wrong_override(
    override: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link.j2").symlink_to("/etc/passwd")
    (tmp_path / "folder").mkdir()
    (tmp_path / "bytes.j2").write_bytes(b"\xff\xfe")
    file = write(tmp_path, HEADER + "    nos: sonic\n" + FABRIC + f"overrides: {{{override}}}\n")
    words = refused(capsys, tmp_path / "out", file, plan=False)
    assert expected in words
    assert HEAD.match(words)


@pytest.mark.parametrize(
    ("nos", "switch", "expected"),
    [
        ("sonic", "64x800g", "no SONiC port map is known of this box"),
        ("eos", "sn5600", "error[FAB161]"),
    ],
)
def test_nos_that_cannot_run_the_switch(
    nos: str,
    switch: str,
    expected: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    file = write(tmp_path, HEADER + f"    nos: {nos}\n" + FABRIC.replace("sn5600", switch))
    words = refused(capsys, tmp_path / "out", file, plan=False)
    assert expected in words
    assert words.startswith("i.yaml:7:24: error[FAB161]: ")
