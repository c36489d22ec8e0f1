"""Which aggregations of others are called again, and that one that is prints nothing."""

import functools
import json
import threading

import numpy as np
import pytest

from lmms_medtasks.harness.quiet_aggregations import is_quiet, silenced, value_of
from tests import foreign_tasks


class Client:
    def post_all(self, values):
        return json.dump(values, None)

    @staticmethod
    def tidy(values):
        return values


CLIENT = Client()


def count(values):
    return len(values)


def by_a_method(values):
    return CLIENT.post_all(values)


def by_a_class(values):
    return Client().post_all(values)


def by_a_module(values):
    return foreign_tasks.write(values)


def by_an_import(values):
    from tests.foreign_tasks import write

    return write(values)


def by_a_thread(values):
    threading.Thread(target=print).start()
    return 1.0


def through(function):
    @functools.wraps(function)
    def wrapper(values):
        return function(values)

    return wrapper


def with_numpy(values):
    return float(np.mean(values))


@through
def wrapped_write(values):
    with open("x") as file:
        return file.write(values)


@pytest.mark.parametrize(
    "aggregation", [by_a_method, by_a_class, by_a_module, by_an_import, wrapped_write, by_a_thread]
)
def test_one_that_writes_by_someone_else_is_seen(aggregation):
    assert not is_quiet(aggregation)


@pytest.mark.parametrize("aggregation", [count, through(count), with_numpy, functools.partial(count)])
def test_one_that_counts_is_quiet(aggregation):
    assert is_quiet(aggregation)


def test_what_is_printed_is_dropped(capsys):
    def telling(values):
        print("said")
        return 2 / len(values)

    with silenced(telling):
        assert value_of(telling, [1]) == 2.0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("made", [None, "0.5", {"a": 1}, float("nan"), [1]])
def test_only_a_finite_number_is_one(made):
    assert value_of(lambda values: made, [1]) is None
