"""What boxes hear by LLDP: the records, and how their outputs are taken apart; each network OS has a reader of its own."""
