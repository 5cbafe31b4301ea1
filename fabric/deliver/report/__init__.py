"""The report: a site as one HTML page that opens offline; most of it needs no script, the views of the topology do.

study.py        what a reader asked for, and what is computed of one fabric, once
page.py         the page from its parts, by page.html.j2; assets.py macros.html.j2 are what all pages share
answers.py      the four questions at its top; summary.py bandwidth.py hardware.py goodput.py numbers.py are its sections
terms.yaml      what every figure means
charts.py tiers.py    bars, curves and histograms; fabrics at one scale
loads.py        what links carry
data.py tables.py    the data of the page's script; data.py describes the format
app/            the script and its style sheet
comparison.py comparison_page.py compared.py    several designs, and those of `fabric compare`, on one page
"""
