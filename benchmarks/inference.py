#!/usr/bin/env python3
"""Claimed against measured: what intervals, tests, ranks and the gate keep on data whose truth is known.

Each part makes up data sets from a seed, runs the package's own code on them, and counts: how often an interval covers
the truth, how often equal models are called different. The parts are the modules of ``simulations``; what each of them
measured last is kept in ``results/inference/PART.csv``. The documents' tables are made from these files (--tables).

Usage: python benchmarks/inference.py [--only intervals gate …] [--repeats 400] [--seed 0] [--record] [--tables]
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import pkgutil
from importlib.metadata import version
from pathlib import Path

import doc_tables
import simulations
from simulations.claims import write


def main() -> None:
    parts = sorted(module.name for module in pkgutil.iter_modules(simulations.__path__) if module.name != "claims")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=parts, default=parts, help="parts to run")
    parser.add_argument("--repeats", type=int, default=400, help="data sets for each setting")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--record", action="store_true", help="write results/inference/PART.csv")
    parser.add_argument("--tables", action="store_true", help="run nothing, write the documents' tables again")
    arguments = parser.parse_args()
    if arguments.tables:
        doc_tables.write()
        return
    for part in arguments.only:
        claims = []
        for claim in importlib.import_module(f"simulations.{part}").simulate(arguments.repeats, arguments.seed):
            figures = ", ".join(f"{name} {value:.4g} ± {error:.2g}" for name, value, error in claim.figures)
            print(f"{claim.about} | {claim.setting} | {claim.claimed} | {figures} | {claim.repeats}", flush=True)
            claims.append(claim)
        if arguments.record:
            command = f"inference.py --only {part} --repeats {arguments.repeats} --seed {arguments.seed}"
            packages = ", ".join(f"{name} {version(name)}" for name in ("lmms-medtasks", "numpy", "scipy"))
            made_by = f"{command}; {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d}; {packages}"
            write(Path(__file__).parent / "results" / "inference" / f"{part}.csv", made_by, claims)


if __name__ == "__main__":
    main()
