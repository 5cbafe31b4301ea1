"""The report for people, whole."""

from __future__ import annotations

from fabric.audit.checks import Finding, Read, Verdict
from fabric.audit.checks.reports import report
from fabric.model.facts import Located

HINT = "run `fabric generate`"
CONFIG = "generated/dc1/leaf1/frr.conf"


def test_everything_a_run_can_say() -> None:
    verdict = Verdict.of(
        [
            Finding(
                id="FAB102",
                severity="error",
                device="",
                file="intent/dc1.yaml",
                line=12,
                message="expected a number, got 'x'",
                hint="write a number",
                column=7,
            ),
            Finding(
                id="FAB301", severity="error", device="leaf1", file=CONFIG, line=3, message="address is used twice", hint=HINT
            ),
            Finding(
                id="FAB301", severity="error", device="leaf1", file=CONFIG, line=9, message="address is used twice", hint=HINT
            ),
            Finding(
                id="FAB302",
                severity="warning",
                device="leaf1",
                file=CONFIG,
                line=0,
                message="no watchdog",
                hint="switch it on",
            ),
            Finding(id="FAB303", severity="error", device="leaf2", file="", line=0, message="is nowhere"),
            Finding(
                id="FAB187",
                severity="warning",
                device="",
                file="intent/dc1.yaml",
                line=4,
                message="8 ports are shut",
                silenced="spare until March",
                column=5,
            ),
        ],
        read=[
            Read(what="plan of site dc1, 2 fabrics", path="intent/dc1.yaml", devices=2),
            Read(
                what="generated/dc1",
                path="generated/dc1",
                devices=0,
                files=2,
                statements=1234,
                unread=tuple(Located(f" frob {n} ", n, CONFIG) for n in range(1, 8)),
            ),
        ],
        ran=["FAB301", "FAB302", "FAB303"],
        skipped=[("Batfish", "no server; set BATFISH_HOST")],
    )
    assert report("text", verdict) == (
        "no file: error[FAB303]: leaf2: is nowhere\n"
        "\n"
        "generated/dc1/leaf1/frr.conf:3: error[FAB301]: leaf1: address is used twice\n"
        "    hint: run `fabric generate`\n"
        "generated/dc1/leaf1/frr.conf:9: error[FAB301]: leaf1: address is used twice\n"
        "generated/dc1/leaf1/frr.conf: warning[FAB302]: leaf1: no watchdog\n"
        "    hint: switch it on\n"
        "\n"
        "intent/dc1.yaml:12:7: error[FAB102]: expected a number, got 'x'\n"
        "    hint: write a number\n"
        "\n"
        "intent/dc1.yaml:4:5: silenced[FAB187]: 8 ports are shut; reason: spare until March\n"
        "\n"
        "read: plan of site dc1, 2 fabrics: 2 devices\n"
        "read: generated/dc1: 2 files, 1,234 statements\n"
        "    not understood: 7 statements\n"
        "        generated/dc1/leaf1/frr.conf:1: frob 1\n"
        "        generated/dc1/leaf1/frr.conf:2: frob 2\n"
        "        generated/dc1/leaf1/frr.conf:3: frob 3\n"
        "        generated/dc1/leaf1/frr.conf:4: frob 4\n"
        "        generated/dc1/leaf1/frr.conf:5: frob 5\n"
        "        and 2 more; `--all` shows them\n"
        "\n"
        "not checked: Batfish: no server; set BATFISH_HOST\n"
        "\n"
        "4 errors, 1 warning, 1 silenced in 2 devices; 3 checks applied\n"
    )


def test_files_with_errors_come_first_and_a_hint_comes_once() -> None:
    reported = [
        Finding(
            id="FAB234", severity="note", device="", file="intent/a.yaml", line=9, message="2 spines", hint="more spines"
        ),
        Finding(
            id="FAB234", severity="note", device="", file="intent/b.yaml", line=9, message="2 spines", hint="more spines"
        ),
        Finding(
            id="FAB228", severity="warning", device="", file="intent/b.yaml", line=12, message="no PFC", hint="another `nos:`"
        ),
        Finding(
            id="FAB251", severity="error", device="leaf1", file="z.conf", line=7, message="address is used twice", hint=HINT
        ),
    ]
    assert report("text", Verdict.of(reported)) == (
        "z.conf:7: error[FAB251]: leaf1: address is used twice\n"
        "    hint: run `fabric generate`\n"
        "\n"
        "intent/b.yaml:12: warning[FAB228]: no PFC\n"
        "    hint: another `nos:`\n"
        "intent/b.yaml:9: note[FAB234]: 2 spines\n"
        "    hint: more spines\n"
        "\n"
        "intent/a.yaml:9: note[FAB234]: 2 spines\n"
        "\n"
        "1 error, 1 warning, 2 notes; no check was applied\n"
    )


def test_what_repeats_is_folded_and_counted() -> None:
    ports = [
        Finding(id="FAB301", severity="error", device="leaf1", file=CONFIG, line=line, message=f"port {line}")
        for line in range(1, 44)
    ]
    other = [
        Finding(id="FAB301", severity="error", device="leaf2", file="z.conf", line=line, message=f"port {line}")
        for line in range(1, 21)
    ]
    lines = report("text", Verdict.of([*ports, *other])).splitlines()
    assert lines[19:23] == [
        f"{CONFIG}:20: error[FAB301]: leaf1: port 20",
        f"{CONFIG}: error[FAB301]: and 23 more; `--all` shows them",
        "",
        "z.conf:1: error[FAB301]: leaf2: port 1",
    ]
    assert lines[-3:] == ["z.conf:20: error[FAB301]: leaf2: port 20", "", "63 errors; no check was applied"]


def test_nothing_found_is_one_line() -> None:
    assert report("text", Verdict()) == "nothing found; no check was applied\n"
