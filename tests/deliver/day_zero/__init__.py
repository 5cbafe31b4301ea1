"""Day zero: the exported files, and what real DHCP and HTTP servers and the scripts make of them."""
