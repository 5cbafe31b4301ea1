"""LLDP neighbors that switches report: the records, and the parsers of the output; each network OS has its own reader."""
