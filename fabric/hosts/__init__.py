"""The other end of the cable: what every server needs so that it agrees with its leaves.

    Plan ──facts──▶ links of servers ──view──▶ Host ──netplan, scripts──▶ hosts/…

`agree` reads the files back and compares them with what the switches say.
"""

from fabric.hosts.files import host_files

__all__ = ["host_files"]
