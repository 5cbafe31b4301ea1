"""Wrong intents and what is reported about them: `tests/golden/intents/NAME.yaml` and the exact words in `NAME.txt`.

Read a change of the words as the person who made the mistake.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fabric.cli import main
from tests.goldens import GOLDEN, golden

INTENTS = GOLDEN / "intents"
CASES = sorted(path.stem for path in INTENTS.glob("*.yaml"))
HEAD = re.compile(r"(?P<file>[^:]+):(?P<line>\d+):(?P<column>\d+): error\[(?P<code>FAB\d{3})\]: (?P<message>.+)")

# A message either says what was expected, or plainly what is wrong.
CLEAR = re.compile(
    r"expected|not YAML|unknown key|unknown (switch|server) model|is repeated|are named|overlaps|too small|are needed|"
    r"cannot be built|is in use|is pinned twice|lies in the pool|unknown switch|merge keys|the tiers mix|"
    r"has no NICs|duplicate|missing key|does not exist|unfolds to|server group|too large"
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
    monkeypatch.chdir(INTENTS)
    golden(f"intents/{name}.txt", refused(capsys, tmp_path / "generated", f"{name}.yaml"))


# --- what holds for all of them -----------------------------------------------------------------------------


def heads(name: str) -> list[re.Match[str]]:
    """The first line of every diagnostic of a golden file."""
    lines = (INTENTS / f"{name}.txt").read_text(encoding="utf-8").split("\n")
    found = [HEAD.fullmatch(line) for line in lines if line and not line.startswith("    ")]
    assert found
    assert all(found), f"not a diagnostic in {name}.txt"
    return [match for match in found if match]


def test_there_are_enough() -> None:
    assert len(CASES) >= 75
    assert sorted(path.stem for path in INTENTS.glob("*.txt")) == CASES


@pytest.mark.parametrize("name", CASES)
def test_every_message_points_into_its_file(name: str) -> None:
    source = (INTENTS / f"{name}.yaml").read_text(encoding="utf-8")
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
    words = [(INTENTS / f"{name}.txt").read_text(encoding="utf-8") for name in CASES]
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
    lines = (INTENTS / f"{name}.yaml").read_text(encoding="utf-8").split("\n")
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
        (
            bomb(12),
            "error[FAB004]: the file expands to more than 500,000 values\n    hint: write the values without nested aliases",
        ),
        (
            "a: [" + "x, " * 500_000 + "x]",
            "error[FAB004]: the file has more than 500,000 values\n    hint: design it as several sites",
        ),
        ("a: " + "[" * 500, "i.yaml:1:44: error[FAB008]: expected at most 40 levels, got more"),
        ("a: " + "[" * 5_000, "error[FAB008]: expected at most 40 levels, got more"),
        ("{a: " * 5_000, "error[FAB008]: expected at most 40 levels, got more"),
        ("- " * 5_000 + "x\n", "error[FAB008]: expected at most 40 levels, got more"),
        ("a: " + "9" * 100_000 + "\n", "error[FAB101]: unknown key 'a'"),
        ("k" * 100_000 + ": 1\n", "error[FAB003]: not YAML"),
        ('? "' + "k" * 100_000 + '"\n: 1\n', "error[FAB101]: unknown key 'kkk"),
        ("\n".join(f"k{n}: 1" for n in range(3_000)) + "\n", "i.yaml:3000:1: error[FAB101]: unknown key 'k2999'"),
    ],
    ids=[
        "empty", "latin-1", "binary", "zeros", "alias-bomb", "many-values",
        "deep-lists", "deeper-lists", "deep-mappings", "deep-sequences",
        "long-number", "long-key", "long-quoted-key", "many-mistakes",
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

LOCK = "version: 2\nnumbers:\n"
OLD_LOCK = "version: 1\nfabrics: {backend: "
IDS = "  - backend id/unit/gpu rows=0-1 columns=0-0 base=0 stride=1 step=1\n"
LOOPBACKS = "  - backend address/loopback/leaf rows=0-1 columns=0-0 base={} stride={} step={}\n"
WIRING = (
    "  - backend wiring leaf-spine epoch=1 uppers={} links={} lowers=2 after=0 tiers=2 networks=1 uplink_gbps=400 "
    "units_per_pod=0\n"
)


@pytest.mark.parametrize(
    ("lock", "expected"),
    [
        ("", "lock.yaml:1:1: error[FAB150]: lock file: the file is empty"),
        (
            f"{LOCK}<<<<<<< HEAD\n{IDS}",
            "lock.yaml:3:1: error[FAB150]: lock file: expected no merge conflict, got its markers",
        ),
        (f"{LOCK}{IDS}=======\n", "lock.yaml:4:1: error[FAB150]"),
        ("version: 3\nnumbers: []\n", "lock.yaml:1:10: error[FAB150]: lock file version: expected 2, got '3'"),
        (f"version: 1\n{LOCK}{IDS}", "lock.yaml:2:1: error[FAB150]: lock file: two format versions in one file"),
        ("\x00\x01\x02", "lock.yaml:1:1: error[FAB150]: lock file: expected `version: 2`, got none"),
        (f"{LOCK}what\n", "lock.yaml:3:1: error[FAB155]: lock file: expected `  - FABRIC KIND …`, got 'what'"),
        (f"{LOCK}  - backend\n", "lock.yaml:3:5: error[FAB155]: lock file: expected FABRIC KIND KEY=VALUE …, got 'backend'"),
        (f"{LOCK}  - backend tenants red number=1\n", "lock.yaml:3:13: error[FAB155]"),
        (f"{LOCK}  - backend tenants red number=1\n", "did you mean 'tenant'?"),
        (f"{LOCK}  - backend id/nodes/gpu rows=0-1\n", "lock.yaml:3:13: error[FAB155]"),
        (
            f"{LOCK}  - backend tenant red/one number=1\n",
            "lock.yaml:3:20: error[FAB155]: lock file: tenant: unknown name 'red/one'",
        ),
        (f"{LOCK}  - backend wiring leaf-core epoch=1\n", "lock.yaml:3:20: error[FAB155]: lock file: wiring: unknown name"),
        (f"{LOCK}  - backend tenant red number=1 color=2\n", "lock.yaml:3:33: error[FAB155]: lock file: unknown key 'color'"),
        (f"{LOCK}  - backend tenant red\n", "lock.yaml:3:5: error[FAB155]: lock file: expected number=, got no number"),
        (
            f"{LOCK}  - backend tenant red number=1 number=2\n",
            "lock.yaml:3:33: error[FAB155]: lock file: expected number once",
        ),
        (f"{LOCK}  - backend tenant red number=true\n", "lock.yaml:3:31: error[FAB156]: lock file: number: expected a whole"),
        (f"{LOCK}  - backend tenant red number=١\n", "lock.yaml:3:31: error[FAB156]"),
        (f"{LOCK}  - backend tenant red number=-1\n", "from 1 to 16777215, got '-1'"),
        (f"{LOCK}  - backend network red/a number=1 vlan=4095\n", "vlan: expected a whole number from 2 to 4094, got '4095'"),
        (
            f"{LOCK}  - backend switch sn5600 cages=64 splits=2x400\n",
            "cages: expected FIRST-LAST within 0 and 8191, got '64'",
        ),
        (
            f"{LOCK}  - backend switch sn5600 cages=1-64 splits=2x400,1x400\n",
            "lock.yaml:3:45: error[FAB156]: lock file: splits: expected PORTSxGBPS,… with each speed once, got '2x400,1x400'",
        ),
        (f"{LOCK}  - backend switch sn5600 cages=1-64 splits=400\n", "with each speed once, got '400'"),
        (f"{LOCK}{IDS.replace('0-1', '1-0')}", "lock.yaml:3:30: error[FAB156]: lock file: rows: expected FIRST-LAST"),
        (f"{LOCK}{IDS.replace('0-1', '0-99999999')}", "rows: expected FIRST-LAST within 0 and 16777215, got '0-99999999'"),
        (f"{LOCK}{IDS.replace('base=0', 'base=2147483647')}", "base: expected ids below 2147483648"),
        (LOCK + LOOPBACKS.format("10.0.0.3", 0, 1), "stride: expected a whole number from 1 to "),
        (LOCK + LOOPBACKS.format("10.0.0.3", 1, 2), "stride: expected at least 2, the width of a row"),
        (LOCK + LOOPBACKS.format("172.16.0.999", 1, 1), "base: expected an address (IPv4 addresses), got '172.16.0.999'"),
        (LOCK + LOOPBACKS.format("fd00::1", 1, 1), "base: expected IPv4 addresses of a pool, got 'fd00::1'"),
        (LOCK + LOOPBACKS.format("255.255.255.255", 1, 1), "base: expected IPv4 addresses below 4294967296"),
        (f"{LOCK}  - backend asn/leaf rows=0-1 columns=0-0 base=4294967295 stride=1 step=1\n", "base: expected AS numbers"),
        (LOCK + WIRING.format(99999999, "gpu:1"), "uppers: expected a whole number from 1 to 8192, got '99999999'"),
        (LOCK + WIRING.format(2, "gpu:two"), "links: expected GROUP:LINKS,… with each group once, got 'gpu:two'"),
        (LOCK + WIRING.format(2, "gpu:2,gpu:1"), "links: expected GROUP:LINKS,… with each group once"),
        (LOCK + WIRING.format(4096, "gpu:8"), "links: expected at most 8192 uplinks per switch"),
        (f"{LOCK}  - backend attachment ufm port=0 leaf=1 slot=1\n", "port: expected a whole number from 1 to"),
        ("version: 1\n", "error[FAB150]: lock file: expected a mapping of fabrics"),
        ("version: 1\nfabrics: []\n", "error[FAB150]: lock file: expected a mapping of fabrics"),
        (f"{OLD_LOCK}5}}\n", "lock.yaml:2:20: error[FAB150]: lock file: expected a mapping, got 5"),
        (f"{OLD_LOCK}{{blocks: [1]}}}}\n", "error[FAB150]: lock file: expected lists by name in 'blocks'"),
        (f"{OLD_LOCK}{{other: 1}}}}\n", "lock.yaml:2:21: error[FAB155]: lock file: unknown section 'other'"),
        (
            f"{OLD_LOCK}{{blocks: {{id/leaf/gpu: ['rows=1']}}}}}}\n",
            "lock.yaml:2:44: error[FAB155]: lock file: expected rows=, columns=",
        ),
        (f"{OLD_LOCK}{{wiring: {{leaf-spine: [x]}}}}}}\n", "error[FAB155]"),
        (
            f"{OLD_LOCK}{{shape: {{tiers: two}}}}}}\n",
            "lock.yaml:2:36: error[FAB156]: lock file: 'tiers': expected a whole number",
        ),
        (f"{OLD_LOCK}{{tenants: {{red: true}}}}}}\n", "error[FAB156]: lock file: 'red': expected a whole number, got true"),
        (f"{OLD_LOCK}{{attachments: {{ufm: [x]}}}}}}\n", "error[FAB156]: lock file: leaf: expected a whole number"),
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
        "line 2: cannot be rendered for 'backend-spine001': 'nothing'",
    ),
    "division": (BGP.replace("BODY", "{{ 1 / 0 }}"), "cannot be rendered for 'backend-spine001': division by zero"),
    "sandbox": (
        BGP.replace("BODY", "{{ ''.__class__.__mro__ }}"),
        "access to attribute '__class__' of 'str' object is unsafe",
    ),
    "include": (
        BGP.replace("BODY", "{% include '/etc/passwd' %}"),
        "line 1: include: expected the name of a shipped template, got '/etc/passwd'",
    ),
    "endless": (BGP.replace("BODY", "{% for n in range(10 ** 9) %}x{% endfor %}"), "cannot be rendered for"),
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
        ("template: folder", "override template 'folder': no such file"),
        ("template: nowhere.j2", "override template 'nowhere.j2': no such file"),
        ("template: bytes.j2", "override template 'bytes.j2', line 1: expected UTF-8 text"),
        (r'file: config_db.json, patch: {"a\nb": 1}', r"control character in 'a\nb'"),
        (r'file: config_db.json, patch: {NTP: {x: ["a\u2028b"]}}', r"control character in 'a\u2028b'"),
        ("role: core, file: config_db.json, patch: {}", "overrides[0]: the selection matches no switch"),
        (
            "devices: unknown*, file: config_db.json, patch: {}",
            "overrides[0]: the selection matches no switch",
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
        ("sonic", "64x800g", "no SONiC port map is known of this switch"),
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
