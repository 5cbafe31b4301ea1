"""Switches of a site over SSH and NETCONF: Nornir runs them side by side, Paramiko, Netmiko and ncclient speak to them."""
