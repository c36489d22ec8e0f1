"""Judges on Azure and Bedrock, through the harness's providers; their network stands for itself here."""

import types

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness.judge_transport import HarnessTransport
from lmms_medtasks.judges import settings
from lmms_medtasks.judges.transport import Failure

ASK = [{"role": "user", "content": "How good?"}]
AZURE = {"AZURE_ENDPOINT": "https://x.openai.azure.com", "AZURE_API_KEY": "az-secret"}


class Server:
    """A provider of the harness with a scripted answer."""

    client = None

    def __init__(self, answer):
        self.answer, self.asked = answer, []

    def evaluate(self, request):
        self.asked.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def transport(monkeypatch):
    """Call as transport(answer, judge): a transport on a scripted provider, and the configuration that it got."""

    def make(answer, judge="azure:gpt-4o", **environment):
        import lmms_eval.llm_judge

        got = []
        server = Server(answer)
        monkeypatch.setattr(
            lmms_eval.llm_judge, "get_server", lambda name, config: got.append((name, config)) or server
        )
        return HarnessTransport(settings.read({**AZURE, **environment}, judge)), server, got[0]

    return make


def response(content, usage=None, raw=None):
    return types.SimpleNamespace(content=content, usage=usage, raw_response=raw)


def error(kind, **fields):
    made = type(kind, (Exception,), {})("wrong key az-secret")
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def test_azure(transport):
    choice = types.SimpleNamespace(finish_reason="length")
    raw = types.SimpleNamespace(choices=[choice])
    made, server, (name, config) = transport(response("fine", {"prompt_tokens": 3, "completion_tokens": 2}, raw))
    reply = made.send(ASK, {"type": "object"})
    assert (reply.text, reply.finish, reply.input_tokens, reply.output_tokens) == ("fine", "length", 3, 2)
    assert name == "azure"
    assert (config.model_name, config.temperature, config.max_tokens, config.num_retries) == ("gpt-4o", 0.0, 1024, 1)
    assert server.asked[0].messages == ASK


def test_bedrock(transport):
    made, _, (name, _) = transport(response("fine", {}, {"stopReason": "max_tokens"}), "bedrock:anthropic.x")
    reply = made.send(ASK, None)
    assert (name, reply.finish, reply.input_tokens) == ("bedrock", "max_tokens", None)


@pytest.mark.parametrize("raw", [types.SimpleNamespace(model="gpt-4o-2024"), {"model": "gpt-4o-2024"}])
def test_the_model_is_the_one_that_the_endpoint_names(transport, raw):
    assert transport(response("fine", {}, raw))[0].send(ASK, None).model == "gpt-4o-2024"


@pytest.mark.parametrize("raw", [None, {"stopReason": "end"}, types.SimpleNamespace(model=None)])
def test_no_model_is_named_where_the_endpoint_names_none(transport, raw):
    assert transport(response("fine", {}, raw))[0].send(ASK, None).model == ""


@pytest.mark.parametrize(
    ("problem", "repeat", "fatal", "wait"),
    [
        (
            error("RateLimitError", status_code=429, response=types.SimpleNamespace(headers={"Retry-After": "7"})),
            1,
            0,
            7.0,
        ),
        (error("InternalServerError", status_code=500), 1, 0, None),
        (error("AuthenticationError", status_code=401), 0, 1, None),
        (error("NotFoundError", status_code=404), 0, 1, None),
        (error("BadRequestError", status_code=400), 0, 0, None),
        (error("APIConnectionError"), 1, 0, None),
        (error("ClientError", response={"Error": {"Code": "ThrottlingException"}}), 1, 0, None),
        (error("ClientError", response={"Error": {"Code": "AccessDeniedException"}}), 0, 1, None),
        (error("ClientError", response={"Error": {"Code": "ValidationException"}}), 0, 0, None),
        (AttributeError("'NoneType' object has no attribute 'strip'"), 1, 0, None),
    ],
)
def test_failures(transport, problem, repeat, fatal, wait):
    made, _, _ = transport(problem)
    with pytest.raises(Failure, match="request failed: ") as caught:
        made.send(ASK, None)
    assert (caught.value.repeat, caught.value.fatal, caught.value.wait) == (bool(repeat), bool(fatal), wait)
    assert "az-secret" not in str(caught.value)


def test_the_openai_package_repeats_nothing_by_itself(monkeypatch):
    for name, value in AZURE.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(UserError, match="OPENAI_API_KEY to be set too, to any text"):
        HarnessTransport(settings.read(AZURE, "azure:gpt-4o"))
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    made = HarnessTransport(settings.read(AZURE, "azure:gpt-4o"))
    assert made._server.client.max_retries == 0


def test_a_package_that_is_not_there(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "boto3", None)
    with pytest.raises(UserError, match="bedrock:m needs a package that is not there"):
        HarnessTransport(settings.read({}, "bedrock:m"))
