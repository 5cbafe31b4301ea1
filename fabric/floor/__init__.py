"""Where every device of a site stands: racks in rows, and the way a cable takes between two of them."""
