"""`fabric check` with what people type: bad arguments, folders of all kinds, reports, exit codes. Never a traceback."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from fabric.base.formats import atomic_files
from tests.cli.conftest import Done, Run

GOOD = """\
version: 1
site: {site}
catalog: {{servers: {{node: {{gpus: 4, nics: {{compute: {{count: 4, speed_gbps: 100}}}}}}}}}}
management: {{ntp: [192.0.2.10, 192.0.2.11], syslog: 192.0.2.20}}
{more}fabrics:
  backend:
    nos: eos
    servers: {{model: node, count: 4, name: gpu}}
    topology: {{switch: 7050cx3-32s, spine: {{min_count: 4}}}}
"""
LEAF = "configs/backend-leaf001/startup-config"


@pytest.fixture(autouse=True)
def no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BATFISH_HOST", raising=False)


def intent(name: str = "dc1", more: str = "", file: str = "") -> str:
    """Writes an intent that nothing is wrong with."""
    path = Path(file or f"{name}.yaml")
    path.write_text(GOOD.format(site=name, more=more), encoding="utf-8")
    return str(path)


def heads(done: Done) -> list[str]:
    """What was found, without hints."""
    found, _, _ = f"\n{done.out}".partition("\nread: ")
    return [line for line in found.splitlines() if line and not line.startswith("    hint: ")]


def generated(run: Run, more: str = "") -> Path:
    """The site as `fabric generate` leaves it."""
    assert run("generate", intent(more=more)).code == 0
    return Path("generated/dc1")


# --- usage ------------------------------------------------------------------------------------------------------

FOLDER_HINT = (
    "    hint: name the folder of the configs; `fabric catalog --os` lists the network OSes whose configs are read\n"
)
IOS = "hostname R1\n!\ninterface GigabitEthernet0/0/0/0\n ip address 10.0.0.1 255.255.255.0\n!\nline vty 0 4\n"

EXPECTED = "expected configs of switches or files of a subnet manager"
# Arguments → what is reported on stderr; nothing is on stdout, the exit code is 2.
USAGE = {
    "": "check: error[FAB102]: expected an intent, or --configs DIR\n    hint: fabric check intent/dc1.yaml\n",
    "--configs nowhere": "fabric: nowhere: no such file or folder\n",
    "--configs empty": f"empty: error[FAB009]: {EXPECTED}, got a folder without files\n{FOLDER_HINT}",
    "dc1.yaml --configs empty": (f"empty: error[FAB009]: {EXPECTED}, got a folder without files\n{FOLDER_HINT}"),
    "--configs notes": (
        f"notes: error[FAB009]: {EXPECTED}, got 3 files: leaf001.md (.md is no ending of a config); "
        "plan.PDF (.pdf is no ending of a config); router.cfg (IOS or IOS XE config, and there is no reader for this "
        f"network OS)\n{FOLDER_HINT}"
    ),
    "dc1.yaml --configs notes/leaf001.md --format junit": (
        f"notes/leaf001.md: error[FAB009]: {EXPECTED}, got 1 file: notes/leaf001.md (.md is no ending of "
        f"a config)\n{FOLDER_HINT}"
    ),
    "dc1.yaml --format nope": (
        "--format: error[FAB102]: expected one of text, markdown, json, sarif, junit, github, or NAME=FILE, got 'nope'\n"
    ),
    "dc1.yaml --format sarif=": (
        "--format: error[FAB102]: expected one of text, markdown, json, sarif, junit, github, or NAME=FILE, got 'sarif='\n"
    ),
    "dc1.yaml --format text --format json": (
        "--format: error[FAB102]: expected at most one report without =FILE\n"
        "    hint: --format text --format sarif=check.sarif\n"
    ),
    "dc1.yaml --json --format sarif": (
        "--format: error[FAB102]: expected at most one report without =FILE\n"
        "    hint: --format text --format sarif=check.sarif\n"
    ),
    "dc1.yaml --format sarif=x --format json=x": "--format: error[FAB102]: x is the file of two reports, sarif and json\n",
    "dc1.yaml --format sarif=no/such/x": "--format: error[FAB102]: sarif=no/such/x: no such folder: no/such\n",
    "dc1.yaml --format sarif=empty": "--format: error[FAB102]: sarif=empty: expected a file, got a folder\n",
    "dc1.yaml --fail-on nope": (
        "--fail-on: error[FAB102]: expected error, warning, note, never, got 'nope'\n    hint: did you mean 'note'?\n"
    ),
}


@pytest.mark.parametrize("words", USAGE)
def test_bad_usage(run: Run, words: str) -> None:
    intent()
    Path("empty").mkdir()
    Path("notes").mkdir()
    for name in ("leaf001.md", "plan.PDF"):
        Path("notes", name).write_text("hostname leaf001\n")
    Path("notes/router.cfg").write_text(IOS)
    assert run("check", *words.split()) == Done(2, "", USAGE[words])


# --- intents ----------------------------------------------------------------------------------------------------


def test_an_intent_that_is_not_there(run: Run) -> None:
    done = run("check", "nope.yaml")
    assert (done.code, done.err) == (2, "")
    assert done.out == (
        "nope.yaml: error[FAB001]: cannot be read: no such file or directory\n"
        "    hint: name the intent's file; `fabric init NAME` writes one\n\n"
        "1 error; no check was applied\n"
    )


def test_a_broken_intent_does_not_keep_others_from_being_checked(run: Run) -> None:
    Path("broken.yaml").write_text("a: [b\n")
    done = run("check", intent(), "broken.yaml")
    assert (done.code, done.err) == (2, "")
    assert heads(done) == ["broken.yaml:2:1: error[FAB003]: not YAML: did not find expected ',' or ']'"]
    assert "read: plan of site dc1, 1 fabric\n" in done.out


def test_two_intents_of_one_site(run: Run) -> None:
    """The first is checked; with --json there is one document all the same."""
    done = run("check", intent(), intent(file="copy.yaml"), "--json")
    assert (done.code, done.err) == (2, "")
    found = json.loads(done.out)["findings"]
    assert [(one["id"], one["file"], one["line"], one["message"]) for one in found] == [
        ("FAB138", "copy.yaml", 2, "site 'dc1' is also the name of dc1.yaml"),
    ]


def test_one_intent_named_twice_is_checked_once(run: Run) -> None:
    done = run("check", intent(), "./dc1.yaml")
    assert done.code == 0
    assert done.out.count("read: plan of site dc1") == 1


def test_a_fabric_without_a_network_os_has_no_configs(run: Run) -> None:
    Path("ib.yaml").write_text(
        "version: 1\nsite: ib\nmanagement: {ntp: [192.0.2.10, 192.0.2.11], syslog: 192.0.2.20}\nfabrics:\n"
        "  backend: {servers: {model: dgx-h100, count: 64}, topology: {switch: qm9700, unit: {servers: 32}}}\n"
    )
    done = run("check", "ib.yaml")
    assert done.code == 0
    assert done.out.startswith("read: plan of site ib, 1 fabric\n\nnothing found in 0 devices; ")


def test_silences_of_no_use(run: Run) -> None:
    done = run("check", intent(more="checks: {silence: {FAB999: mistyped, FAB251: not broken, FAB301: asks a server}}\n"))
    assert done.code == 0
    assert heads(done) == [
        "dc1.yaml:5:20: warning[FAB200]: FAB999 is suppressed, but no check has this id",
        "dc1.yaml:5:38: note[FAB200]: FAB251 is suppressed, but has no findings",
    ]


# --- the generated folder ---------------------------------------------------------------------------------------


def test_nothing_is_generated_yet(run: Run) -> None:
    done = run("check", intent())
    assert (done.code, heads(done)) == (0, [])
    assert "read: configs of site dc1, as `fabric generate` would write them: 8 devices, 8 files, " in done.out


def test_what_is_generated(run: Run) -> None:
    generated(run)
    done = run("check", "dc1.yaml")
    assert (done.code, heads(done)) == (0, [])
    assert "read: configs of site dc1: 8 devices, 8 files, " in done.out


def _rubbish(site: Path) -> None:
    (site / "manifest.txt").write_text("rubbish\n")


def _no_manifest(site: Path) -> None:
    (site / "manifest.txt").unlink()


def _folder(site: Path) -> None:
    (site / "manifest.txt").unlink()
    (site / "manifest.txt").mkdir()


LOST = {
    "damaged": (_rubbish, "generated/dc1/manifest.txt, line 1: not a `sha256  path` line"),
    "not there": (_no_manifest, "there is no manifest"),
    "a folder": (_folder, "generated/dc1/manifest.txt is not a regular file"),
}


@pytest.mark.parametrize("case", LOST)
def test_a_manifest_that_says_nothing(run: Run, case: str) -> None:
    """Files that no one vouches for are not taken for what an older intent made."""
    damage, why = LOST[case]
    damage(generated(run))
    done = run("check", "dc1.yaml")
    assert done.code == 1
    assert heads(done) == [
        f"dc1.yaml:2:7: error[FAB293]: generated/dc1: files not checked ({why}); the output of `fabric "
        f"generate` was checked instead"
    ]


def test_files_that_are_gone(run: Run) -> None:
    shutil.rmtree(generated(run) / "configs")
    done = run("check", "dc1.yaml")
    assert done.code == 1
    assert heads(done) == [
        "dc1.yaml:2:7: error[FAB293]: generated/dc1: 8 files differ from the plan: "
        "configs/backend-leaf001/startup-config and 7 more"
    ]


def test_a_folder_that_is_not_kept(run: Run) -> None:
    """What lies there is not the site's."""
    site = generated(run)
    (site / LEAF).write_text("hostname other\n")
    done = run("check", intent(more="output: {keep: false}\n"))
    assert (done.code, heads(done)) == (0, [])


