"""The plan for a source of truth: NetBox or Nautobot, filled once and kept in step afterwards.

records.py    devices, ports, cables, addresses, tenants: the records that both systems need
gather.py     these records from a plan
engine.py     compares records with what a server has; creates and changes in batches, deletes only with --prune
netbox.py     the records as NetBox objects
nautobot.py   the records as Nautobot objects
"""
