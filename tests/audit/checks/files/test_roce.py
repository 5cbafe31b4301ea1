"""The lossless class of several switches: one priority, one DSCP, at both ends of every link."""

from __future__ import annotations

from collections.abc import Mapping

from tests.audit.checks.files.helpers import Case, all_say, but

EOS = """\
ip load-sharing trident {seed}
qos map dscp 0 to traffic-class 0
qos map dscp 26 to traffic-class 3
qos map dscp 48 to traffic-class 6
priority-flow-control pause watchdog default timeout 0.2
qos profile ROCE
   priority-flow-control on
   priority-flow-control priority 3 no-drop
   priority-flow-control pause watchdog
   uc-tx-queue 0
      no priority
      bandwidth percent 40
   uc-tx-queue 3
      no priority
      bandwidth percent 60
      random-detect ecn minimum-threshold 150000 bytes maximum-threshold 1500000 bytes max-mark-probability 20 weight 0
   uc-tx-queue 6
      priority strict
{ports}"""
PORT = """\
interface Ethernet{port}
   description {far}
   speed 400g
   ip address 10.0.{net}/31
   service-profile ROCE
"""
LEAVES = {
    f"leaf{n}.eos": EOS.format(seed=1, ports=PORT.format(port=1, far=f"spine1 Ethernet{n}", net=f"{n}.1")) for n in (1, 2, 3)
}
SPINE = EOS.format(seed=2, ports="".join(PORT.format(port=n, far=f"leaf{n} Ethernet1", net=f"{n}.0") for n in (1, 2, 3)))
ROCE = {**LEAVES, "spine1.eos": SPINE}
MAP = "qos map dscp 26 to traffic-class 3"
ECN = "random-detect ecn minimum-threshold 150000 bytes maximum-threshold 1500000 bytes"
WATCHDOG = "   priority-flow-control pause watchdog\n"
PROFILE = "   service-profile ROCE\n"
SONIC = {
    f"leaf{n}.sonic": f"""\
{{
  "DEVICE_METADATA": {{"localhost": {{"hostname": "leaf{n}"}}}},
  "PORT": {{"Ethernet0": {{"admin_status": "up", "speed": "400000", "lanes": "1", "mtu": "9216"}}}},
  "PORT_QOS_MAP": {{"Ethernet0": {{"pfc_enable": "3", "pfcwd_sw_enable": "3"}}}},
  "BUFFER_PG": {{"Ethernet0|3-4": {{"profile": "LOSSLESS"}}}},
  "BUFFER_PROFILE": {{"LOSSLESS": {{"size": "0", "xon": "1000",
    "xoff": "{xoff}"}}}}
}}
"""
    for n, xoff in ((1, 200000), (2, 200000), (3, 200000), (4, 200000), (5, 90000))
}