# --- folders of configs -----------------------------------------------------------------------------------------


def configs(run: Run) -> Path:
    """Configs of the site in a folder of their own."""
    return Path(shutil.copytree(generated(run) / "configs", "configs"))


def test_a_folder_with_a_switch_too_few_one_too_many_and_one_twice(run: Run) -> None:
    folder = configs(run)
    shutil.move(folder / "backend-leaf001", folder / "extra")
    text = (folder / "extra/startup-config").read_text()
    (folder / "extra/startup-config").write_text(text.replace("hostname backend-leaf001", "hostname extra"))
    shutil.copytree(folder / "backend-leaf002", folder / "twin")
    done = run("check", "dc1.yaml", "--configs", "configs")
    assert (done.code, done.err) == (1, "")
    assert heads(done) == [
        "configs/twin/startup-config: error[FAB250]: backend-leaf002: duplicate host name: "
        "configs/backend-leaf002/startup-config was checked instead of this file",
        "dc1.yaml: error[FAB250]: backend-leaf001: no config with this host name was found",
        "configs/extra/startup-config: warning[FAB250]: extra: no switch of site dc1 has this host name",
    ]
    assert "read: configs of site dc1: 7 devices, 7 files, " in done.out


def test_one_folder_for_two_sites(run: Run) -> None:
    """A switch of one is no unknown neighbor to the other."""
    folder = configs(run)
    other = intent("dc2")
    text = Path(other).read_text().replace("  backend:", "  storage:")
    Path(other).write_text(text)
    run("generate", other)
    shutil.copytree("generated/dc2/configs", folder, dirs_exist_ok=True)
    done = run("check", "dc1.yaml", "dc2.yaml", "--configs", "configs")
    assert (done.code, [head for head in heads(done) if "FAB250" in head]) == (0, [])


