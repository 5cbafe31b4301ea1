"""Which network OS a file is for, and which files of a folder make one device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath

import pytest

from fabric.audit.checks.run import check_folder
from fabric.nos.reading import PART_REASON, folder as folder_module, scan
from fabric.nos.reading.readers import Kind, recognize
from tests.cost import growth
from tests.examples import SITES, folder

EOS = "hostname {}\nvrf instance red\ninterface Ethernet1\n   mtu 9214\n   ip address 10.0.0.0/31\n"
NXOS = "hostname {}\nfeature bgp\ninterface Ethernet1/1\n  no switchport\n  ip address 10.0.0.1/31\n"
JUNOS = "system {{\n    host-name {};\n}}\ninterfaces {{\n}}\n"
SONIC = '{{"DEVICE_METADATA": {{"localhost": {{"hostname": "{}"}}}}, "PORT": {{}}}}\n'
FRR = "frr defaults datacenter\nhostname {}\nrouter bgp 65001\n"
INTERFACES = "auto lo\niface lo inet loopback\n"

NO_SIGN = Kind("", "no sign of a network OS")
PART = Kind("", PART_REASON, config=True)
SEVERAL = Kind("", "configs of several devices in one file", config=True)
OUTPUT = Kind("", "output of commands")
DATA = Kind("", "YAML or JSON data")


JUNOS_TITLE, SET = "Juniper Junos Evolved", "show configuration | display set"
EOS_JSON = '{"cmds": {"hostname leaf1": null}, "header": []}'


def form(title: str, words: str, command: str) -> Kind:
    """A config of a network OS in a form that its reader does not take."""
    return Kind("", f"{title} config in {words}", config=True, hint=f"replace the file by the output of `{command}`")


def of(name: str) -> Kind:
    """A config of a network OS without a reader."""
    return Kind("", f"{name} config, and there is no reader for this network OS", config=True)


# Name → path, text, kind.
TEXTS: Mapping[str, tuple[str, str, Kind]] = {
    "EOS": ("leaf1.cfg", EOS.format("leaf1"), Kind("eos")),
    "EOS by one section": ("a", "interface Management1\n   ip address 192.0.2.1/24\n", Kind("eos")),
    "EOS with peer groups": ("a", "router bgp 1\n   neighbor X peer group\n", Kind("eos")),
    "NX-OS": ("leaf1.cfg", NXOS.format("leaf1"), Kind("nxos")),
    "IOS with lines that FRR has too": (
        "ce.cfg",
        "interface Ethernet0/0\n ip address 10.0.0.1 255.255.255.252\nrouter bgp 1\n neighbor 10.0.0.2 remote-as 2\n"
        " address-family ipv4\n exit-address-family\n",
        of("IOS or IOS XE"),
    ),
    "a topology with configs in it": (
        "lab.virl",
        "<?xml version='1.0'?>\n<config>\n" + NXOS.format("leaf1"),
        Kind("", "a document in XML"),
    ),
    "SR Linux": ("leaf1.cfg", "set / interface ethernet-1/1 admin-state enable\n", of("SR Linux")),
    "OS10": ("leaf1.txt", "! Version 10.5.3.0\nhostname leaf1\nsystem-user linuxadmin password ****\n", of("OS10")),
    "NX-OS as shown": ("a", "!Command: show running-config\nversion 10.3(2) Bios:version 05\n", Kind("nxos")),
    "Junos in braces": ("leaf1.conf", JUNOS.format("leaf1"), Kind("junos")),
    "Junos as set lines": ("leaf1.txt", "set system host-name leaf1\n", Kind("junos")),
    "SONiC": ("config_db.json", SONIC.format("leaf1"), Kind("sonic")),
    "SONiC without metadata": ("x.json", '{"BGP_NEIGHBOR": {}}', Kind("sonic")),
    "Cumulus as a document": (
        "startup.yaml",
        "- header:\n    nvue-api-version: nvue_v1\n- set: {}\n",
        Kind("cumulus"),
    ),
    "Cumulus as commands": ("a.txt", "nv set system hostname leaf1\n", Kind("cumulus")),
    "EOS as JSON": ("a.json", EOS_JSON, form("Arista EOS", "JSON", "show running-config")),
    "Junos as JSON": ("a.json", '{"configuration" : [{"attributes" : {}}]}', form(JUNOS_TITLE, "JSON", SET)),
    "Junos as XML": ("a.xml", "<rpc-reply>\n<configuration>\n<version>23.4</version>", form(JUNOS_TITLE, "XML", SET)),
    "NX-OS as XML": (
        "a.xml",
        '<?xml version="1.0"?>\n<nf:rpc-reply xmlns="http://www.cisco.com/nxos:1.0:vlan_mgr_cli">',
        form("Cisco NX-OS", "XML", "show running-config"),
    ),
    "FRR": ("frr.conf", FRR.format("leaf1"), Kind("frr")),
    "FRR of one daemon": ("bgpd.conf", "router bgp 65001\n neighbor swp1 interface remote-as external\n", Kind("frr")),
    "ifupdown": ("interfaces", INTERFACES, Kind("interfaces")),
    "a daemon beside FRR": ("sshd.conf", "PermitRootLogin no\n", Kind("companion")),
    "IOS": ("r1.cfg", "version 15.2\nhostname r1\ninterface GigabitEthernet0/1\n ip address 10.0.0.1 255.0.0.0\n", of("IOS")),
    "IOS XR": ("r1.cfg", "!! IOS XR Configuration 7.3\nhostname r1\ninterface TenGigE0/0/0/1\n", of("IOS XR")),
    "SR Linux in braces": ("a", "interface ethernet-1/1 {\n    admin-state enable\n}\nsystem {\n}\n", of("SR Linux")),
    "SR Linux as set lines": ("a", "set / network-instance default type default\n", of("SR Linux")),
    "SR Linux as JSON": ("a.json", '{"srl_nokia-interfaces:interface": []}', of("SR Linux")),
    "a part as typed": ("a", "conf t\n\nrouter bgp 65101\n\n  neighbor 10.0.11.1\n    remote-as 65000\n", PART),
    "a part of a few statements": ("a", "hostname leaf1\ninterface loopback0\n ip address 10.0.0.1/32\n", PART),
    "a part in a transcript": ("Leaf1# show run bgp.txt", "Leaf1# show run bgp\nrouter bgp 1\n  router-id 1.1.1.1\n", PART),
    "configs of three devices": ("a.txt", "".join(EOS.format(f"leaf{n}") for n in (1, 2, 3)), SEVERAL),
    "a config with a second host name": ("a.txt", EOS.format("leaf1") + EOS.format("leaf2"), Kind("eos")),
    "one statement is no part": ("a", "hostname leaf1\n", NO_SIGN),
    "a prompt with a command": ("Leaf1.txt", "\nLeaf1# show ip interface brief\nLo0 10.0.0.1\n", OUTPUT),
    "output by its name": ("ping_10.2.1.207_-c_1.txt", "bind: no address\n", OUTPUT),
    "commands alone": ("new 1.txt", "show bgp ipv4 unicast summary\nshow ip route bgp\n", OUTPUT),
    "output as JSON": ("show_version.json", '{"version": 1}', OUTPUT),
    "variables": ("ansible_vars", "---\nbgp:\n  asn: 65001\n", DATA),
    "a config by its name alone": ("leaf1.cfg", "create vlan red\n", Kind("", "no sign of a network OS", config=True)),
    "a config of commands by its name": (
        "show_running-config.txt",
        "create vlan red\n",
        Kind("", "no sign of a network OS", config=True),
    ),
    "prose": ("notes.txt", "Ask Ann about the second spine.\n", NO_SIGN),
    "JSON of something else": ("a.json", '{"name": "leaf1"}', DATA),
    "nothing": ("empty.cfg", "\n \n", Kind("", "empty", config=True)),
    "nothing, of a command": ("show_vrf.txt", "", Kind("", "empty")),
    "binary": ("core", "hostname x\0\0", Kind("", "binary")),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_is_reported_by_what_stands_in_it(name: str) -> None:
    path, text, kind = TEXTS[name]
    assert recognize(path, text) == kind


def test_the_time_is_not_that_of_all_pairs_of_blank_lines() -> None:
    small, large = ("router bgp 1\n" + "\n" * count + " router-id 1.1.1.1\n" for count in (2_000, 32_000))
    assert recognize("r1", large) == PART
    assert growth(lambda: recognize("r1", small), lambda: recognize("r1", large)) < 64  # 256 where each begins a sign


# Layout → files, the devices that they make: name, network OS, files.
LAYOUTS: Mapping[str, tuple[Mapping[str, str], list[tuple[str, str, list[str]]]]] = {
    "a folder a device": (
        {"leaf1/startup-config": EOS.format("leaf1"), "spine1/juniper.conf": JUNOS.format("spine1")},
        [("leaf1", "eos", ["leaf1/startup-config"]), ("spine1", "junos", ["spine1/juniper.conf"])],
    ),
    "a folder of parts": (
        {
            "leaf1/config_db.json": SONIC.format("leaf1"),
            "leaf1/frr.conf": FRR.format("leaf1"),
            "leaf2/frr.conf": FRR.format("leaf2"),
            "leaf2/interfaces": INTERFACES,
            "leaf2/daemons": "bgpd=yes\n",
        },
        [
            ("leaf1", "sonic", ["leaf1/config_db.json", "leaf1/frr.conf"]),
            ("leaf2", "frr", ["leaf2/daemons", "leaf2/frr.conf", "leaf2/interfaces"]),
        ],
    ),
    "one file a daemon": (
        {"leaf1/bgpd.conf": "frr version 8\nrouter bgp 1\n", "leaf1/zebra.conf": "frr version 8\ninterface swp1\n"},
        [("leaf1", "frr", ["leaf1/bgpd.conf", "leaf1/zebra.conf"])],
    ),
    "side by side": (
        {"a.cfg": EOS.format("leaf1"), "b.cfg": NXOS.format("leaf2"), "c.conf": JUNOS.format("spine1")},
        [("leaf1", "eos", ["a.cfg"]), ("leaf2", "nxos", ["b.cfg"]), ("spine1", "junos", ["c.conf"])],
    ),
    "side by side, without host names": (
        {"leaf1.cfg": EOS.replace("hostname {}\n", ""), "leaf2.cfg": EOS.replace("hostname {}\n", "")},
        [("leaf1", "eos", ["leaf1.cfg"]), ("leaf2", "eos", ["leaf2.cfg"])],
    ),
    "one file without a host name": (
        {"flat/leaf1.conf": "frr version 8\nrouter bgp 1\n"},
        [("leaf1", "frr", ["flat/leaf1.conf"])],
    ),
    "two files of one device among others": (
        {
            "leaf1.json": SONIC.format("leaf1"),
            "leaf1-frr.conf": FRR.format("leaf1"),
            "leaf2.json": SONIC.format("leaf2"),
            "sysctl.conf": "net.ipv4.ip_forward = 1\n",
        },
        [("leaf1", "sonic", ["leaf1-frr.conf", "leaf1.json"]), ("leaf2", "sonic", ["leaf2.json"])],
    ),
    "a SONiC switch beside another that runs FRR": (
        {"leaf1.json": SONIC.format("leaf1"), "spine1.conf": FRR.format("spine1")},
        [("leaf1", "sonic", ["leaf1.json"]), ("spine1", "frr", ["spine1.conf"])],
    ),
    "two devices of one name": (
        {"a.cfg": EOS.format("leaf1"), "b.cfg": EOS.format("leaf1")},
        [("leaf1", "eos", ["a.cfg"]), ("leaf1", "eos", ["b.cfg"])],
    ),
    "the name of a usual file tells nothing": (
        {"leaf7/running-config.txt": EOS.replace("hostname {}\n", "")},
        [("leaf7", "eos", ["leaf7/running-config.txt"])],
    ),
    "copied from the disks of switches": (
        {
            "leaf1/etc/frr/daemons": "bgpd=yes\n",
            "leaf1/etc/frr/frr.conf": FRR.format("leaf1"),
            "leaf1/etc/network/interfaces": INTERFACES,
            "leaf2/etc/network/interfaces": INTERFACES,
            "leaf3/etc/sonic/config_db.json": SONIC.format("leaf3"),
            "leaf3/etc/sonic/frr/frr.conf": FRR.format("leaf3"),
        },
        [
            ("leaf1", "frr", ["leaf1/etc/frr/daemons", "leaf1/etc/frr/frr.conf", "leaf1/etc/network/interfaces"]),
            ("leaf2", "frr", ["leaf2/etc/network/interfaces"]),
            ("leaf3", "sonic", ["leaf3/etc/sonic/config_db.json", "leaf3/etc/sonic/frr/frr.conf"]),
        ],
    ),
    "one name in every folder": (
        {f"leaf{n}/routing.conf": "frr version 8\nrouter bgp 1\n" for n in (1, 2)},
        [(f"leaf{n}", "frr", [f"leaf{n}/routing.conf"]) for n in (1, 2)],
    ),
    "parts of one name in every folder": (
        {
            f"leaf{n}/{name}.conf": f"frr version 8\n{text}"
            for n in (1, 2)
            for name, text in (("evpn", "router bgp 1\n"), ("ports", "interface swp1\n"))
        },
        [(f"leaf{n}", "frr", [f"leaf{n}/evpn.conf", f"leaf{n}/ports.conf"]) for n in (1, 2)],
    ),
    "two versions of a device": (
        {f"leaf{n}/{name}.conf": "frr version 8\nrouter bgp 1\n" for n in (1, 2) for name in ("frr", "with-ipv6")},
        [(f"leaf{n}", "frr", [f"leaf{n}/{name}.conf"]) for n in (1, 2) for name in ("frr", "with-ipv6")],
    ),
    "two versions of a network without host names": (
        {f"{when}/leaf{n}.conf": "frr version 8\nrouter bgp 1\n" for when in ("after", "before") for n in (1, 2)},
        [(f"leaf{n}", "frr", [f"{when}/leaf{n}.conf"]) for when in ("after", "before") for n in (1, 2)],
    ),
    "a copy under the same name in other letters": (
        {f"{name}.cfg": NXOS.format("leaf1") for name in ("Leaf1", "leaf1")},
        [("leaf1", "nxos", ["Leaf1.cfg"])],
    ),
    "an earlier state below the present configs": (
        {f"{folder}leaf{n}.cfg": EOS.format(f"leaf{n}") + f"! {folder}\n" for folder in ("", "2021/") for n in (1, 2)},
        [(f"leaf{n}", "eos", [f"{folder}leaf{n}.cfg"]) for folder in ("", "2021/") for n in (1, 2)],
    ),
    "files of one stem, of which one has the host name": (
        {
            f"2022_{device}.{ending}": text
            for device in ("a", "b")
            for ending, text in (("cfg", FRR.format(f"r-{device}")), ("ports", INTERFACES))
        },
        [(f"r-{device}", "frr", [f"2022_{device}.cfg", f"2022_{device}.ports"]) for device in ("a", "b")],
    ),
    "a copy beside the configs": (
        {f"{copy}leaf{n}/frr.conf": FRR.format(f"leaf{n}") for copy in ("", "ansible/files/") for n in (1, 2)},
        [(f"leaf{n}", "frr", [f"leaf{n}/frr.conf"]) for n in (1, 2)],
    ),
    "labs that each have one device of a name": (
        {f"{lab}/router1/frr.conf": FRR.format("router1") for lab in ("bgp", "vrf")},
        [("router1", "frr", [f"{lab}/router1/frr.conf"]) for lab in ("bgp", "vrf")],
    ),
    "an earlier state of a file beside it": (
        {
            "leaf1.cfg": EOS.format("leaf1"),
            "leaf1.cfg.old": EOS.format("leaf1"),
            "leaf1.org": EOS.format("leaf1"),
            "leaf2.bak": EOS.format("leaf2"),
        },
        [("leaf1", "eos", ["leaf1.cfg"]), ("leaf2", "eos", ["leaf2.bak"])],
    ),
    "one config in two forms": (
        {"leaf1.conf": JUNOS.format("leaf1"), "leaf1.set.conf": "set system host-name leaf1\n"},
        [("leaf1", "junos", ["leaf1.conf"])],
    ),
    "a copy below the folder of the first": (
        {"leaf1/junos.conf": JUNOS.format("leaf1"), "leaf1/tmp/01.conf": JUNOS.format("leaf1")},
        [("leaf1", "junos", ["leaf1/junos.conf"])],
    ),
    "other contents below the folder of the first": (
        {"leaf1/junos.conf": JUNOS.format("leaf1"), "leaf1/tmp/01.conf": JUNOS.format("leaf1") + "policy-options {\n}\n"},
        [("leaf1", "junos", ["leaf1/junos.conf"]), ("leaf1", "junos", ["leaf1/tmp/01.conf"])],
    ),
    "hidden files, pages and tables": (
        {
            "leaf1.cfg": EOS.format("leaf1"),
            ".leaf1.cfg.swp": EOS.format("leaf1"),
            ".git/config": EOS.format("x"),
            "README.md": EOS.format("x"),
            "links.csv": "a,b\n",
        },
        [("leaf1", "eos", ["leaf1.cfg"])],
    ),
    "a generated site": (
        {
            "manifest.txt": "x\n",
            "plan.json": "{}\n",
            "hosts/gpu1/interfaces": INTERFACES,
            "configs/leaf1/startup-config": EOS.format("leaf1"),
        },
        [("leaf1", "eos", ["configs/leaf1/startup-config"])],
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout_is_understood(layout: str, tmp_path: Path) -> None:
    files, devices = LAYOUTS[layout]
    write(tmp_path, files)
    found = scan(tmp_path)
    assert [
        (device.name, device.nos, [str(Path(path).relative_to(tmp_path)) for path in device.files])
        for device in found.devices
    ] == devices
    assert found.unrecognized == {}


def test_an_earlier_state_is_a_network_of_its_own(tmp_path: Path) -> None:
    write(tmp_path, LAYOUTS["an earlier state below the present configs"][0])
    assert [len(site) for site in scan(tmp_path).sites()] == [2, 2]


def write(root: Path, files: Mapping[str, str | bytes]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text if isinstance(text, bytes) else text.encode())


def test_what_cannot_be_read_is_listed_with_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(folder_module, "MOST_BYTES", 400)
    write(
        tmp_path,
        {
            "in/core": b"\0\1\2",
            "in/empty": "",
            "in/large.cfg": EOS.format("x") + "!" * 400,
            "in/latin1.cfg": "description Z\xfcrich\n".encode("latin-1"),
            "in/leaf1.cfg": EOS.format("leaf1"),
            "in/notes.txt": "Ask Ann.\n",
            "in/router.cfg": "sysname r1\n",
        },
    )
    (tmp_path / "in/gone.cfg").symlink_to("nowhere")
    found = scan(Path("in"))
    assert [device.name for device in found.devices] == ["leaf1"]
    assert found.unrecognized == {
        "in/core": Kind("", "binary"),
        "in/empty": Kind("", "empty"),
        "in/gone.cfg": Kind("", "no such file or directory", config=True),
        "in/large.cfg": Kind("", "too large for a config"),
        "in/latin1.cfg": Kind("", "not UTF-8 text", config=True),
        "in/notes.txt": NO_SIGN,
        "in/router.cfg": of("VRP or Comware"),
    }


def test_what_is_no_config_by_its_name_is_counted_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"a.cfg": EOS.format("a"), "b.cfg": EOS.format("b"), "daemons": "bgpd=yes\n", "x.png": b"\x89PNG"})
    assert scan(Path()).passed == ["x.png", "daemons"]


def test_one_place_in_several_folders_is_a_network_each(tmp_path: Path) -> None:
    write(tmp_path, {f"{lab}/router1/frr.conf": FRR.format("router1") for lab in ("bgp", "vrf")})
    assert [PurePath(path).name for path in scan(tmp_path).apart] == ["bgp", "vrf"]
    write(tmp_path, {f"leaf{n}/frr.conf": FRR.format("frr") for n in (1, 2)})
    assert [PurePath(path).name for path in scan(tmp_path).apart] == ["bgp", "vrf"]  # two devices of one name are none


@pytest.mark.parametrize(
    ("files", "read"),
    [
        (("leaf1_20250828-0613.cfg", "leaf1_20250829-0521.cfg", "leaf2_20250828-0613.cfg"), (1, 2)),
        (("b/leaf1-2024-05-01-09:28:11.cfg", "leaf1-2024-05-02-09:28:11.cfg"), (1,)),
        (("b/leaf1-2024-05-03-09:28:11.cfg", "leaf1-2024-05-02-09:28:11.cfg"), (0, 1)),
        (("leaf1-2024-05-01.cfg", "leaf2-2024-05-02.cfg", "leaf1-10240501.cfg"), (0, 1, 2)),
    ],
)
def test_the_latest_of_several_dates_is_read(files: Sequence[str], read: Sequence[int], tmp_path: Path) -> None:
    write(tmp_path, {path: EOS.format(f"r{number}") for number, path in enumerate(files)})
    found = {str(Path(path).relative_to(tmp_path)) for own in scan(tmp_path).devices for path in own.files}
    assert found == {files[at] for at in read}


# Layout → file: its host name; the files of each network.
STATES: Mapping[str, tuple[Mapping[str, str], list[list[str]]]] = {
    "states in each of several labs": (
        {f"lab{n}/{s}/leaf{m}.cfg": f"leaf{m}" for n in (1, 2) for s in ("end", "start") for m in (1, 2)},
        [[f"lab{n}/{s}/leaf{m}.cfg" for m in (1, 2)] for n in (1, 2) for s in ("end", "start")],
    ),
    "a lab beside others": (
        {"a/leaf1.cfg": "leaf1", "b/leaf1.cfg": "leaf1", "a/leaf2.cfg": "leaf2", "b/leaf2.cfg": "leaf2", "c/x.cfg": "leaf3"},
        [["a/leaf1.cfg", "a/leaf2.cfg"], ["b/leaf1.cfg", "b/leaf2.cfg"], ["c/x.cfg"]],
    ),
    "states in the names of files": (
        {f"leaf{n}-{state}.cfg": f"leaf{n}" for n in (1, 2) for state in ("final", "initial")} | {"spine1.cfg": "spine1"},
        [["leaf1-final.cfg", "leaf2-final.cfg"], ["leaf1-initial.cfg", "leaf2-initial.cfg"], ["spine1.cfg"]],
    ),
    "a state before the names": (
        {f"{state}_leaf{n}.cfg": f"LEAF{n}" for n in (1, 2) for state in ("post", "pre")},
        [["post_leaf1.cfg", "post_leaf2.cfg"], ["pre_leaf1.cfg", "pre_leaf2.cfg"]],
    ),
    "a wrong host name": (
        {"leaf1.cfg": "leaf1", "leaf11.cfg": "leaf1", "leaf2.cfg": "leaf2", "leaf21.cfg": "leaf2"},
        [["leaf1.cfg", "leaf11.cfg", "leaf2.cfg", "leaf21.cfg"]],
    ),
    "a second file of one device": (
        {"leaf1.cfg": "leaf1", "leaf1-new.cfg": "leaf1", "leaf2.cfg": "leaf2"},
        [["leaf1-new.cfg", "leaf1.cfg", "leaf2.cfg"]],
    ),
}


@pytest.mark.parametrize("layout", STATES)
def test_each_state_is_a_network_of_its_own(layout: str, tmp_path: Path) -> None:
    files, networks = STATES[layout]
    write(tmp_path, {path: EOS.format(name) + f"! {path}\n" for path, name in files.items()})
    found = [
        sorted(str(Path(path).relative_to(tmp_path)) for own in site for path in own.files) for site in scan(tmp_path).sites()
    ]
    assert sorted(found) == sorted(map(sorted, networks))


def test_a_single_file_is_a_folder_of_one(tmp_path: Path) -> None:
    write(tmp_path, {"leaf1.cfg": EOS.format("leaf1")})
    assert [device.name for device in scan(tmp_path / "leaf1.cfg").devices] == ["leaf1"]


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no such file or folder"):
        scan(tmp_path / "nowhere")


def test_generated_sites_have_nothing_to_do_with_each_other(tmp_path: Path) -> None:
    """Two sites may use the same addresses and names."""
    for site in ("one", "two"):
        write(tmp_path / site, {"manifest.txt": "x\n", "configs/leaf1/startup-config": EOS.format("leaf1")})
    found = scan(tmp_path)
    assert [Path(device.site).name for device in found.devices] == ["one", "two"]
    assert [len(devices) for devices in found.sites()] == [1, 1]
    assert {finding.id for finding in check_folder(found).findings} == {"FAB283"}


@pytest.mark.parametrize("site", SITES)
def test_every_file_of_a_generated_site_is_recognized(site: str) -> None:
    found = scan(folder(site))
    assert found.unrecognized == {}
    assert [device.name for device in found.devices] == sorted(path.name for path in (folder(site) / "configs").iterdir())
    assert all(Path(path).parent.name == device.name for device in found.devices for path in device.files)
