"""A data folder of its own for every test."""

import pytest


@pytest.fixture(autouse=True)
def own_home(home):
    return home
