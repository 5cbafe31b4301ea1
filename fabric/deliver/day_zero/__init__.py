"""Day zero: what a switch needs from power-on to its planned configuration.

`inventory` says which machine is which switch, `dhcp` writes the configurations of two DHCP servers, `export` the folder.
"""
