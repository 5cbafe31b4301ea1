"""`fabric nautobot push`: see `netbox.py`, which makes both."""

from fabric.cli.netbox import nautobot as nautobot
