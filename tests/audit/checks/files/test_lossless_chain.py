"""The lossless class of one switch, link by link: what is wrong on every switch is found as well as what differs."""

from __future__ import annotations

from collections.abc import Mapping

from tests.audit.checks.files.helpers import Case, Files, all_say, but

EOS = """\
hostname leaf1
qos map dscp 0 to traffic-class 0
qos map dscp 26 to traffic-class 3
qos map traffic-class 3 to tx-queue 3
priority-flow-control pause watchdog default timeout 0.2
priority-flow-control pause watchdog default polling-interval 0.1
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
      random-detect ecn minimum-threshold 150 kbytes maximum-threshold 1500 kbytes max-mark-probability 20 weight 0
      random-detect ecn count
interface Ethernet1
   speed 400g
   service-profile ROCE
"""
NXOS = """\
hostname leaf1
class-map type qos match-any ROCE
  match dscp 26
policy-map type qos CLASSIFY
  class ROCE
    set qos-group 3
policy-map type network-qos NET
  class type network-qos c-8q-nq3
    pause buffer-size 300000 pause-threshold 100000 resume-threshold 90000 pfc-cos 3
    mtu 9216
policy-map type queuing OUT
  class type queuing c-out-8q-q3
    bandwidth remaining percent 60
    random-detect minimum-threshold 150 kbytes maximum-threshold 3000 kbytes drop-probability 7 weight 0 ecn
  class type queuing c-out-8q-q-default
    bandwidth remaining percent 40
system qos
  service-policy type network-qos NET
  service-policy type queuing output OUT
priority-flow-control watch-dog-interval on
interface Ethernet1/1
  priority-flow-control mode on
  service-policy type qos input CLASSIFY
"""
JUNOS = """\
system { host-name leaf1; }
interfaces { et-0/0/0 { speed 400g; } }
class-of-service {
    classifiers { dscp ROCE { forwarding-class NO-LOSS { loss-priority low code-points 011010; } } }
    drop-profiles { ECN { interpolate { fill-level [ 20 40 ]; drop-probability [ 0 5 ]; } } }
    shared-buffer { ingress {
        buffer-partition lossless-headroom { percent 24; }
    } }
    forwarding-classes {
        class NO-LOSS queue-num 4 no-loss pfc-priority 3;
        class CNP queue-num 3;
    }
    congestion-notification-profile { PFC {
        input { dscp { code-point 011010 {
            pfc;
        } } }
        output { ieee-802.1 { code-point 011 {
            flow-control-queue 4;
        } } }
        pfc-watchdog { poll-interval 100; detection 2; }
    } }
    interfaces { et-0/0/0 {
        congestion-notification-profile PFC;
        scheduler-map MAP;
        unit 0 { classifiers { dscp ROCE; } }
    } }
    scheduler-maps { MAP { forwarding-class NO-LOSS scheduler ROCE; forwarding-class CNP scheduler CNP; } }
    schedulers {
        ROCE {
            transmit-rate percent 60;
            drop-profile-map loss-priority any protocol any drop-profile ECN;
            explicit-congestion-notification;
        }
        CNP { priority strict-high; transmit-rate percent 5; }
    }
}
"""
NVUE = """\
- set:
    interface:
      swp1:
        ip: {address: {10.0.0.0/31: {}}}
        type: swp
    qos:
      roce: {enable: on, mode: lossless}
      pfc-watchdog: {polling-interval: 100, robustness: 2}
      pfc:
        default-global:
          switch-priority: {'3': {}}
          port-buffer: 300000
          xoff-threshold: 100000
          xon-threshold: 90000
          tx: enable
"""
SONIC = """\
{
  "DEVICE_METADATA": {"localhost": {"hostname": "leaf1", "platform": "x86_64-mlnx_msn4700-r0"}},
  "PORT": {"Ethernet0": {"admin_status": "up", "speed": "400000", "lanes": "1", "mtu": "9216"}},
  "DSCP_TO_TC_MAP": {"M": {"0": "0", "26": "3"}},
  "TC_TO_QUEUE_MAP": {"M": {"0": "0", "3": "3"}},
  "TC_TO_PRIORITY_GROUP_MAP": {"M": {"0": "0", "3": "3"}},
  "MAP_PFC_PRIORITY_TO_QUEUE": {"M": {"0": "0", "3": "3", "4": "4"}},
  "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": {"M": {"3": "3", "4": "4"}},
  "PORT_QOS_MAP": {"Ethernet0": {
    "dscp_to_tc_map": "M",
    "tc_to_queue_map": "M", "tc_to_pg_map": "M", "pfc_to_queue_map": "M", "pfc_to_pg_map": "M",
    "pfc_enable": "3"
  }},
  "SCHEDULER": {"S": {"type": "DWRR", "weight": "60"}, "B": {"type": "DWRR", "weight": "40"}},
  "WRED_PROFILE": {"W": {
    "ecn": "ecn_all",
    "green_min_threshold": "1000", "green_max_threshold": "2000", "green_drop_probability": "5"}},
  "QUEUE": {
    "Ethernet0|0": {"scheduler": "B"},
    "Ethernet0|3": {"scheduler": "S", "wred_profile": "W"}
  },
  "BUFFER_POOL": {"in": {"mode": "dynamic", "type": "ingress"}, "out": {"mode": "dynamic", "type": "egress"}},
  "BUFFER_PROFILE": {
    "headroom": {"pool": "in", "size": "80000", "xon": "19456",
      "xoff": "60544", "dynamic_th": "0"},
    "in_lossy": {"pool": "in", "size": "0", "dynamic_th": "3"},
    "out_lossless": {"pool": "out", "size": "0", "dynamic_th": "7"},
    "out_lossy": {"pool": "out", "size": "0", "dynamic_th": "3"}
  },
  "BUFFER_PG": {
    "Ethernet0|0": {"profile": "in_lossy"},
    "Ethernet0|3": {"profile": "headroom"}
  },
  "BUFFER_QUEUE": {
    "Ethernet0|0-2": {"profile": "out_lossy"},
    "Ethernet0|3": {"profile": "out_lossless"}
  },
  "PFC_WD": {
    "GLOBAL": {"POLL_INTERVAL": "100"},
    "Ethernet0": {"action": "drop", "detection_time": "200", "restoration_time": "200"}
  }
}
"""
SOUND = {"leaf1.eos": EOS, "leaf1.nxos": NXOS, "leaf1.junos": JUNOS, "leaf1.cumulus": NVUE, "leaf1.sonic": SONIC}


