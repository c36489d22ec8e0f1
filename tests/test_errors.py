"""Messages that help."""

import pytest

from lmms_medtasks.errors import UserError, unknown


def test_names_the_nearest_match_and_what_is_allowed():
    message = str(unknown("degradation", "gausian_noise", ["gaussian_noise", "bubble"], "row 7"))
    assert message == (
        "Unknown degradation 'gausian_noise' in row 7. Did you mean 'gaussian_noise'? Allowed: bubble, gaussian_noise."
    )


def test_without_a_near_match():
    assert str(unknown("suite", "x", ["medq_deg"])) == "Unknown suite 'x'. Allowed: medq_deg."
    assert str(unknown("suite", "x", [])) == "Unknown suite 'x'. Allowed: (none)."


def test_is_a_value_error():
    with pytest.raises(ValueError, match="Unknown suite"):
        raise unknown("suite", "x", [])
    assert issubclass(UserError, ValueError)