JUNOS = {
    f"leaf{n}.junos": f"""\
system {{ host-name leaf{n}; }}
interfaces {{ et-0/0/0 {{ speed 400g; unit 0 {{ family inet {{ address 10.0.{n}.0/31; }} }} }} }}
class-of-service {{
    drop-profiles {{ ECN {{ interpolate {{ fill-level [ 20 40 ]; drop-probability [ 0 5 ]; }} }} }}
    forwarding-classes {{ class NO-LOSS queue-num 3 no-loss pfc-priority 3; }}
    interfaces {{ et-0/0/0 {{ scheduler-map MAP; }} }}
    scheduler-maps {{ MAP {{ forwarding-class NO-LOSS scheduler ROCE; }} }}
    schedulers {{
        ROCE {{
            drop-profile-map loss-priority any protocol any drop-profile ECN;
            explicit-congestion-notification;
        }}
    }}
}}
"""
    for n in (1, 2, 3)
}
FILL = "fill-level [ 20 40 ]"
CASES: Mapping[tuple[str, str], Case] = {
    ("FAB272", "at both ends"): (ROCE, []),
    ("FAB272", "at one end"): (
        but(ROCE, {"leaf1.eos": {PROFILE: ""}}),
        [
            "leaf1.eos:19: error[FAB272]: leaf1: Ethernet1: PFC is enabled for no priority, but for "
            "priority 3 on spine1 Ethernet1",
        ],
    ),
    ("FAB272", "on another priority"): (
        but(ROCE, {"leaf1.eos": {"priority 3 no-drop": "priority 4 no-drop"}}),
        [
            "leaf1.eos:8: error[FAB272]: leaf1: Ethernet1: PFC is enabled for priority 4, but for "
            "priority 3 on spine1 Ethernet1",
        ],
    ),
    ("FAB272", "on one priority more"): (
        but(ROCE, {"leaf1.eos": {"priority 3 no-drop": "priority 3 no-drop\n   priority-flow-control priority 4 no-drop"}}),
        [
            "spine1.eos:8: error[FAB272]: spine1: Ethernet1: PFC is enabled for priority 3, but for "
            "priorities 3, 4 on leaf1 Ethernet1",
        ],
    ),
    ("FAB273", "one map"): (ROCE, []),
    ("FAB273", "another DSCP on one of four"): (
        but(ROCE, {"leaf2.eos": {MAP: MAP.replace("26", "24")}}),
        [
            "leaf2.eos:3: error[FAB273]: leaf2: Ethernet1: DSCP 24 in the lossless class, but 26 on other switches",
        ],
    ),
    ("FAB273", "one DSCP more"): (
        but(ROCE, {"leaf2.eos": {MAP: MAP.replace("26", "24 26")}}),
        [
            "leaf2.eos:3: error[FAB273]: leaf2: Ethernet1: DSCP 24, 26 in the lossless class, but 26 on other switches",
        ],
    ),
    ("FAB273", "notifications not first on one of four"): (
        but(ROCE, {"spine1.eos": {"      priority strict": "      no priority"}}),
        [
            "spine1.eos:4: error[FAB273]: spine1: Ethernet1: no DSCP with strict priority, but 48 on other switches",
        ],
    ),
    ("FAB273", "a paused priority without a DSCP"): (
        but(ROCE, {"leaf2.eos": {"priority 3 no-drop": "priority 2 no-drop"}}),
        [
            "leaf2.eos:3: error[FAB273]: leaf2: Ethernet1: no DSCP in the lossless class, but 26 on other switches",
            "leaf2.eos:8: error[FAB273]: leaf2: Ethernet1: PFC is enabled for priority 2, but no DSCP is "
            "mapped to this priority\n"
            "    hint: map a DSCP to priority 2, or disable PFC for priority 2",
        ],
    ),
    ("FAB273", "class selector 7 goes first on some"): (
        but(ROCE, {"leaf2.eos": {"dscp 48 to": "dscp 48 56 to"}}),
        [],
    ),
    ("FAB273", "one switch maps the whole block"): (
        but(ROCE, {"spine1.eos": {MAP: MAP.replace("26", "24 25 26 27 28 29 30 31")}}),
        [],
    ),
    ("FAB273", "one switch maps another block"): (
        but(ROCE, {"spine1.eos": {MAP: MAP.replace("26", "32 33 34 35 36 37 38 39")}}),
        [
            "spine1.eos:3: error[FAB273]: spine1: Ethernet1: DSCP 32, 33, 34, 35, 36, 37, 38, 39 in the lossless class, "
            "but 26 on other switches",
        ],
    ),
    ("FAB274", "in order, and alike"): (ROCE, []),
    ("FAB274", "one step"): (but(ROCE, {"spine1.eos": {ECN: ECN.replace("150000 ", "1500000 ")}}), []),
    ("FAB274", "minimum above maximum"): (
        but(ROCE, {"spine1.eos": {ECN: ECN.replace("150000 ", "1600000 ")}}),
        [
            "spine1.eos:16: error[FAB274]: spine1: Ethernet1: priority 3: ECN minimum 1600000 bytes is "
            "above the maximum 1500000 bytes",
        ],
    ),
    ("FAB274", "another maximum on one leaf of three"): (
        but(ROCE, {"leaf3.eos": {ECN: ECN.replace("1500000", "2000000")}}),
        [
            "leaf3.eos:16: warning[FAB274]: leaf3: Ethernet1: ECN maximum 2000000 bytes, but 1500000 "
            "bytes on leaf1 (leaf1.eos:16)",
        ],
    ),
    ("FAB274", "both percents of a larger buffer's fill on one leaf of three"): (
        but(JUNOS, {"leaf3.junos": {FILL: "fill-level [ 15 30 ]"}}),
        [
            "leaf3.junos:4: note[FAB274]: leaf3: et-0/0/0: ECN minimum 15 %, but 20 % on leaf1 (leaf1.junos:4)",
            "leaf3.junos:4: note[FAB274]: leaf3: et-0/0/0: ECN maximum 30 %, but 40 % on leaf1 (leaf1.junos:4)",
        ],
    ),
    ("FAB274", "one percent of the fill on one leaf of three"): (
        but(JUNOS, {"leaf3.junos": {FILL: "fill-level [ 20 60 ]"}}),
        [
            "leaf3.junos:4: warning[FAB274]: leaf3: et-0/0/0: ECN maximum 60 %, but 40 % on leaf1 (leaf1.junos:4)",
        ],
    ),
    ("FAB275", "alike on switches of one role"): (
        {name: text for name, text in SONIC.items() if name != "leaf5.sonic"},
        [],
    ),
    ("FAB275", "less on one of five"): (
        SONIC,
        [
            "leaf5.sonic:7: warning[FAB275]: leaf5: Ethernet0: headroom 90000 bytes, but 200000 bytes on "
            "leaf1 (leaf1.sonic:7)",
        ],
    ),
    ("FAB276", "on each port with PFC"): (ROCE, []),
    ("FAB276", "off"): (
        but(ROCE, {"leaf1.eos": {WATCHDOG: ""}}),
        [
            "leaf1.eos:8: warning[FAB276]: leaf1: Ethernet1: PFC is enabled without a watchdog",
        ],
    ),
    ("FAB277", "a seed for each tier"): (ROCE, []),
    ("FAB277", "one seed for both"): (
        but(ROCE, {"spine1.eos": {"trident 2": "trident 1"}}),
        [
            "leaf1.eos:1: note[FAB277]: leaf1: hash seed 1 is also configured on spine1, in another tier",
            "spine1.eos:1: note[FAB277]: spine1: hash seed 1 is also configured on leaf1, in another tier",
            "leaf2.eos:1: note[FAB277]: leaf2: hash seed 1 is also configured on spine1, in another tier",
            "leaf3.eos:1: note[FAB277]: leaf3: hash seed 1 is also configured on spine1, in another tier",
        ],
    ),
}


def test_sound_classes_are_left_in_peace() -> None:
    assert [str(finding) for finding in all_say(ROCE) if "FAB272" <= finding.id <= "FAB278"] == []
