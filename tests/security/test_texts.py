"""Every text of an intent is refused in so many words, or stays one value in one place of every file.

Fields come from the language's own schema, so a new one is covered as soon as it is there. `FABRIC_SECURITY=full` tries
every payload in every field and on every network OS; without, each field meets a twelfth of them, each payload a few OSes.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabric import pipeline
from fabric.base import source
from fabric.base.diagnostics import InputError
from fabric.base.output.site_folder import check_path
from fabric.configs.render import refuse_control, render
from fabric.design.intent.load import schema, validate
from fabric.model.plan import SwitchView
from fabric.model.plan.lock_file import Lock
from fabric.model.settings.base import FILLED_IN
from fabric.nos.reading import read_device
from fabric.nos.target import target
from tests.security.payloads import FILLED, OF_CONFIGS, PAYLOADS

FULL = os.environ.get("FABRIC_SECURITY") == "full"
FIELD_STEP = 1 if FULL else 12

Path_ = tuple[str | int, ...]
KEY = "<key>"

# --- every text of the language -----------------------------------------------------------------------------


def texts(part: dict[str, Any], definitions: dict[str, Any], path: Path_ = ()) -> Iterator[Path_]:
    """The path of every text that the schema allows and does not choose itself; `<key>` for names of a mapping."""
    while "$ref" in part:
        part = definitions[part["$ref"].split("/")[-1]]
    for choice in part.get("anyOf", part.get("oneOf", ())):
        yield from texts(choice, definitions, path)
    kind = part.get("type")
    if kind == "object":
        for key, value in part.get("properties", {}).items():
            yield from texts(value, definitions, (*path, key))
        values = [*part.get("patternProperties", {}).values()]
        values += [part["additionalProperties"]] if isinstance(part.get("additionalProperties"), dict) else []
        if values:
            yield (*path, KEY)
        for value in values:
            yield from texts(value, definitions, (*path, "FAB182" if path[-1] == "silence" else "name"))
    elif kind == "array" and isinstance(part.get("items"), dict):
        yield from texts(part["items"], definitions, (*path, 0))
    elif kind == "string" and "enum" not in part and "const" not in part:
        yield path


@cache
def fields() -> tuple[Path_, ...]:
    whole = json.loads(json.dumps(schema()))
    return tuple(dict.fromkeys(texts(whole, whole["$defs"])))


# What a mapping needs beside the one text that is tried.
NEEDED: Mapping[str, Any] = {
    "": {"version": 1, "site": "x", "fabrics": {"b": {"servers": {"model": "dgx-h100", "count": 4}, "topology": {}}}},
    "fabrics.name": {"servers": {"model": "dgx-h100", "count": 4}, "topology": {}},
    "fabrics.name.servers.0": {"model": "dgx-h100", "count": 4},
    "fabrics.name.topology.attachments.0": {"name": "wan", "links": 2},
    "fabrics.name.topology.attachments.0.external": {"asn": 65000},
    "fabrics.name.tenants.0": {"name": "red"},
    "fabrics.name.tenants.0.networks.0": {"name": "net"},
    "fabrics.name.tenants.0.networks.0.dhcp_relay": {"servers": ["10.0.0.5"]},
    "fabrics.name.below": {"fabric": "b", "tenant": "red"},
    "catalog.switches.name": {"ports": [{"count": 8, "speed_gbps": 400}]},
    "catalog.switches.name.ports.0": {"count": 8, "speed_gbps": 400},
    "catalog.switches.name.sonic": {"platform": "p", "hwsku": {"default": "s"}, "lanes": ["0-7"] * 8},
    "catalog.servers.name": {"gpus": 8, "nics": {"compute": {"count": 8, "speed_gbps": 400}}},
    "catalog.servers.name.nics.name": {"count": 1, "speed_gbps": 400},
    "floor.places.name": {"rack": "A01", "ru": 1},
    "fabrics.name.links.remove": ["a 1"],
    "fabrics.name.links.add.0": {"ends": ["a 1", "b 1"]},
    "fabrics.name.pins.name": {},
    "fabrics.name.pins.name.ports.name": [1],
    "overrides.0": {},
}
BESIDE = {  # a text that is not allowed alone
    ("overrides", 0, "file"): {"patch": {}},
    ("overrides", 0, "devices", 0): {"template": "x"},
    ("overrides", 0, "fabric"): {"template": "x"},
}


def intent_with(path: Path_, payload: str) -> dict[str, Any]:
    """A small intent that has the payload at `path`."""
    root = json.loads(json.dumps(NEEDED[""]))
    node, dotted = root, ""
    for at, step in enumerate(path[:-1]):
        dotted = f"{dotted}.{step}".strip(".")
        below: Any = [] if path[at + 1] == 0 else json.loads(json.dumps(NEEDED.get(dotted, {})))
        if isinstance(node, list):
            node.append(below)
            node = below
        elif isinstance(below, list) or step not in node or not isinstance(node[step], dict):
            node[step] = below
            node = below
        else:
            node = node[step]
    if path[:2] in BESIDE or path in BESIDE:
        root["overrides"][0] |= BESIDE[path]
    if isinstance(node, list):
        node.append(payload)
    elif path[-1] == KEY:
        node[payload] = NEEDED.get(".".join(map(str, (*path[:-1], "name"))), "5.14")
    else:
        node[path[-1]] = payload
    return root


def placed(data: Any) -> source.Node:
    """Plain data as the reader's tree, without a detour over YAML, which refuses control characters itself."""
    if isinstance(data, dict):
        node = source.Node(line=1, column=1, items={key: placed(value) for key, value in data.items()})
        node.keys = dict.fromkeys(data, (1, 1))
        return node
    if isinstance(data, list):
        return source.Node(line=1, column=1, items=[placed(value) for value in data])
    return source.Node(line=1, column=1, value=data)


