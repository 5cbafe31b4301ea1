"""Ports, cables, counters and optics as switches report them."""

from __future__ import annotations

from fabric.audit.checks import ERROR, NOTE, WARNING
from fabric.audit.verify import port_faults
from fabric.audit.verify.all_faults import StateCheck


class FabricPortsUp(StateCheck):
    """Tests whether every planned port between switches is up.

    A port that is down removes a part of the bandwidth of its leaf, and its flows move to other links. The finding is at the
    end that is shut down or missing, else at the lower switch; sessions and routes over the port are not reported.
    """

    id = "FAB352"
    title = "Ports between switches are up"
    severity = ERROR
    example = "`Ethernet49/1` of a leaf is `notconnect`"
    remediation = "check cable, transceivers and the port of the far end"
    kinds = (port_faults.PORT,)


class ServerPortsUp(StateCheck):
    """Tests whether every planned port to a server is up.

    While a site is built, missing servers are normal, so this is a warning; in operation, a NIC whose port is down makes a
    training job wait or fail.
    """

    id = "FAB353"
    title = "Ports to servers are up"
    severity = WARNING
    example = "a server is off, or its cable is not plugged in"
    remediation = "check the server, its NIC and the cable"
    kinds = (port_faults.SERVER_PORT,)


class PortSpeeds(StateCheck):
    """Tests whether every planned port that is up runs at its planned speed.

    A port at half speed gets as many flows as the others, so it is congested first, and slows every collective that crosses
    it.
    """

    id = "FAB354"
    title = "Ports run at the planned speed"
    severity = ERROR
    example = "a port of a planned 400G link reports 200G"
    remediation = "check breakout, transceiver and auto-negotiation at both ends"
    kinds = (port_faults.SPEED,)


class PortMtus(StateCheck):
    """Tests whether every planned port has its planned MTU.

    A smaller MTU at one hop drops large packets, while ping and BGP work: connections open and then hang.
    """

    id = "FAB355"
    title = "Ports have the planned MTU"
    severity = ERROR
    example = "an uplink with MTU 1500, 9214 on all others"
    remediation = "set the planned MTU at both ends of the link"
    kinds = (port_faults.MTU,)


class PortFec(StateCheck):
    """Tests whether ports with lanes faster than 25 Gb/s use RS-FEC.

    IEEE 802.3 requires RS-FEC for PAM4 lanes. A port in another mode counts errors that FEC would have corrected, or does
    not come up with a port of another vendor.
    """

    id = "FAB356"
    title = "Ports use the FEC of their speed"
    severity = WARNING
    example = "`fec none` on a 400G port"
    remediation = "set RS-FEC at both ends"
    kinds = (port_faults.FEC,)


class CablesAsPlanned(StateCheck):
    """Tests whether LLDP neighbors are the planned ones, as `fabric cabling verify` does.

    A cable in the wrong port connects networks that the plan isolates, or gives one spine two links and another none. The
    hint is the smallest number of re-cabling moves. Links over ports that are down are not reported.
    """

    id = "FAB357"
    title = "LLDP neighbors are the planned ones"
    severity = ERROR
    example = "two uplinks of a leaf are swapped"
    remediation = "move the cable to the planned port"
    kinds = (port_faults.CABLE,)


class PortAddresses(StateCheck):
    """Tests whether routed ports have their planned address.

    With another address the session over the port stays down, although the port is up and the neighbor configured; the
    session is not reported.
    """

    id = "FAB382"
    title = "Ports have the planned address"
    severity = ERROR
    example = "an uplink with 10.64.0.18/31 where 10.64.0.8/31 is planned"
    remediation = "set the planned address"
    kinds = (port_faults.ADDRESS,)


# --- counters and optics --------------------------------------------------------------------------------------


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
    kinds = (port_faults.LOSSLESS,)


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
    kinds = (port_faults.STORM,)


class BitErrors(StateCheck):
    """Tests whether planned ports count frames with a wrong checksum, or codewords that FEC could not correct.

    Each is a lost packet. Causes: a dirty or bent fibre, a loose module, a failing lane.
    """

    id = "FAB373"
    title = "Ports have no bit errors"
    severity = ERROR
    example = "`fcsErrors` of an uplink is 812"
    remediation = "clean or replace the cable or the transceiver"
    kinds = (port_faults.BITS,)


class PacketErrors(StateCheck):
    """Tests whether planned ports count errors of other kinds.

    Receive errors include runts, giants and symbol errors; giants indicate different MTUs at the two ends.
    """

    id = "FAB374"
    title = "Ports have no packet errors"
    severity = WARNING
    example = "`inErrors` of a port is 14"
    remediation = "compare the individual error counters of the port"
    kinds = (port_faults.PACKETS,)


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
    kinds = (port_faults.DISCARDS,)


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
    kinds = (port_faults.PAUSE,)


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
    kinds = (port_faults.LIGHT,)


class ModuleAlarms(StateCheck):
    """Tests whether modules are within their temperature limit and raise no alarm.

    A module above its limit ages faster and causes bit errors; bias and voltage alarms precede a failure.
    """

    id = "FAB378"
    title = "Modules raise no alarm"
    severity = WARNING
    example = "a module at 78.1 °C with a limit of 75 °C"
    remediation = "check fans and airflow; replace the module"
    kinds = (port_faults.MODULE,)
