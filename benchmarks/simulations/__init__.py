"""Simulations with planted truth: what an interval, a test or a ranking claims, and what it keeps.

Each module is about one kind of inference and has ``simulate(repeats, seed)``, a generator of claims.
"""