def taken(path: Path_, payload: str) -> source.Source | None:
    """The intent, if the language takes it; else every mistake has a code, and a message of one printable line."""
    text = source.Source("x.yaml", placed(intent_with(path, payload)))
    try:
        validate(text)
    except InputError as error:
        for one in error.diagnostics:
            assert re.fullmatch("FAB1[0-9]{2}", one.code), (path, payload)
            assert f"{one.message}{one.hint}".isprintable(), (path, payload, one.message)
            assert len(one.message) < 2000, (path, payload)
        return None
    return text


def test_the_schema_names_the_texts() -> None:
    found = {".".join(map(str, path)) for path in fields()}
    assert len(found) > 100
    assert {"fabrics.name.management.banner", "catalog.switches.name.description", "fabrics.<key>", "site"} <= found
    assert "fabrics.name.topology.attachments.0.name" in found
    assert len(PAYLOADS) >= 200


@cache
def accepted() -> Mapping[Path_, tuple[str, ...]]:
    """Per field the payloads that the language takes."""
    return {
        path: tuple(
            payload
            for n, payload in enumerate(PAYLOADS)
            if ((n + at) % FIELD_STEP == 0 or payload in FILLED[:5]) and taken(path, payload) is not None
        )
        for at, path in enumerate(fields())
    }


def test_every_text_is_one_line_that_nothing_fills_in() -> None:
    """What the language takes has no control or hidden character, and nothing that a secret would be put into."""
    for path, payloads in accepted().items():
        if path[:2] == ("overrides", 0) and path[2:3] == ("patch",):
            continue  # a patch is config: docs/security.md
        for payload in payloads:
            assert payload.isprintable(), (path, payload)
            assert len(payload) <= 200 or path[0] == "catalog", (path, payload[:20])
            assert not FILLED_IN.search(payload), (path, payload)


def test_names_are_names() -> None:
    """What becomes a path, a host name or a word of a config is letters, digits and a few signs."""
    free = {path for path, payloads in accepted().items() if any(re.search(r"[\s\"'`;<>|&\\#]", text) for text in payloads)}
    assert {".".join(map(str, path)).replace("fabrics.name.", "").replace(".0", "") for path in free} == FREE


# Texts that are free: read as they are by a person, or looked up later in the catalog and refused there.
FREE = {
    "catalog.servers.name.description",
    "catalog.servers.name.gpu",
    "catalog.servers.name.maker",
    "catalog.servers.name.nics.<key>",
    "catalog.servers.name.nics.name.form",
    "catalog.servers.name.nics.name.model",
    "catalog.servers.name.power_source",
    "catalog.servers.name.source",
    "catalog.switches.name.asic",
    "catalog.switches.name.description",
    "catalog.switches.name.lacks",
    "catalog.switches.name.maker",
    "catalog.switches.name.power_source",
    "catalog.switches.name.nos",
    "catalog.switches.name.sonic.alias",
    "catalog.switches.name.sonic.hwsku.<key>",
    "catalog.switches.name.sonic.hwsku.name",
    "catalog.switches.name.sonic.modes.<key>",
    "catalog.switches.name.sonic.modes.name",
    "catalog.switches.name.sonic.platform",
    "catalog.switches.name.sonic.source",
    "catalog.switches.name.sonic.split_alias",
    "catalog.switches.name.source",
    "checks.silence.FAB182",
    "floor.media.attachments",
    "floor.media.leaf-leaf",
    "floor.media.leaf-spine",
    "floor.media.server-leaf",
    "floor.media.server-server",
    "floor.media.spine-core",
    "infiniband.guids",
    "management.banner",
    "overrides.devices",
    "overrides.file",
    "overrides.template",
    "servers.model",
    "servers.nics",
    "tenants.networks.nics",
    "tenants.nics",
    "tenants.servers",
    "underlay.asn.ranges",
    "topology.core.switch",
    "topology.leaf.switch",
    "topology.spine.switch",
    "topology.switch",
}


