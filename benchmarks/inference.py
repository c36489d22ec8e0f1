#!/usr/bin/env python3
"""Claimed against measured: what intervals, tests, ranks and the gate keep on data whose truth is known.

Each part makes up data sets from a seed, runs the package's own code on them, and counts: how often an interval covers
the truth, how often equal models are called different. The parts are the modules of ``simulations``.

Usage: python benchmarks/inference.py [--only intervals gate …] [--repeats 400] [--seed 0] [--record]
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys

import keeping
import simulations
from simulations.claims import as_markdown


def main() -> None:
    parts = sorted(each.name for each in pkgutil.iter_modules(simulations.__path__) if each.name != "claims")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=parts, default=parts, help="parts to run")
    parser.add_argument("--repeats", type=int, default=400, help="data sets for each row of the table")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    claims = []
    for part in arguments.only:
        for claim in importlib.import_module(f"simulations.{part}").simulate(arguments.repeats, arguments.seed):
            print(claim, file=sys.stderr, flush=True)
            claims.append(claim)
    print(as_markdown(claims))


if __name__ == "__main__":
    keeping.run(main)
