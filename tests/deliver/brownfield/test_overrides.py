"""What the language lacks becomes a site's own lines: the fewest, without secrets, and never template code."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from fabric import pipeline
from fabric.base.formats import yaml
from fabric.deliver.brownfield.blocks import Own
from fabric.deliver.brownfield.drafted import Drafted
from fabric.deliver.brownfield.importing import Imported, imported
from fabric.deliver.brownfield.overrides import _template, placeholder, verbatim
from fabric.nos.reading import scan
from tests.deliver.brownfield.oracle import survey_of

Edits = tuple[tuple[str, str], ...]  # pattern of a line → what stands in its place
TEMPLATE_TEXT = "{{ x }}{% y %}{# z #}"
EDITS: Mapping[str, Edits] = {
    "eos": (
        (
            r"^(hostname .*leaf.*)$",
            rf"\1\nip domain-name {TEMPLATE_TEXT}\nusername bob privilege 1 secret sha512 $6$abcdefgh",
        ),
        (r"^   graceful-restart restart-time 300\n", ""),
        (r"^(   maximum-paths) \d+ ecmp \d+", r"\1 7 ecmp 7"),
        (r"^(interface Ethernet1/1)$", r"\1\n   load-interval 30"),
    ),
    "nxos": (
        (r"^(hostname .*leaf.*)$", rf"\1\nip domain-name {TEMPLATE_TEXT}"),
        (r"^logging .*\n", ""),
        (r"^(interface Ethernet1/1)$", r"\1\n  load-interval 30"),
    ),
    "junos": (
        (r"^(    host-name .*leaf.*)$", rf'\1\n    domain-name "{TEMPLATE_TEXT}";'),
        (r"^    no-redirects;\n", ""),
        (r"    ports \{\n.*\n    \}\n", ""),
    ),
    "frr": (
        (r"^(hostname .*leaf.*)$", rf"\1\nbanner motd line {TEMPLATE_TEXT}"),
        (r"^ bgp bestpath as-path multipath-relax\n", ""),
    ),
    "sonic": (
        (r'"localhost": \{', rf'"localhost": {{"rack": "{TEMPLATE_TEXT}", '),
        (r"^ bgp bestpath as-path multipath-relax\n", ""),
    ),
    "cumulus": (
        (r"^      hostname: (.*leaf.*)$", rf"      hostname: \1\n      zone:\n        words: '{TEMPLATE_TEXT}'"),
        (r"^            iburst: enabled\n", "            minpoll: 6\n"),
    ),
}
MODELS = {
    "eos": "7060x6-64pe",
    "nxos": "n9364d-gx2a",
    "junos": "qfx5240-64od",
    "frr": "64x400g",
    "sonic": "sn5600",
    "cumulus": "sn5600",
}
OVERRIDES = {"sonic": 3}  # a document and a template; else one override of all switches, one of the leaves
INTENT = """\
version: 1
site: site
fabrics:
  backend:
    nos: {nos}
    servers: {{model: node, count: 4}}
    topology: {{switch: {model}, kind: rack, unit: {{servers: 2}}}}
    overlay: {{kind: evpn-vxlan}}
    tenants: [{{name: red, servers: node-0001..0004}}]
management: {{ntp: [192.0.2.10, 192.0.2.11], syslog: 192.0.2.20}}
catalog: {{servers: {{node: {{gpus: 8, nics: {{compute: {{count: 2, speed_gbps: 400}}}}}}}}}}
"""


@pytest.fixture(scope="module", params=sorted(EDITS))
def edited(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Imported]:
    """A network OS's example with lines that no intent has, imported."""
    folder = tmp_path_factory.mktemp(request.param)
    path = folder / "site.yaml"
    path.write_text(INTENT.format(nos=request.param, model=MODELS[request.param]), encoding="utf-8")
    intent = pipeline.load(path, folder / "generated")
    pipeline.generate(intent, jobs=1).write()
    configs = intent.folder / "configs"
    for file in sorted(configs.rglob("*")):
        if file.is_file():
            text = file.read_text(encoding="utf-8")
            for pattern, instead in EDITS[request.param]:
                text = re.sub(pattern, instead, text, flags=re.MULTILINE)
            file.write_text(text, encoding="utf-8")
    plan = pipeline.plan(intent)
    drafted = Drafted(document=yaml.read(path), lock=plan.lock)
    output = folder / "out" / "again.yaml"
    made = imported(survey_of(plan), scan(configs), output, pipeline.plan, draft=lambda survey: drafted, jobs=1)
    return request.param, made


def test_the_plan_with_the_overrides_is_what_the_switches_run(edited: tuple[str, Imported]) -> None:
    _, made = edited
    assert made.before is not None
    assert made.after is not None
    assert not made.before.in_sync
    assert [one for device in made.after.devices for one in device.residuals] == []
    assert made.in_sync
    total = made.coverage[-1]
    assert total.overrides > 0
    assert total.language + total.overrides == total.total


def test_what_switches_share_is_one_override(edited: tuple[str, Imported]) -> None:
    name, made = edited
    keys = [{key for key in ("role", "fabric", "devices") if key in rule} for rule in made.own.rules]
    assert len(keys) == OVERRIDES.get(name, 2), made.own.rules
    assert set() in keys
    assert not any("devices" in one for one in keys)


def test_no_secret_and_no_template_code_comes_from_a_config(edited: tuple[str, Imported]) -> None:
    _, made = edited
    texts = [made.text, *made.own.templates.values()]
    assert not any("abcdefgh" in text for text in texts)
    for text in made.own.templates.values():
        assert not re.search(r"\{\{ x|\{% y|\{# z", text)


def test_files_are_written_all_or_none(edited: tuple[str, Imported], tmp_path: Path) -> None:
    _, made = edited
    made.write(force=True)
    again = pipeline.load(made.output)
    assert pipeline.plan(again).lock == made.plan.lock
    assert {path for path in made.files() if not path.is_file()} == set()
    with pytest.raises(Exception, match="expected no file, got one"):
        made.write()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a { b }", "a { b }"),
        ("{{ x }}", "{{ '{' }}{ x }}"),
        ("{{{%", "{{ '{' }}{{ '{' }}{{ '{' }}%"),
        ("{# c #}", "{{ '{' }}# c #}"),
    ],
)
def test_text_of_a_config_is_text_in_a_template(text: str, expected: str) -> None:
    from fabric.configs.templating.shipped import environment

    assert verbatim(text) == expected
    assert environment().from_string(verbatim(text)).render() == text


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("username bob secret *", "${USERNAME_BOB_SECRET}"),
        ("PASSKEY = *", "${PASSKEY}"),
        ("*", "${SECRET}"),
        ("9 *", "${SECRET}"),
    ],
)
def test_a_placeholder_is_named_by_its_statement(words: str, name: str) -> None:
    assert placeholder(words) == name


def test_any_number_of_lines_of_a_block_is_replaced() -> None:
    """A template may nest a hundred levels, and a filter is one."""
    from fabric.configs.templating import site
    from fabric.configs.templating.shipped import environment

    name = "frr/frr.conf.j2"
    block = min(site.block_names(name))
    changes = [Own(name, (block,), f"\nline {number}\n", f"\nother {number}\n") for number in range(230)]
    text = _template(name, changes)
    assert list(site.problems(environment().parse(text))) == []
    body = text.partition(f"{{% block {block} %}}\n")[2].partition("{% endblock %}")[0]
    lines = "".join(f"line {number}\n" for number in range(230))
    shown = environment().from_string(body.replace("super()", "before")).render(before=lines)
    assert shown == lines.replace("line", "other")
