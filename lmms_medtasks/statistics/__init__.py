"""Metrics: pure functions over records, usable without the harness.

A record is a flat dictionary with at least ``id``, ``image_id`` and ``score`` (absent when nothing could be scored).
"""
