"""The documents of a contributed task: adapted, checked before a model is loaded, with shift sides and draws."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lmms_medtasks import extensions, parsing
from lmms_medtasks.data import adapter, picture_checks, text_tables
from lmms_medtasks.data.rotated_options import rotate_documents
from lmms_medtasks.errors import UserError, unknown_name_error, user_errors
from lmms_medtasks.harness.hooks import RENDERED, TRIALS
from lmms_medtasks.samples.table import OWN_COLUMNS
from lmms_medtasks.suites import own_metrics, templates
from lmms_medtasks.suites.templates import measures, parsers
from lmms_medtasks.task_yaml import settings as schema

if TYPE_CHECKING:
    from datasets import Dataset


def prepare_documents(
    dataset: Dataset,
    *,
    adapt: Any,
    settings: Mapping[str, Any],
    training_split: str = "",
    tables: tuple[Path, ...] = (),
    folder: Path | None = None,
    own: Mapping[str, Any] | None = None,
) -> Dataset:
    """The documents of a task: adapted, with shift sides and drawn degradations if the settings request them.

    Every picture is decoded once as a check. ``tables``: the files of the data, for messages. Documents of the training
    split are only adapted; with a shift those out of distribution are left out.
    """
    with user_errors():  # the harness would try again for seconds, and show a traceback
        used = adapt.columns_used(dataset.column_names) if isinstance(adapt, adapter.Columns) else dataset.column_names
        text_tables.check_not_guessed(dataset, used)
        with _name_table(tables):
            documents = adapt(dataset)
        if not hasattr(documents, "column_names"):
            raise UserError(f"process_docs gives a {type(documents).__name__}, expected a datasets.Dataset.")
        adapter.check_answers(documents)
        if training_split and str(dataset.split) == training_split:
            return _without_ood(documents, settings["shift"]) if settings.get("shift") else documents
        check_degradations(documents, settings, folder)
        _check_single_answers(documents, settings)
        _check_several(adapt, settings)
        if own:
            _check_own_parts(own, settings, documents)
        if not settings.get("no_image"):
            with _name_table(tables):
                picture_checks.check_images(documents, folder)
        _check_clusters(documents, settings)
        if settings.get("shift"):
            documents = _add_shift_sides(documents, settings["shift"])
        if settings.get("degradation") == templates.DRAWN:
            documents = add_drawn_degradations(documents, settings, folder)
        if settings.get("rotate_options"):
            documents = rotate_documents(documents)
    ids = list(documents["id"])
    TRIALS.reset(ids)
    RENDERED.reset(ids)
    return documents


@contextmanager
def _name_table(tables: Sequence[Path]) -> Iterator[None]:
    """Name the table in a :class:`UserError` if there is only one."""
    try:
        yield
    except UserError as error:
        if len(tables) != 1:
            raise
        raise UserError(f"{tables[0].name}: {error}") from error


def _check_single_answers(documents: Dataset, settings: Mapping[str, Any]) -> None:
    """Refuse several right letters for a parser of one letter: no reply could be right."""
    if settings.get("parser") not in ("option", "letter") or "answer" not in documents.column_names:
        return
    for row, answer in enumerate(documents["answer"]):
        if isinstance(answer, str) and len(answer) > 1:
            raise UserError(
                f"Row {row + 1} (id {documents[row]['id']!r}) has several right answers, {answer!r}, and the parser "
                f"{settings['parser']!r} has one right answer. In the YAML say `parser: several_letters` where all of "
                "them must be named, `parser: any_letter` where any of them is right."
            )


def _check_clusters(documents: Dataset, settings: Mapping[str, Any]) -> None:
    name = settings.get("cluster")
    if name is None:
        return
    if name not in documents.column_names:
        raise unknown_name_error("column", name, documents.column_names, "the data (the setting cluster)")
    for question, label in zip(documents["id"], documents[name], strict=True):
        if label is None or str(label).strip() in ("", "nan"):  # the latter: an empty cell of a column of numbers
            raise UserError(f"Question {question!r}: its column {name!r}, the setting cluster, is empty.")


def _check_several(adapt: Any, settings: Mapping[str, Any]) -> None:
    """Refuse an adapter and a parser that interpret several right letters differently."""
    several = adapt.several if isinstance(adapt, adapter.Columns) else ""
    for parser, other in (("several_letters", "any"), ("any_letter", "all")):
        if settings.get("parser") == parser and several == other:
            means = {"all": "all of them must be named", "any": "any of them is right"}
            raise UserError(
                f'several="{several}" in adapter.py says that {means[several]}, and `parser: {parser}` that '
                f"{means['all' if other == 'any' else 'any']}. Change one of them."
            )


def _add_shift_sides(documents: Dataset, shift: Mapping[str, Any]) -> Dataset:
    """The rows of both shift sides, with the column ``set``: "iid" or "ood"."""
    if shift["column"] not in documents.column_names:
        raise UserError(f"shift.column: the data has no column {shift['column']!r}, it has {documents.column_names}.")
    side_of = {value: side for side, values in schema.shift_side_values(shift).items() for value in values}
    values = [str(value) for value in documents[shift["column"]]]
    rows = [row for row, value in enumerate(values) if value in side_of]
    for side, side_values in schema.shift_side_values(shift).items():
        if not set(side_values) & set(values):
            raise UserError(
                f"shift.{side}: no row has {' or '.join(map(repr, side_values))} in {shift['column']!r}. There are: "
                f"{', '.join(sorted(set(values))[:20])}."
            )
    if len(rows) < len(values):
        from loguru import logger  # the harness's log

        logger.info(f"{len(values) - len(rows)} of {len(values)} questions are in neither test and left out.")
    chosen = documents.select(rows)
    return chosen.add_column("set", [side_of[values[row]] for row in rows])


def _without_ood(documents: Dataset, shift: Mapping[str, Any]) -> Dataset:
    """Training documents without those out of distribution, if they have the shift's column."""
    if shift["column"] not in documents.column_names:
        return documents
    ood = schema.shift_side_values(shift)["ood"]
    return documents.select([row for row, value in enumerate(documents[shift["column"]]) if str(value) not in ood])