def test_a_config_of_another_network_os(run: Run) -> None:
    folder = configs(run)
    (folder / "backend-leaf001/startup-config").unlink()
    (folder / "backend-leaf001/juniper.conf").write_text("system {\n    host-name backend-leaf001;\n}\n")
    done = run("check", "dc1.yaml", "--configs", "configs")
    assert done.code == 1
    assert heads(done) == [
        "configs/backend-leaf001/juniper.conf: error[FAB250]: backend-leaf001: network OS: expected eos, got junos"
    ]


def test_unknown_neighbors_can_be_silenced(run: Run) -> None:
    shutil.copytree(configs(run) / "backend-leaf001", "configs/other")
    text = Path("configs/other/startup-config").read_text()
    Path("configs/other/startup-config").write_text(text.replace("hostname backend-leaf001", "hostname other"))
    done = run("check", intent(more="checks: {silence: {FAB250: the lab is in here too}}\n"), "--configs", "configs")
    assert done.code == 0
    assert heads(done) == [
        "configs/other/startup-config: silenced[FAB250]: other: no switch of site dc1 has this host name; "
        "reason: the lab is in here too"
    ]


def test_whatever_lies_in_a_folder(run: Run) -> None:
    """Links in a circle, pipes, binary files, files too large, names with anything in them."""
    folder = Path("odd")
    folder.mkdir()
    (folder / "circle").symlink_to("circle")
    (folder / "folder").symlink_to(".")
    (folder / "gone").symlink_to("nowhere")
    (folder / "nul").write_bytes(b"\0" * 100)
    (folder / "noise").write_bytes(b"\xff\xfe\x80" * 50)
    (folder / "empty").touch()
    with (folder / "large").open("wb") as file:
        file.truncate(40_000_000)
    os.mkfifo(folder / "pipe")
    shutil.copy(generated(run) / LEAF, folder / "a b\nc ü")
    (Path(os.fsdecode(b"odd/\xff"))).write_text("x")
    done = run("check", "--configs", "odd", "--json")
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)["findings"]
    assert [(one["file"], one["message"]) for one in found if one["id"] == "FAB291"] == [
        ("odd/circle", "not read: too many levels of symbolic links"),
        ("odd/empty", "not read: empty"),
        ("odd/gone", "not read: no such file or directory"),
        ("odd/large", "not read: too large for a config"),
        ("odd/noise", "not read: not UTF-8 text"),
        ("odd/nul", "not read: binary"),
        ("odd/pipe", "not read: no regular file"),
        ("odd/\udcff", "not read: no sign of a network OS"),
    ]
    assert {one["file"] for one in found if one["device"]} == {"odd/a b\nc ü"}
    for form in ("text", "github", "sarif", "junit"):
        assert run("check", "--configs", "odd", "--format", form).code == 0


