"""What a design takes to build and to run: parts to order, power, money.

parts.py    what is ordered, and spares on top of it
power.py    power of a device with its optics, and totals
prices.py   the price file that a user gives; stated.py the power that it states
cost.py     what parts cost to buy, and to run

wired.py    cables and optics of a wired plan, off its run list
gather.py   the bill of a plan; bill.py what it holds
text.py     it on a terminal; sheets.py as tables, for CSV and xlsx.py

planned.py  cables and optics of a sizing, without wiring
quick.py    counts, power and cost of a sizing, for sweeps over many designs
"""
