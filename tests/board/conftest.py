"""Made-up runs for all tests of the leaderboard."""

import pytest


@pytest.fixture(scope="session")
def runs():
    """The module ``tests/made_up_runs.py``."""
    from tests import made_up_runs

    return made_up_runs
