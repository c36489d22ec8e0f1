"""Which hosts are this machine, or were named as private. The rules are tried in tests/judges/test_settings.py."""

from lmms_medtasks import endpoints


def test_this_machine_resolves_its_own_name():
    assert set(endpoints.resolve_host("localhost")) <= {"127.0.0.1", "::1"}
    assert endpoints.resolve_host("no.such.host.invalid") == []


def test_hosts_are_named_with_commas_between():
    assert endpoints.private_hosts({"MEDTASKS_PRIVATE_HOSTS": " gpu.lab, ,10.0.0.7 "}) == ("gpu.lab", "10.0.0.7")
    assert endpoints.private_hosts({}) == ()
