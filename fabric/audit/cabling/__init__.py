"""Compares the cabling with the plan, from the LLDP neighbors of switches and servers; verify.py has the overview."""
