"""Where every device of a site stands: racks in rows, and the route of a cable between two of them."""
