"""What is known of models: the board's file before the package's, matched as names look; a wrong file is refused."""

import pytest

from lmms_medtasks.board import model_facts
from lmms_medtasks.board.model_facts import ModelFacts, read_model_facts
from lmms_medtasks.errors import UserError


@pytest.fixture
def known(tmp_path):
    """From the text of a models.yml to what it says."""

    def made(text):
        path = tmp_path / "models.yml"
        path.write_text(text, "utf-8")
        return read_model_facts(path)

    return made


def test_a_boards_file_says_all_facts_of_a_model(known):
    facts = known(
        "Qwen/Qwen2.5-VL-7B-Instruct:\n  {family: Qwen2.5-VL, parameters_b: 7, licence: Apache 2.0, open_weights: true,"
        " released: 2025-01-26, link: 'https://example.org/a', about: general, name: Qwen 7B}"
    ).facts_of("qwen/qwen2.5_vl 7B-Instruct")
    assert facts == ModelFacts(
        "Qwen 7B", "general", "Qwen2.5-VL", 7.0, "Apache 2.0", True, "2025-01-26", "https://example.org/a"
    )


def test_what_no_file_says_is_unknown():
    assert read_model_facts().facts_of("somebody/else") == ModelFacts()


def test_the_boards_file_goes_before_the_packages(known):
    assert read_model_facts().facts_of("medtasks_observer").licence == "MIT"
    assert known("medtasks_observer: {about: ours}").facts_of("medtasks_observer") == ModelFacts(about="ours")


def test_a_published_model_is_one_however_its_papers_write_it():
    known = read_model_facts()
    assert known.facts_of("Lingshu(7B)") == known.facts_of("Lingshu-7B")
    assert known.facts_of("Qwen2.5-VL-Instruct(72B)") == known.facts_of("Qwen2.5-VL-72B")
    assert known.facts_of("GPT-5").open_weights is False and known.facts_of("GPT-5").parameters_b is None


def test_facts_of_published_models_are_of_rows_that_their_tables_have():
    for path in model_facts._default_files():
        tables = "".join(each.read_text("utf-8") for each in path.parent.glob("*.csv"))
        for name in model_facts.folders.load_yaml(path) if path.parent.name == "reference" else ():
            # The rows of one paper are put together of a base model and a method.
            assert name in tables or ": " in name, (path, name)
        assert (
            model_facts._read_facts_file(path).items() <= model_facts._default_model_facts().items()
        )  # no two files differ


_LAUGHS = [
    "&a [x, x]",
    *(f"&{new} [{', '.join([f'*{old}'] * 9)}]" for old, new in zip("abcdefgh", "bcdefghi", strict=True)),
]
"""Each holds nine of the one before it: 86 million texts in all, if they were written out."""


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("- a", "name"),
        ("m: 7", "parameters_b"),
        ("m: {size: 7}", "'size'"),
        ("m: {parameters_b: '7'}", "'7'"),
        ("m: {parameters_b: true}", "True"),
        ("m: {parameters_b: 0}", "0"),
        ("m: {parameters_b: -1}", "-1"),
        ("m: {parameters_b: .inf}", "inf"),
        ("m: {parameters_b: 100001}", "100001"),
        ("m: {open_weights: 'yes'}", "'yes'"),
        ("m: {released: 2025-13}", "2025-13"),
        ("m: {released: soon}", "soon"),
        ("m: {released: 12}", "12"),
        ("m: {link: 'javascript:alert(1)'}", "javascript"),
        ("m: {link: 'https://a b'}", "a b"),
        ("m: {family: ''}", "family"),
        (f"m: {{about: {'x' * 201}}}", "200"),
        ("m: {licence: 7}", "7"),
        ("a/m-1: {}\nA/M_1: {}", "look"),
        ("7: {}", "7"),
        ("m: !!python/object/apply:os.system ['x']", "line 1"),
        ("m:\n  released: 2025-02-30", "line 2: '2025-02-30'"),
        ("m:\n  released: !!timestamp soon", "line 2: 'soon'"),
        (f"m: {{parameters_b: {'9' * 5000}}}", "line 1"),
        (f"m: {{parameters_b: 0x{'f' * 5000}}}", "parameters_b"),
        ("m: {parameters_b: .nan}", "nan"),
        ("? [a]\n: {}", "line 1"),
        ("m: {<<: 3}", "line 1"),
        (f"? {'x' * 201}\n: {{}}", "1 to 200"),
        (f"m: {{about: [{', '.join(_LAUGHS)}]}}", "about"),
        (f"# {'x' * 2**21}", "2,097,152"),
    ],
)
def test_a_wrong_file_is_refused_with_what_is_wrong(known, text, named):
    with pytest.raises(UserError, match="models.yml") as caught:
        known(text)
    assert named in str(caught.value) and len(str(caught.value)) < 600
