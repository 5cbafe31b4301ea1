"""The plan for a source of truth: NetBox or Nautobot, filled once and kept in step afterwards.

records.py    boxes, ports, cables, addresses, tenants: what any such system wants to know
gather.py     these records from a plan
engine.py     compares records with what a server has; creates and changes in batches, deletes only when told to
netbox.py     how NetBox calls them
nautobot.py   how Nautobot calls them
"""
