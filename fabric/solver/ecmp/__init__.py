"""Flows on equal paths: five-tuples, the hashes of switch chips, load of every link, and max-min fair shares."""
