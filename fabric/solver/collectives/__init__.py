"""The time of collectives: what NCCL would choose, what that costs on a plan's network, and how good the answer is.

physics.py  the parameters and where they come from      job.py     what a collective runs on
costs.py    time of every algorithm and protocol         algorithms.py  which of them runs
score.py, calibrate.py  against measured tables          validation.py  how good the answer is
"""