# --- free texts in the files of every network OS ------------------------------------------------------------

SITE = """\
version: 1
site: x
catalog: {servers: {node: {gpus: 4, nics: {compute: {count: 4, speed_gbps: 400}}}}}
management: {banner: TOKEN, ntp: 192.0.2.1, snmp_user: monitor}
fabrics:
"""
MODELS = {
    "cumulus": "sn5600",
    "eos": "7060x6-64pe",
    "frr": "64x400g",
    "junos": "qfx5240-64od",
    "nxos": "n9364e-sg2",
    "sonic": "sn5600",
}
FABRIC = """\
  {nos}:
    nos: {nos}
    servers: {{model: node, count: 2, name: {nos}}}
    topology: {{switch: {model}, unit: {{servers: 2}}}}
"""


@cache
def leaves() -> Mapping[str, SwitchView]:
    """One leaf of each network OS."""
    text = source.parse(SITE + "".join(FABRIC.format(nos=nos, model=model) for nos, model in MODELS.items()), "x.yaml")
    made = pipeline.plan(pipeline.Intent(Path("x.yaml"), validate(text), text, Path("/nowhere")), Lock())
    renderer = pipeline.render(made, pipeline.Intent(Path("x.yaml"), validate(text), text, Path("/nowhere")))
    jobs = {job.fabric: job for job in reversed(renderer.jobs(lambda name: "leaf" in name))}
    return {nos: renderer.views[nos].of(jobs[nos].device) for nos in MODELS}


def printed(nos: str, banner: str) -> dict[str, str]:
    view = leaves()[nos]
    assert view.management is not None
    shown = replace(view, management=replace(view.management, banner=banner))
    return {file.path: file.text for file in render(shown, target(nos))}


@cache
def plain(nos: str) -> dict[str, str]:
    return printed(nos, "TOKEN")


def facts(nos: str, files: Mapping[str, str]) -> object:
    """What the product's own reader understands of a switch's files."""
    read = read_device("leaf", nos, files)
    assert not read.broken, nos
    return replace(read, statements=0)  # a line of a banner that is blank or begins with a `#` is none


def filled(value: Any, text: str) -> Any:
    """Data with TOKEN replaced wherever it stands."""
    if isinstance(value, dict):
        return {key: filled(item, text) for key, item in value.items()}
    if isinstance(value, list):
        return [filled(item, text) for item in value]
    return text if value == "TOKEN" else value


def hostile_banners() -> list[tuple[str, str]]:
    """Each payload with some network OSes in turn; what means something in a config with all of them."""
    payloads = [text for text in PAYLOADS if taken(("management", "banner"), text) is not None and text]
    assert len(payloads) > 120
    return [
        (nos, text)
        for n, text in enumerate(payloads)
        for m, nos in enumerate(MODELS)
        if FULL or (n + m) % (len(MODELS) if text in OF_CONFIGS else 2 * len(MODELS)) == 0
    ]


def test_a_banner_is_one_value_in_one_place() -> None:
    """It adds no line and no key, and the product's own readers see the same facts around it."""
    before = {nos: facts(nos, plain(nos)) for nos in ("eos", "frr", "junos", "nxos")}  # the others are data
    for n, (nos, banner) in enumerate(hostile_banners()):
        files = printed(nos, banner)
        for path, text in files.items():
            check_frame(nos, banner, path, text)
        if (
            (FULL or n % 3 == 0) and nos in before and banner.strip() != "EOF"
        ):  # that one is left out, and lines have other numbers
            assert facts(nos, files) == before[nos], (nos, banner)


def check_frame(nos: str, banner: str, path: str, text: str) -> None:
    plain_text, where = plain(nos)[path], (nos, path, banner)
    if "TOKEN" not in plain_text:
        assert text == plain_text, where
    elif nos == "eos" and banner.strip() == "EOF":  # it would end itself: there is none
        assert text == plain_text.replace("banner login\nTOKEN\nEOF\n!\n", ""), where
    elif path.endswith((".json", ".yaml")):
        read = json.loads if path.endswith(".json") else partial(yaml.load, Loader=yaml.CSafeLoader)
        kept = banner.replace("\\", "\\\\") if nos == "sonic" else banner  # SONiC reads escapes in it
        assert read(text) == filled(read(plain_text), kept), where
    else:
        old, new = plain_text.split("\n"), text.split("\n")
        assert len(old) == len(new), where
        for one, other in zip(old, new, strict=True):
            start, found, end = one.partition("TOKEN")
            assert same_frame(nos, start, end, other, banner) if found else one == other, where


