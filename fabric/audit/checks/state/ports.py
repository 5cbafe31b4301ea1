"""Ports and cables as switches report them."""

from __future__ import annotations

from fabric.audit.checks import ERROR, WARNING
from fabric.audit.checks.state.family import StateCheck
from fabric.audit.verify.port_faults import ADDRESS, CABLE, FEC, MTU, PORT, SERVER_PORT, SPEED


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
    kinds = (PORT,)


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
    kinds = (SERVER_PORT,)


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
    kinds = (SPEED,)


class PortMtus(StateCheck):
    """Tests whether every planned port has its planned MTU.

    A smaller MTU at one hop drops large packets, while ping and BGP work: connections open and then hang.
    """

    id = "FAB355"
    title = "Ports have the planned MTU"
    severity = ERROR
    example = "an uplink with MTU 1500, 9214 on all others"
    remediation = "set the planned MTU at both ends of the link"
    kinds = (MTU,)


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
    kinds = (FEC,)


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
    kinds = (CABLE,)


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
    kinds = (ADDRESS,)
