"""Jinja templates: the shipped ones, and a site's own, which are untrusted text and run in a sandbox.

A pull request can carry a site's template, so it may read nothing but the shipped templates and the values of one file,
change nothing that another file sees, and cost a bounded number of steps and characters. docs/security.md has the rules.
"""
