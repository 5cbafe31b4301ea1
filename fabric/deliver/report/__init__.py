"""The report: a site as one HTML page that opens offline; most of it needs no script, the views of the topology do.

request.py      what a reader asked for
study.py        what is computed of one fabric, once
page.py         the page from its parts, by page.html.j2; assets.py theme.py macros.html.j2 are what all pages share
overview.py summary.py curve.py spread.py failures.py racks.py floor_plan.py bill.py lossless.py numbers.py    its sections
charts.py       bars and histograms
loads.py scenarios.py    what links carry
data.py tables.py columns.py sites.py    the data of the page's script; data.py describes the format
app/            the script and its style sheet
beside/         several designs on one page
compared.py years.py    the designs of `fabric compare` on one page
"""
