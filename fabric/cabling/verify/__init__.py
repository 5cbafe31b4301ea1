"""Whether the cables are as planned, told by what switches and servers hear of each other by LLDP; verify.py is the page."""