def _check_own_parts(scoring_settings: Mapping[str, Any], settings: Mapping[str, Any], documents: Dataset) -> None:
    """Raise UserError if the task's custom parts do not fit its questions, before a model is asked.

    That is a metric restricted by a missing column, or one that counts votes of answers other than options' letters.
    ``scoring_settings``: :attr:`lmms_medtasks.harness.template_hooks.binding.CustomParts.scoring`.
    """
    columns = [*documents.column_names, *OWN_COLUMNS, "option_count", "set"]
    own_metrics.check_columns(measures.load_custom_metrics(scoring_settings["own"]), list(dict.fromkeys(columns)))
    reference = scoring_settings.get("parser")
    votes = [name for name in settings["metrics"] if measures.NEEDS.get(name) == "letters"]
    if reference is None or not votes:
        return
    parser = parsers.get(str(reference))
    plain = documents.select_columns([name for name in documents.column_names if name not in ("image", "images")])
    for row, doc in enumerate(plain):
        letters = tuple(parsing.option_letters(len(doc["options"]))) if doc.get("options") else ()
        if parser.answers(doc) != letters or not letters:
            raise UserError(
                f"Row {row + 1} (id {doc['id']!r}): the metric {votes[0]!r} counts votes for options' letters, and the "
                f"parser {settings['parser']!r} has the answers {', '.join(parser.answers(doc)[:9]) or '(not told)'}. "
                "Leave the metric out."
            )