# One network: each switch by the name of its network OS.
SOUND_TOGETHER = {
    name.replace("leaf1", f"leaf{n}"): text.replace("leaf1", f"leaf{n}") for n, (name, text) in enumerate(SOUND.items())
}


def a(nos: str, *edits: tuple[str, str]) -> Files:
    """The sound switch of a network OS with edits."""
    name = f"leaf1.{nos}"
    return but({name: SOUND[name]}, {name: dict(edits)})


CASES: Mapping[tuple[str, str], Case] = {
    ("FAB2540", "a sound switch of each network OS"): (SOUND_TOGETHER, []),
    ("FAB2540", "sonic, no DSCP map"): (
        a("sonic", ('    "dscp_to_tc_map": "M",\n', "")),
        [
            "leaf1.sonic:11: error[FAB2540]: leaf1: Ethernet0: PFC is enabled for priority 3, but no "
            "DSCP leads to it: traffic class 3 → priority group 3 → queue 3",
        ],
    ),
    ("FAB2540", "sonic, another priority group"): (
        a("sonic", ('_GROUP_MAP": {"M": {"0": "0", "3": "3"}', '_GROUP_MAP": {"M": {"0": "0", "3": "0"}')),
        [
            "leaf1.sonic:12: error[FAB2540]: leaf1: Ethernet0: PFC is enabled for priority 3, but no "
            "DSCP leads to it: priority group 3",
        ],
    ),
    ("FAB2540", "sonic, no priority anywhere"): (
        a("sonic", ('"pfc_enable": "3"', '"pfc_enable": ""')),
        [
            "leaf1.sonic:32: warning[FAB2540]: leaf1: BUFFER_PG|Ethernet0|3 is for a lossless class, "
            "but PFC is enabled on no port",
        ],
    ),
    ("FAB2540", "nxos, no network-qos"): (
        a("nxos", ("  service-policy type network-qos NET\n", "")),
        [
            "leaf1.nxos:21: error[FAB2540]: leaf1: Ethernet1/1: PFC is on, but `system qos` has no "
            "`service-policy type network-qos`",
        ],
    ),
    ("FAB2540", "nxos, no pause"): (
        a("nxos", ("    pause buffer-size 300000 pause-threshold 100000 resume-threshold 90000 pfc-cos 3\n", "")),
        [
            "leaf1.nxos:21: error[FAB2540]: leaf1: Ethernet1/1: PFC is on, but no class of NET has `pause`",
        ],
    ),
    ("FAB2540", "nxos, another priority"): (
        a("nxos", ("pfc-cos 3", "pfc-cos 4")),
        [
            "leaf1.nxos:9: warning[FAB2540]: leaf1: Ethernet1/1: DSCP 26 → qos-group 3 → queue 3 is paused by priority 4",
        ],
    ),
    ("FAB2540", "nxos, no classification"): (
        a("nxos", ("  service-policy type qos input CLASSIFY\n", "")),
        [
            "leaf1.nxos:9: error[FAB2540]: leaf1: Ethernet1/1: PFC is enabled for priority 3, but no "
            "DSCP leads to it: qos-group 3 → queue 3",
        ],
    ),
    ("FAB2540", "nxos, classification by CoS"): (
        a("nxos", ("match dscp 26", "match cos 3")),
        [],
    ),
    ("FAB2540", "eos, PFC not on"): (
        a("eos", ("   priority-flow-control on\n", "")),
        [
            "leaf1.eos:8: error[FAB2540]: leaf1: Ethernet1: priority 3 is no-drop, but PFC is not on",
        ],
    ),
    ("FAB2540", "eos, no priority"): (
        a("eos", ("   priority-flow-control priority 3 no-drop\n", "")),
        [
            "leaf1.eos:8: error[FAB2540]: leaf1: Ethernet1: PFC is on, but for no priority "
            "(`priority-flow-control priority`)",
        ],
    ),
    ("FAB2540", "eos, profile on no port"): (
        a("eos", ("   service-profile ROCE\n", "")),
        [
            "leaf1.eos:7: warning[FAB2540]: leaf1: QoS profile ROCE is for a lossless class, but PFC is enabled on no port",
        ],
    ),
    ("FAB2540", "eos, default DSCP map"): (
        a("eos", ("qos map dscp 26 to traffic-class 3\n", "")),
        [],
    ),
    ("FAB2540", "junos, class not lossless"): (
        a("junos", (" no-loss pfc-priority 3", "")),
        [
            "leaf1.junos:14: error[FAB2540]: leaf1: et-0/0/0: PFC is enabled for DSCP 26, but class NO-LOSS has no `no-loss`",
        ],
    ),
    ("FAB2540", "junos, class without priority"): (
        a("junos", (" no-loss pfc-priority 3", " no-loss")),
        [
            "leaf1.junos:14: error[FAB2540]: leaf1: et-0/0/0: PFC is enabled for DSCP 26, but class "
            "NO-LOSS has no `pfc-priority`",
        ],
    ),
    ("FAB2540", "junos, no classifier"): (
        a("junos", ("        unit 0 { classifiers { dscp ROCE; } }\n", "")),
        [
            "leaf1.junos:14: error[FAB2540]: leaf1: et-0/0/0: PFC is enabled for DSCP 26, but no "
            "classifier of the port has it",
        ],
    ),
    ("FAB2540", "junos, profile on no port"): (
        a("junos", ("        congestion-notification-profile PFC;\n", "")),
        [
            "leaf1.junos:13: warning[FAB2540]: leaf1: congestion notification profile PFC is for a "
            "lossless class, but PFC is enabled on no port",
        ],
    ),
    ("FAB2540", "cumulus, one direction"): (
        a("cumulus", ("tx: enable", "tx: disable")),
        [
            "leaf1.cumulus:15: error[FAB2540]: leaf1: swp1: PFC is configured for switch priority 3, but its `tx` is off",
        ],
    ),
    ("FAB2540", "cumulus, DSCP not trusted"): (
        a("cumulus", ("      roce: {enable: on, mode: lossless}\n", "")),
        [
            "leaf1.cumulus:10: error[FAB2540]: leaf1: swp1: PFC is enabled for priority 3, but no "
            "DSCP leads to it: switch priority 3 → queue 3",
        ],
    ),
    ("FAB2541", "a sound switch of each network OS"): (SOUND_TOGETHER, []),
    ("FAB2541", "sonic, class in another queue"): (
        a("sonic", ('"TC_TO_QUEUE_MAP": {"M": {"0": "0", "3": "3"}', '"TC_TO_QUEUE_MAP": {"M": {"0": "0", "3": "1"}')),
        [
            "leaf1.sonic:5: error[FAB2541]: leaf1: Ethernet0: DSCP 26 → traffic class 3 → priority "
            "group 3 → queue 1, but PAUSE for priority 3 stops queue 3",
        ],
    ),
    ("FAB2541", "sonic, PFC of another queue"): (
        a(
            "sonic",
            (
                '"MAP_PFC_PRIORITY_TO_QUEUE": {"M": {"0": "0", "3": "3"',
                '"MAP_PFC_PRIORITY_TO_QUEUE": {"M": {"0": "0", "3": "4"',
            ),
        ),
        [
            "leaf1.sonic:7: error[FAB2541]: leaf1: Ethernet0: DSCP 26 → traffic class 3 → priority "
            "group 3 → queue 3, but PAUSE for priority 3 stops queue 4",
        ],
    ),
    ("FAB2541", "sonic, best effort beside"): (
        a("sonic", ('"TC_TO_QUEUE_MAP": {"M": {"0": "0"', '"TC_TO_QUEUE_MAP": {"M": {"0": "3"')),
        [
            "leaf1.sonic:5: warning[FAB2541]: leaf1: Ethernet0: DSCP 26 → traffic class 3 → priority "
            "group 3 → queue 3: not alone in its queue, with traffic class 0",
        ],
    ),
    ("FAB2541", "eos, another queue"): (
        a("eos", ("to tx-queue 3", "to tx-queue 4")),
        [
            "leaf1.eos:4: error[FAB2541]: leaf1: Ethernet1: DSCP 24-31 → traffic class 3 → queue 4, "
            "but PAUSE for priority 3 stops queue 3",
        ],
    ),
    ("FAB2541", "junos, another queue"): (
        a("junos", ("flow-control-queue 4", "flow-control-queue 3")),
        [
            "leaf1.junos:18: error[FAB2541]: leaf1: et-0/0/0: DSCP 26 → class NO-LOSS → queue 4, but "
            "PAUSE for priority 3 stops queue 3",
        ],
    ),
    ("FAB2541", "junos, another priority"): (
        a("junos", ("code-point 011 {", "code-point 100 {")),
        [
            "leaf1.junos:14: error[FAB2541]: leaf1: et-0/0/0: DSCP 26 → class NO-LOSS → queue 4, but "
            "PAUSE for priority 3 stops no queue",
        ],
    ),
    ("FAB2541", "junos, another class beside"): (
        a("junos", ("CNP queue-num 3", "CNP queue-num 4")),
        [
            "leaf1.junos:11: warning[FAB2541]: leaf1: et-0/0/0: DSCP 26 → class NO-LOSS → queue 4: "
            "not alone in its queue, with class CNP",
        ],
    ),
    ("FAB2542", "a sound switch of each network OS"): (SOUND_TOGETHER, []),
    ("FAB2542", "sonic, lossy profile"): (
        a("sonic", ('"Ethernet0|3": {"profile": "headroom"}', '"Ethernet0|3": {"profile": "in_lossy"}')),
        [
            "leaf1.sonic:32: error[FAB2542]: leaf1: Ethernet0: PFC is enabled for priority 3, but "
            "its buffer has no headroom: DSCP 26 → traffic class 3 → priority group 3 → queue 3",
        ],
    ),
    ("FAB2542", "sonic, no row"): (
        a("sonic", (',\n    "Ethernet0|3": {"profile": "headroom"}', "")),
        [
            "leaf1.sonic:12: error[FAB2542]: leaf1: Ethernet0: PFC is enabled for priority 3, but "
            "its buffer has no headroom: DSCP 26 → traffic class 3 → priority group 3 → queue 3",
        ],
    ),
    ("FAB2542", "sonic, computed by the switch"): (
        a("sonic", ('"Ethernet0|3": {"profile": "headroom"}', '"Ethernet0|3": {"profile": "NULL"}')),
        [],
    ),
    ("FAB2542", "nxos, pause at the end"): (
        a("nxos", ("pause-threshold 100000", "pause-threshold 300000")),
        [
            "leaf1.nxos:9: error[FAB2542]: leaf1: Ethernet1/1: PFC is enabled for priority 3, but "
            "its buffer has no headroom: DSCP 26 → qos-group 3 → queue 3",
        ],
    ),
    ("FAB2542", "junos, no partition"): (
        a("junos", ("percent 24", "percent 0")),
        [
            "leaf1.junos:7: error[FAB2542]: leaf1: et-0/0/0: PFC is enabled for priority 3, but its "
            "buffer has no headroom: DSCP 26 → class NO-LOSS → queue 4",
        ],
    ),
    ("FAB2542", "cumulus, xoff at the end"): (
        a("cumulus", ("xoff-threshold: 100000", "xoff-threshold: 300000")),
        [
            "leaf1.cumulus:13: error[FAB2542]: leaf1: swp1: PFC is enabled for priority 3, but its "
            "buffer has no headroom: DSCP 24-31 → switch priority 3 → queue 3",
        ],
    ),
    ("FAB2543", "a sound switch of each network OS"): (SOUND_TOGETHER, []),
    ("FAB2543", "sonic, queue in an ingress pool"): (
        a("sonic", ('"Ethernet0|3": {"profile": "out_lossless"}', '"Ethernet0|3": {"profile": "headroom"}')),
        [
            "leaf1.sonic:36: error[FAB2543]: leaf1: Ethernet0: queue 3 takes egress buffer, but its "
            "profile headroom is of the ingress pool in",
        ],
    ),
    ("FAB2543", "sonic, group in an egress pool"): (
        a("sonic", ('"Ethernet0|0": {"profile": "in_lossy"}', '"Ethernet0|0": {"profile": "out_lossy"}')),
        [
            "leaf1.sonic:31: error[FAB2543]: leaf1: Ethernet0: priority group 0 takes ingress "
            "buffer, but its profile out_lossy is of the egress pool out",
        ],
    ),
    ("FAB2543", "sonic, lossy queue"): (
        a("sonic", ('"Ethernet0|3": {"profile": "out_lossless"}', '"Ethernet0|3": {"profile": "out_lossy"}')),
        [
            "leaf1.sonic:36: warning[FAB2543]: leaf1: Ethernet0: queue 3 of a lossless class has the lossy profile out_lossy",
        ],
    ),
    ("FAB2543", "sonic, queue without a profile"): (
        a("sonic", (',\n    "Ethernet0|3": {"profile": "out_lossless"}', "")),
        [
            "leaf1.sonic:12: warning[FAB2543]: leaf1: Ethernet0: queue 3 of a lossless class has no "
            "buffer profile, but other queues have",
        ],
    ),
    ("FAB2543", "sonic, xon above size"): (
        a("sonic", ('"size": "80000"', '"size": "19000"')),
        [
            "leaf1.sonic:24: error[FAB2543]: leaf1: Ethernet0: priority 3: xon 19456 is above size 19000",
        ],
    ),
    ("FAB2543", "nxos, resume above pause"): (
        a("nxos", ("resume-threshold 90000", "resume-threshold 110000")),
        [
            "leaf1.nxos:9: error[FAB2543]: leaf1: Ethernet1/1: priority 3: resume-threshold 110000 "
            "is above pause-threshold 100000",
        ],
    ),
    ("FAB2543", "cumulus, xon above xoff"): (
        a("cumulus", ("xon-threshold: 90000", "xon-threshold: 110000")),
        [
            "leaf1.cumulus:14: error[FAB2543]: leaf1: swp1: priority 3: xon-threshold 110000 is above xoff-threshold 100000",
        ],
    ),
    ("FAB2544", "a sound switch of each network OS"): (SOUND_TOGETHER, []),
    ("FAB2544", "sonic, no profile"): (
        a("sonic", (', "wred_profile": "W"', "")),
        [
            "leaf1.sonic:20: warning[FAB2544]: leaf1: Ethernet0: DSCP 26 → traffic class 3 → "
            "priority group 3 → queue 3: the queue has no ECN",
        ],
    ),
    ("FAB2544", "sonic, on another queue"): (
        a("sonic", (', "wred_profile": "W"', ""), ('"scheduler": "B"', '"scheduler": "B", "wred_profile": "W"')),
        [
            "leaf1.sonic:20: warning[FAB2544]: leaf1: Ethernet0: DSCP 26 → traffic class 3 → "
            "priority group 3 → queue 3: the queue has no ECN; ECN is on queue 0",
        ],
    ),
    ("FAB2544", "sonic, drops"): (
        a("sonic", ('"ecn": "ecn_all"', '"ecn": "ecn_none"')),
        [
            "leaf1.sonic:16: error[FAB2544]: leaf1: Ethernet0: DSCP 26 → traffic class 3 → priority "
            "group 3 → queue 3: the queue drops packets early, without ECN",
        ],
    ),
    ("FAB2544", "nxos, drops"): (
        a("nxos", ("weight 0 ecn", "weight 0")),
        [
            "leaf1.nxos:14: error[FAB2544]: leaf1: Ethernet1/1: DSCP 26 → qos-group 3 → queue 3: the "
            "queue drops packets early, without ECN",
        ],
    ),
    ("FAB2544", "nxos, no queuing policy"): (
        a("nxos", ("  service-policy type queuing output OUT\n", "")),
        [
            "leaf1.nxos:9: warning[FAB2544]: leaf1: Ethernet1/1: DSCP 26 → qos-group 3 → queue 3: the queue has no ECN",
        ],
    ),
    ("FAB2544", "eos, drops"): (
        a("eos", ("random-detect ecn minimum", "random-detect drop minimum")),
        [
            "leaf1.eos:17: error[FAB2544]: leaf1: Ethernet1: DSCP 24-31 → traffic class 3 → queue 3: "
            "the queue drops packets early, without ECN",
        ],
    ),
    ("FAB2544", "junos, drops"): (
        a("junos", ("            explicit-congestion-notification;\n", "")),
        [
            "leaf1.junos:31: error[FAB2544]: leaf1: et-0/0/0: DSCP 26 → class NO-LOSS → queue 4: the "
            "queue drops packets early, without ECN",
        ],
    ),
    ("FAB2544", "cumulus, no profile"): (
        a(
            "cumulus",
            (
                "      pfc-watchdog",
                "      congestion-control: {default-global: {traffic-class: {'3': {ecn: disable}}}}\n      pfc-watchdog",
            ),
        ),
        [
            "leaf1.cumulus:8: warning[FAB2544]: leaf1: swp1: DSCP 24-31 → switch priority 3 → queue "
            "3: the queue has no ECN; ECN is on queue 0",
        ],
    ),
    ("FAB2545", "a sound switch of each network OS"): (SOUND_TOGETHER, []),
    ("FAB2545", "sonic, poll above detection"): (
        a("sonic", ('"POLL_INTERVAL": "100"', '"POLL_INTERVAL": "400"')),
        [
            "leaf1.sonic:39: error[FAB2545]: leaf1: the PFC watchdog polls every 400 ms, but a "
            "detection or restoration time is 200 ms (line 40)",
        ],
    ),
    ("FAB2545", "sonic, restoration below poll"): (
        a("sonic", ('"restoration_time": "200"', '"restoration_time": "50"')),
        [
            "leaf1.sonic:39: error[FAB2545]: leaf1: the PFC watchdog polls every 100 ms, but a "
            "detection or restoration time is 50 ms (line 40)",
        ],
    ),
    ("FAB2545", "eos, poll above timeout"): (
        a("eos", ("polling-interval 0.1", "polling-interval 0.5")),
        [
            "leaf1.eos:6: error[FAB2545]: leaf1: the PFC watchdog polls every 500 ms, but a "
            "detection or restoration time is 200 ms (line 5)",
        ],
    ),
    ("FAB2546", "a sound switch of each network OS"): (SOUND_TOGETHER, []),
    ("FAB2546", "sonic, no scheduler"): (
        a("sonic", ('"scheduler": "S", ', "")),
        [
            "leaf1.sonic:20: warning[FAB2546]: leaf1: Ethernet0: DSCP 26 → traffic class 3 → "
            "priority group 3 → queue 3: the queue has weight 1 of 41",
        ],
    ),
    ("FAB2546", "nxos, nothing left"): (
        a("nxos", ("percent 60", "percent 0")),
        [
            "leaf1.nxos:13: warning[FAB2546]: leaf1: Ethernet1/1: DSCP 26 → qos-group 3 → queue 3: "
            "the queue has weight 0 of 40",
        ],
    ),
    ("FAB2546", "eos, 1 percent"): (
        a("eos", ("percent 60", "percent 1")),
        [
            "leaf1.eos:16: warning[FAB2546]: leaf1: Ethernet1: DSCP 24-31 → traffic class 3 → queue "
            "3: the queue has weight 1 of 41",
        ],
    ),
}


