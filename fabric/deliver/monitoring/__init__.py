"""Monitoring from the plan: what Prometheus scrapes, records and alerts on, with thresholds that the plan gives.

exporters.py   collectors as data: what each of them calls the things that are watched
facts.py       the plan as series: who is at the other end of every port
limits.py      thresholds of the plan: planned speeds, ECN and headroom, ECMP width, sessions
recording.py   what collectors report, joined with the plan, under names that do not depend on the collector
alerts.py      alerts on these names, and what an alert explains so that others are held back
scrape.py      targets with their labels, and a Prometheus configuration that reads them
trials.py      promtool's unit tests of all that: a healthy fabric is silent, each fault fires its own alert
"""
