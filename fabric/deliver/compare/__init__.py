"""Designs side by side for one training job: switches, power, time, goodput and cost."""
