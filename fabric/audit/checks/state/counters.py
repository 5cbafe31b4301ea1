"""Counters that must be zero, and optics."""

from __future__ import annotations

from fabric.audit.checks import ERROR, NOTE, WARNING
from fabric.audit.checks.state.family import StateCheck
from fabric.audit.verify.port_faults import BITS, DISCARDS, LIGHT, LOSSLESS, MODULE, PACKETS, PAUSE, STORM


class LosslessDrops(StateCheck):
    """Tests whether the lossless queue of a planned port has dropped packets.

    With PFC, RoCE packets are never dropped. A drop means too little headroom, a peer that ignores PFC, or a PFC watchdog
    that emptied the queue; for each drop the sender repeats the whole window. Counters are totals since they were cleared.
    """

    id = "FAB371"
    title = "The lossless queue has no drops"
    severity = ERROR
    example = "`UC3` of `Ethernet128` has 20,114 dropped packets"
    remediation = "check PFC at both ends, headroom and watchdog; clear the counters, or use `--before`"
    kinds = (LOSSLESS,)


class PfcStorms(StateCheck):
    """Tests whether the PFC watchdog has detected a storm.

    A device that sends PAUSE continuously stops its switch, and then the switches behind it. The watchdog drops the queue
    instead; the device that sends PAUSE must be found.
    """

    id = "FAB372"
    title = "The PFC watchdog has detected no storm"
    severity = ERROR
    example = "`STORM DETECTED/RESTORED 3/3` on a server port"
    remediation = "check the server behind the port: NIC firmware, a hung host, a slow receiver"
    kinds = (STORM,)


class BitErrors(StateCheck):
    """Tests whether planned ports count frames with a wrong checksum, or codewords that FEC could not correct.

    Each is a lost packet. Causes: a dirty or bent fibre, a loose module, a failing lane.
    """

    id = "FAB373"
    title = "Ports have no bit errors"
    severity = ERROR
    example = "`fcsErrors` of an uplink is 812"
    remediation = "clean or replace the cable or the transceiver"
    kinds = (BITS,)


class PacketErrors(StateCheck):
    """Tests whether planned ports count errors of other kinds.

    Receive errors include runts, giants and symbol errors; giants indicate different MTUs at the two ends.
    """

    id = "FAB374"
    title = "Ports have no packet errors"
    severity = WARNING
    example = "`inErrors` of a port is 14"
    remediation = "compare the individual error counters of the port"
    kinds = (PACKETS,)


class Discards(StateCheck):
    """Tests whether planned ports count discards outside the lossless queue.

    Lossy classes may drop packets under congestion; a steady increase without congestion indicates a wrong MTU, filter or
    VLAN.
    """

    id = "FAB375"
    title = "Ports have no discards"
    severity = NOTE
    example = "`outDiscards` of a port is 5,210"
    remediation = "compare two collections with `--before`"
    kinds = (DISCARDS,)


class PfcPriorities(StateCheck):
    """Tests whether PFC frames have the planned priority only.

    PFC on another priority, or in a fabric without a lossless class, stops traffic that must not stop; usually a server maps
    its RoCE traffic to another priority than the switches.
    """

    id = "FAB376"
    title = "PFC frames have the lossless priority"
    severity = WARNING
    example = "frames of priority 4 are received on a server port, and the lossless priority is 3"
    remediation = "compare the PFC settings of the device behind the port with `fabric check`"
    kinds = (PAUSE,)


class ReceivePower(StateCheck):
    """Tests whether the receive power of every lane is within the alarm thresholds of the module.

    Power below the sensitivity of the receiver causes bit errors before the link goes down. Modules without thresholds are
    not checked.
    """

    id = "FAB377"
    title = "Receive power is within the range of the module"
    severity = ERROR
    example = "lane 3 of a port receives -14.2 dBm, and the low alarm is at -13.5 dBm"
    remediation = "clean both connectors, then replace the fibre, then the far module"
    kinds = (LIGHT,)


class ModuleAlarms(StateCheck):
    """Tests whether modules are within their temperature limit and raise no alarm.

    A module above its limit ages faster and causes bit errors; bias and voltage alarms precede a failure.
    """

    id = "FAB378"
    title = "Modules raise no alarm"
    severity = WARNING
    example = "a module at 78.1 °C with a limit of 75 °C"
    remediation = "check fans and airflow; replace the module"
    kinds = (MODULE,)