def same_frame(nos: str, start: str, end: str, line: str, banner: str) -> bool:
    """Whether a line still is the banner's: in its quotes or delimiters, which are nowhere else in it."""
    if nos == "junos":
        inner = line.removeprefix(start).removesuffix(end)
        return line.startswith(start) and line.endswith(end) and '"' not in inner and "\\" not in inner
    if nos == "nxos" and start:
        head, mark = start[:-1], line[len(start) - 1 : len(start)]
        return line.startswith(head) and line.endswith(mark) and line.count(mark) == 2 + head.count(mark)
    if nos == "eos" and not start:
        return line in (banner, "") and line.strip() != "EOF"
    return line == start + banner + end


# --- free texts that are looked up, or are shown elsewhere ---------------------------------------------------

LOOKED_UP: tuple[Path_, ...] = (
    ("fabrics", "name", "servers", 0, "model"),
    ("fabrics", "name", "servers", 0, "nics"),
    ("fabrics", "name", "topology", "switch"),
    ("fabrics", "name", "topology", "spine", "switch"),
    ("fabrics", "name", "tenants", 0, "servers", 0),
    ("fabrics", "name", "underlay", "asn", "ranges", 0),
    ("overrides", 0, "devices", 0),
    ("overrides", 0, "template"),
    ("overrides", 0, "file"),
)
HOSTILE = ("<script>alert(1)</script>", "../../etc/passwd", "a' OR \"1", "; reboot #", "a: b", "*/ x /*")


@pytest.mark.parametrize("path", LOOKED_UP, ids=lambda path: ".".join(map(str, path[2:])))
def test_a_text_that_names_something_is_refused_where_there_is_no_such_thing(path: Path_, tmp_path: Path) -> None:
    for payload in HOSTILE:
        data = intent_with(path, payload)
        for fabric in data["fabrics"].values():
            fabric["topology"] = {"switch": "64x400g"} | fabric["topology"]
        text = source.Source("x.yaml", placed(data))
        intent = pipeline.Intent(tmp_path / "x.yaml", validate(text), text, tmp_path / "generated")
        with pytest.raises(InputError) as caught:
            pipeline.render(pipeline.plan(intent, Lock()), intent)
        for one in caught.value.diagnostics:
            assert f"{one.message}{one.hint}".isprintable()


SHOWN = """\
version: 1
site: x
catalog:
  servers:
    node: {gpus: 4, maker: MARK, description: MARK, source: MARK, nics: {compute: {count: 4, speed_gbps: 400, model: MARK}}}
  switches:
    custom:
      ports: [{count: 16, speed_gbps: 400}]
      maker: MARK
      description: MARK
      source: MARK
      nos: [sonic]
      sonic: {platform: MARK, hwsku: {default: MARK}, source: MARK, lanes: LANES}
fabrics:
  b:
    servers: {model: node, count: 2}
    topology: {switch: custom}
    management: {banner: MARK}
    qos: {enabled: false}
    checks: {silence: {FAB234: MARK, FAB239: MARK}}
"""


def test_a_text_stays_text_in_pages_sheets_and_pictures(tmp_path: Path) -> None:
    from xml.etree import ElementTree

    mark = """x"><script>alert('MARK')</script>&e;]]>,=1+1;"""
    text = SHOWN.replace("LANES", json.dumps([f"{8 * n}-{8 * n + 7}" for n in range(16)])).replace("MARK", json.dumps(mark))
    (tmp_path / "x.yaml").write_text(text, encoding="utf-8")
    intent = pipeline.load(tmp_path / "x.yaml")
    made = pipeline.plan(intent)
    renderer = pipeline.render(made, intent)
    db = dict(renderer.files(renderer.jobs(lambda name: True)[0]))
    config = next(json.loads(data) for path, data in db.items() if path.endswith("config_db.json"))
    assert config["DEVICE_METADATA"]["localhost"]["hwsku"] == mark
    for form in ("svg", "svg-racks", "graphml", "drawio"):
        made_text = pipeline.export(made, form)
        assert isinstance(made_text, str)
        ElementTree.fromstring(made_text)
        assert "<script>alert" not in made_text
    for form in ("ansible", "containerlab"):
        made_text = pipeline.export(made, form)
        assert isinstance(made_text, str)
        yaml.safe_load(made_text)
    from fabric.deliver.report.study import ReportRequest

    assert "<script>alert" not in pipeline.report(made, ReportRequest())


def test_files_have_plain_paths() -> None:
    for nos in MODELS:
        for path in plain(nos):
            check_path(f"configs/leaf/{path}")


def test_a_patch_and_a_value_have_no_hidden_character() -> None:
    for sign in "\n\0\x1b\u2028\u202e\u2066\u200f\ud800":
        with pytest.raises(ValueError, match="control character"):
            refuse_control({"A": {"b": f"a{sign}b"}}, "patch")
