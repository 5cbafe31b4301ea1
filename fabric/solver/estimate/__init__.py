"""What a collective takes on a plan: where the job stands, what the fabric leaves of its NICs, and the time of each size.

placement.py      which servers, in which order
nic_bandwidth.py  who sends to whom in a ring, a tree, an alltoall, and what of it the fabric carries
estimate.py       the times      lines.py  how they are printed
"""