def test_a_folder_that_cannot_be_opened(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those who runs this may be allowed everything, so the refusal is played."""
    configs(run)
    opened: Callable[[str], object] = os.scandir

    def scandir(path: str) -> object:
        if str(path).endswith("backend-leaf001"):
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path)

    monkeypatch.setattr(os, "scandir", scandir)
    done = run("check", "dc1.yaml", "--configs", "configs")
    assert done.code == 1
    assert heads(done) == [
        "dc1.yaml: error[FAB250]: backend-leaf001: no config with this host name was found",
        "configs/backend-leaf001: warning[FAB291]: not read: permission denied",
    ]


# --- reports ----------------------------------------------------------------------------------------------------


def test_reports_on_the_screen_and_in_files(run: Run) -> None:
    done = run("check", intent(), "--json", "--format", "sarif=a.sarif", "--format", "junit=b.xml", "--format", "text=c.txt")
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out)["findings"] == []
    assert json.loads(Path("a.sarif").read_text())["version"] == "2.1.0"
    assert ElementTree.parse("b.xml").getroot().tag == "testsuites"
    assert Path("c.txt").read_text().startswith("read: plan of site dc1, 1 fabric\n")
    assert sorted(path.name for path in Path().iterdir()) == ["a.sarif", "b.xml", "c.txt", "dc1.yaml"]


def test_a_report_is_whole_or_as_it_was(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is left beside it either."""
    Path("a.sarif").write_text("before")

    def full(source: object, target: object) -> None:
        raise OSError(28, "No space left on device", str(source))

    monkeypatch.setattr(atomic_files.os, "replace", full)
    done = run("check", intent(), "--format", "sarif=a.sarif")
    assert (done.code, done.out, done.err) == (2, "", "fabric: a.sarif: no space left on device\n")
    assert Path("a.sarif").read_text() == "before"
    assert sorted(path.name for path in Path().iterdir()) == ["a.sarif", "dc1.yaml"]


def test_a_report_into_what_is_no_file(run: Run) -> None:
    """A device is written to, never replaced."""
    assert run("check", intent(), "--format", "json=/dev/null").code == 0
    assert Path("/dev/null").is_char_device()


def test_a_report_behind_a_link(run: Run) -> None:
    """The link stays."""
    Path("real.json").write_text("before")
    Path("link.json").symlink_to("real.json")
    assert run("check", intent(), "--format", "json=link.json").code == 0
    assert Path("link.json").is_symlink()
    assert json.loads(Path("real.json").read_text())["findings"] == []


# --- exit codes -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("fail_on", "code"), [("error", 0), ("warning", 1), ("note", 1), ("never", 0)])
def test_findings_as_bad_as_asked_for(run: Run, fail_on: str, code: int) -> None:
    config = generated(run) / LEAF
    config.write_text(re.sub(r"(?m)^(   description ).*", r"\1spare", config.read_text(), count=1))
    assert run("check", "dc1.yaml", "--fail-on", fail_on).code == code


# Server as it is named → what is reported of it.
SERVERS = {
    "127.0.0.1:1": "no Batfish server answers at 127.0.0.1:1: Connection refused",
    "no.such.host.invalid": "no Batfish server answers at no.such.host.invalid:9996: ",
}


@pytest.mark.parametrize("host", SERVERS)
def test_no_server_where_one_was_named(run: Run, host: str) -> None:
    """The other checks run; only then is it reported that something is missing."""
    pytest.importorskip("pybatfish", reason="the client of Batfish is not installed")
    done = run("check", intent(), "--batfish", host)
    assert done.code == 3
    assert done.err.startswith(f"fabric: {SERVERS[host]}")
    assert f"not checked: Batfish: {SERVERS[host]}" in done.out
    assert "nothing found in 8 devices; " in done.out


def test_no_client_of_the_server(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pybatfish.client.session", None)
    done = run("check", intent(), "--json", "--batfish", "127.0.0.1")
    assert (done.code, done.err) == (
        3,
        "fabric: the Batfish client is not installed: run `pip install 'fabricwright[batfish]'`\n",
    )
    assert json.loads(done.out)["findings"] == []


def test_findings_count_for_more_than_a_missing_server(run: Run) -> None:
    config = generated(run) / LEAF
    config.write_text(config.read_text().replace("   mtu 9214", "   mtu 1500", 1))
    assert run("check", "dc1.yaml", "--batfish", "127.0.0.1:1").code == 1


def test_an_empty_name_is_no_server(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BATFISH_HOST", "")
    assert run("check", intent()).code == 0
    assert run("check", intent(), "--batfish", "").code == 0


def test_a_server_is_asked_about_configs_alone(run: Run) -> None:
    """What needs no plan; where none answers, that is reported as it is beside an intent."""
    pytest.importorskip("pybatfish", reason="the client of Batfish is not installed")
    configs(run)
    done = run("check", "--configs", "configs", "--batfish", "127.0.0.1:1")
    assert (done.code, done.err) == (3, f"fabric: {SERVERS['127.0.0.1:1']}\n")
    assert f"not checked: Batfish: {SERVERS['127.0.0.1:1']}\n" in done.out


def test_every_site_says_that_it_was_not_asked_about(run: Run) -> None:
    """The server is not waited for again, and no site is passed over in silence."""
    pytest.importorskip("pybatfish", reason="the client of Batfish is not installed")
    first = Path(intent())
    second = first.with_name("dc2.yaml")
    second.write_text(first.read_text().replace("site: dc1", "site: dc2"))
    done = run("check", str(first), str(second), "--batfish", "127.0.0.1:1")
    assert done.code == 3
    for name in ("dc1", "dc2"):
        assert f"not checked: Batfish: site {name}: {SERVERS['127.0.0.1:1']}\n" in done.out