def test_one_fault_is_one_finding_of_the_chain() -> None:
    """What follows from a wrong queue is not reported beside it."""
    found = all_say(
        a("sonic", ('"TC_TO_QUEUE_MAP": {"M": {"0": "0", "3": "3"}', '"TC_TO_QUEUE_MAP": {"M": {"0": "0", "3": "1"}'))
    )
    assert [finding.id for finding in found if finding.id.startswith("FAB254")] == ["FAB2541"]


def test_the_ends_of_a_link_put_a_dscp_into_one_priority() -> None:
    """Both pause the same two priorities, and each has another one for DSCP 26."""
    ports = "interface Ethernet1\n   speed 400g\n", "   speed 400g\n   ip address 10.0.0.{}/31\n"
    both = EOS.replace("priority 3 no-drop", "priority 3 no-drop\n   priority-flow-control priority 4 no-drop")
    both = both.replace("dscp 0 to", "dscp 34 to traffic-class 4\nqos map dscp 0 to")
    swapped = both.replace("dscp 26 to traffic-class 3", "dscp 26 to traffic-class 4").replace(
        "dscp 34 to traffic-class 4", "dscp 34 to traffic-class 3"
    )
    files = {
        "leaf1.eos": both.replace(ports[0], "interface Ethernet1\n" + ports[1].format(0)),
        "leaf2.eos": swapped.replace("leaf1", "leaf2").replace(ports[0], "interface Ethernet1\n" + ports[1].format(1)),
    }
    found = [str(finding).split("\n")[0] for finding in all_say(files) if finding.id == "FAB2540"]
    assert found == [
        "leaf1.eos:10: error[FAB2540]: leaf1: Ethernet1: DSCP 26 is in priority 3, but in priority 4 on leaf2 Ethernet1"
    ]
