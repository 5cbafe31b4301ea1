"""Random designs: every one that can be planned is generated, and its own checks must find nothing wrong in it.

`drawing.py` draws a design from a seed, `enlarging.py` makes half of them larger, `everyday.py` draws small ones of every
kind, which `growing.py` enlarges with their locks. `keys.py` knows the keys of the intent's JSON Schema; `trial.py` plans,
generates and checks one design and says what counts as a contradiction. `python -m tests.system.random_designs` is the long
run.
"""
