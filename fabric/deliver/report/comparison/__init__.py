"""Several designs on one page: what differs, their topologies at one scale, their curves in one chart.

designs.py    the designs, and which of their fabrics are compared
figures.py    one row per figure, one column per design; keys of the intents that differ
scale.py      the tiers of every design, drawn alike
charts.py     curves and failures
page.py       the page, by beside.html.j2
"""
