"""Compares the cabling with the plan, from the LLDP neighbors of switches and servers; compare.py has the overview."""
