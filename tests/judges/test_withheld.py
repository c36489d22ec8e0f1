"""Replies that may stand in no log are found by their digests, on this machine."""

import hashlib

import pytest

from lmms_medtasks.judges import withheld


@pytest.mark.parametrize("reply", ["", "an effusion", "Ödem\x00\ud83d"])
def test_kept_and_found(reply):
    name = withheld.keep_withheld_reply(reply, "test/1")
    assert name == withheld.keep_withheld_reply(reply, "test/1")
    assert withheld.find_withheld_reply(name) == reply
    # Nobody can find out by trying which short reply a digest is of.
    assert name != hashlib.sha256(reply.encode("utf-8", "surrogatepass")).hexdigest()
    withheld.withheld_replies_path().unlink()
    assert withheld.keep_withheld_reply(reply, "test/1") != name


def test_equal_replies_to_two_questions_do_not_show():
    # Else a log of yes-or-no questions, which has the scores, would tell the answers to all of them up to a swap.
    assert withheld.keep_withheld_reply("yes", "test/1") != withheld.keep_withheld_reply("yes", "test/2")


def test_not_here(home):
    assert withheld.find_withheld_reply("0" * 64) is None
    assert not home.exists()  # looking makes nothing