def check_degradations(documents: Dataset, settings: Mapping[str, Any], folder: Path | None) -> None:
    """Raise UserError, with the row, for an incomplete or unknown degradation, or an unknown or unsuitable modality.

    Otherwise images would silently stay clean. A degradation that depends on the modality requires one.
    """
    columns = documents.column_names
    has = {name: name in settings or name in columns for name in ("degradation", "severity")}
    if "degradation" in settings and not has["severity"]:
        raise UserError(f"degradation: {settings['degradation']}: at which severity? 1 is mild, 2 is severe.")
    if settings.get("severity") and not has["degradation"]:
        raise UserError(
            f"severity: {settings['severity']}: of what? Neither the setting `degradation` nor a column tells."
        )
    if settings.get("rendered") or settings.get("no_image"):
        return
    modality_is_told = bool(settings.get("modality")) or "modality" in columns
    seen: set[tuple[str, Any, str]] = set()
    for row in _iter_degradations(documents, settings):
        if row[1:] not in seen:
            seen.add(row[1:])
            _check_one(row, modality_is_told, folder)


class _RowDegradation(NamedTuple):
    """The location of a row, its degradation ("" if it is drawn), level and modality."""

    where: str
    name: str
    level: Any
    modality: str


def _iter_degradations(documents: Dataset, settings: Mapping[str, Any]) -> Iterator[_RowDegradation]:
    rows = range(len(documents))
    cells: dict[str, Sequence[Any]] = {}
    for name, default in (("degradation", ""), ("severity", 1), ("modality", "")):
        has_column = name in documents.column_names and name not in settings
        cells[name] = documents[name] if has_column else [settings.get(name, default)] * len(documents)
    ids = documents["id"] if "id" in documents.column_names else rows
    by_row = any(name not in settings for name in cells)
    for row in rows:
        name, level, modality = (cells[key][row] for key in ("degradation", "severity", "modality"))
        where = f"row {row + 1} (id {ids[row]!r}): " if by_row else ""
        drawn = name == templates.DRAWN
        yield _RowDegradation(where, "" if drawn else str(name or ""), level or 0, str(modality or ""))


def _check_one(row: _RowDegradation, modality_is_told: bool, folder: Path | None) -> None:
    from lmms_medtasks import degradations

    where, name, level, modality = row
    try:
        if modality:
            degradations.canonical_modality(modality)
        if degradations.check_severity(level) == 0 or not name:
            return
        located = extensions.resolve_extension_path(name, folder)
        degradations.canonical_name(located)
        degradations.check_modality(located, modality or None)
        depends = not modality and degradations.depends_on_modality(located)
    except UserError as error:
        raise UserError(f"degradation{', ' if where else ': '}{where}{str(error).partition(' To apply')[0]}") from error
    if depends:
        lacking = "neither the setting `modality` nor a column `modality` tells"
        if modality_is_told:
            lacking = "its column `modality` is empty"
        raise UserError(
            f"degradation{', ' if where else ': '}{where}{name}: of what modality are the images? Its numbers, or "
            f"whether it may be used, depend on it, and {lacking}. Allowed: "
            f"{', '.join(degradations.modalities_of(located))}."
        )


def add_drawn_degradations(documents: Dataset, settings: Mapping[str, Any], folder: Path | None) -> Dataset:
    """The documents with the column ``degradation``: one of their modality, drawn by question.

    Custom degradations are named as in the YAML of ``folder``.
    """
    from lmms_medtasks import degradations

    fixed = settings.get("modality")
    if not fixed and "modality" not in documents.column_names:
        raise UserError(
            f"degradation: {templates.DRAWN} draws by modality, which neither a column `modality` nor a setting tells."
        )
    modalities = [fixed] * len(documents) if fixed else documents["modality"]
    drawn = []
    for row, (modality, question) in enumerate(zip(modalities, documents["id"], strict=True)):
        try:
            chosen = degradations.draw_for_question(modality, question, count=1, seed=settings.get("seed", 0))[0]
        except UserError as error:
            where = "modality" if fixed else f"Column 'modality', row {row + 1} (id {question!r})"
            raise UserError(f"{where}: {error}") from error
        drawn.append(extensions.portable_reference(chosen, folder))
    others = documents.select_columns([name for name in documents.column_names if name != "degradation"])
    return others.add_column("degradation", drawn)
