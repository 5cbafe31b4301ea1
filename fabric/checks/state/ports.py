"""Ports and cables as switches report them."""

from __future__ import annotations

from fabric.checks import ERROR, WARNING
from fabric.checks.state.family import StateCheck
from fabric.verify.port_faults import ADDRESS, CABLE, FEC, MTU, PORT, SERVER_PORT, SPEED


class FabricPortsUp(StateCheck):
    """Tests whether every planned port between switches is up.

    A port that is down takes its share of the bandwidth of a leaf away, and every flow that hashed to it moves to other
    links. The finding is at the end that is shut or missing, else at the lower switch; sessions and routes over the port
    are not reported again.
    """

    id = "FAB352"
    title = "Ports between switches are up"
    severity = ERROR
    example = "`Ethernet49/1` of a leaf is `notconnect`"
    remediation = "check cable, transceivers and the port of the far end"
    kinds = (PORT,)


class ServerPortsUp(StateCheck):
    """Tests whether every planned port to a server is up.

    A server that is not there yet is usual while a site is built, so this is a warning; a NIC whose port is down makes a
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

    A port at half its speed takes as many flows as the others, so it is congested long before they are, and slows every
    collective that crosses it.
    """

    id = "FAB354"
    title = "Ports run at the planned speed"
    severity = ERROR
    example = "a port of a planned 400G link reports 200G"
    remediation = "check breakout, transceiver and auto-negotiation at both ends"
    kinds = (SPEED,)


class PortMtus(StateCheck):
    """Tests whether every planned port has its planned MTU.

    A smaller MTU at one hop drops large packets while pings and BGP pass: connections open and then hang.
    """

    id = "FAB355"
    title = "Ports have the planned MTU"
    severity = ERROR
    example = "an uplink with MTU 1500 beside 9214 on all others"
    remediation = "set the planned MTU at both ends of the link"
    kinds = (MTU,)


class PortFec(StateCheck):
    """Tests whether ports whose lanes run faster than 25 Gb/s use RS-FEC.

    IEEE 802.3 requires RS-FEC for PAM4 lanes. A port that reports another mode counts errors that FEC would have corrected,
    or does not come up with another maker's port.
    """

    id = "FAB356"
    title = "Ports use the FEC of their speed"
    severity = WARNING
    example = "`fec none` on a 400G port"
    remediation = "set RS-FEC at both ends"
    kinds = (FEC,)


class CablesAsPlanned(StateCheck):
    """Tests whether LLDP neighbors are the planned ones, as `fabric cabling verify` does.

    A cable in another port joins networks that the plan keeps apart, or gives two links to one spine and none to another.
    The hint is the smallest number of moves that restores the plan. What a port that is down explains is left out.
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
