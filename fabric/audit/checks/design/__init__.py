"""Checks of the plan, before a single file is written: a file a subject, a class a property.

FAB201 to FAB207 routing, to FAB210 addressing, to FAB217 overlay, to FAB228 lossless, to FAB233 physical, to FAB237
resilience, to FAB240 management; FAB243 lossless.
"""
