"""Cables of a site: what each is made of and how long it is, as run lists, labels, and an order to lay them in."""
