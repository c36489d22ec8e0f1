"""Messages that help."""

import pytest

from lmms_medtasks import errors
from lmms_medtasks.errors import UserError, unknown_name_error, user_errors


def test_names_the_nearest_match_and_what_is_allowed():
    message = str(unknown_name_error("degradation", "gausian_noise", ["gaussian_noise", "bubble"], "row 7"))
    assert message == (
        "Unknown degradation 'gausian_noise' in row 7. Did you mean 'gaussian_noise'? Allowed: bubble, gaussian_noise."
    )


def test_without_a_near_match():
    assert str(unknown_name_error("suite", "x", ["medq_deg"])) == "Unknown suite 'x'. Allowed: medq_deg."
    assert str(unknown_name_error("suite", "x", [])) == "Unknown suite 'x'. Allowed: (none)."


def test_is_a_value_error():
    with pytest.raises(ValueError, match="Unknown suite"):
        raise unknown_name_error("suite", "x", [])
    assert issubclass(UserError, ValueError)


def test_user_errors_are_raised_as_they_are_in_a_library(monkeypatch):
    monkeypatch.setattr(errors, "is_command_line", lambda: False)
    with pytest.raises(UserError, match="wrong"), user_errors():
        raise UserError("wrong")


@pytest.mark.parametrize(("rank", "said"), [("0", "lmms-medtasks: wrong\n"), ("1", "")])
def test_user_errors_end_the_command_line_with_one_message(monkeypatch, capsys, rank, said):
    monkeypatch.setattr(errors, "is_command_line", lambda: True)
    monkeypatch.setenv("RANK", rank)
    with pytest.raises(SystemExit) as end, user_errors():
        raise UserError("wrong")
    assert end.value.code == 2 and capsys.readouterr().err == said


def test_other_errors_pass(monkeypatch):
    monkeypatch.setattr(errors, "is_command_line", lambda: True)
    with pytest.raises(KeyError), user_errors():
        raise KeyError("x")


def test_of_many_names_the_nearest_are_listed_and_where_all_are():
    names = [f"medq_deg_{number}" for number in range(100)]
    said = str(unknown_name_error("task", "medq_deg_x", names, listed_by="lmms-eval --tasks list"))
    assert said.count("medq_deg_") < 10
    assert "100" in said
    assert said.endswith("All of them: lmms-eval --tasks list")
    assert str(unknown_name_error("task", "x", names)).count("medq_deg_") == 100
