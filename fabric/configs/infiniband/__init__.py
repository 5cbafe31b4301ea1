"""Files for the subnet managers of a site, and what its tools report, read back."""
