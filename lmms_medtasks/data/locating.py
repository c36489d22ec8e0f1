"""From ``suite/split`` to the file that holds it, by ``MEDTASKS_DATA`` and what is prepared."""

from __future__ import annotations

import functools
import os
from pathlib import Path

from lmms_medtasks.data import release_counts, sources, store
from lmms_medtasks.data.documents import Data, rows_digest
from lmms_medtasks.data.store import LocatedSplit
from lmms_medtasks.errors import DataNotFound, UserError
from lmms_medtasks.progress import print_message


def locate_split(suite: str, split: str) -> LocatedSplit:
    """The data of ``suite``/``split``.

    ``MEDTASKS_DATA=mini`` gives the bundled mini data, ``sample`` or ``full`` what is prepared as such. Unset: the full
    data if prepared, else a prepared sample, else the data is prepared from the hub now, unless ``HF_HUB_OFFLINE`` is
    set. Data with other counts than the release is a sample; with ``MEDTASKS_ACCEPT_COUNTS=1`` the hub's is full.

    Raises:
        DataNotFound: there is no such data, with the ways out.
        UserError: an unknown suite or split, ``MEDTASKS_DATA`` misspelt, damaged data.
    """
    data = store.chosen_data()
    located = find_split(suite, split, data)
    tried = ""
    if data in (None, "full") and (located is None or _may_be_accepted(suite, split, located)):
        tried = _prepare_from_hub(suite, split)
        located = find_split(suite, split, data) or located
    if located is None:
        raise data_not_found_error(suite, split, data, tried)
    return located


def find_split(suite: str, split: str, data: Data | None = None) -> LocatedSplit | None:
    """The split as ``data`` (None: full or else sample), or None. No download. UserError as :func:`locate_split`."""
    sources.get(suite).split(split)
    if data == "mini":
        return _find_mini(suite, split)
    for variant in _data_variants(data):
        if (located := store.find_prepared_split(suite, variant, split)) is not None:
            return located
    return None


def data_not_found_error(suite: str, split: str, data: Data | None, tried: str = "") -> DataNotFound:
    if data == "mini":
        return DataNotFound(
            f"There is no mini data for {suite}/{split}. Set MEDTASKS_DATA to full or sample, or unset it."
        )
    # A split that is not prepared unless asked for, and a sample that the hub cannot give, need their options.
    options = "" if sources.get(suite).split(split).default else f" --split {split}"
    ways = [
        f"from a folder with the release's files: lmms-medtasks data prepare {suite} --source DIR{options}"
        + (" --sample" if data == "sample" else ""),
        "a trial run on the bundled mini data: set MEDTASKS_DATA=mini",
    ]
    if sources.get(suite).obtain:
        ways[0] += f"\n     {sources.get(suite).obtain}"
    if data != "sample" and sources.get(suite).hub_repository:
        ways.insert(
            0, f"from the hub ({sources.get(suite).hub_repository}): lmms-medtasks data prepare {suite}{options}"
        )
    places = " or ".join(str(store.prepared_data_folder(suite, variant)) for variant in _data_variants(data))
    return DataNotFound(
        f"The data of {suite}/{split} is not prepared (looked in {places}).{' ' if tried else ''}{tried}\n"
        f"{['One way', 'Two ways', 'Three ways'][len(ways) - 1]} out:\n"
        + "\n".join(f"  {number}. {way}" for number, way in enumerate(ways, start=1))
    )


def _may_be_accepted(suite: str, split: str, located: LocatedSplit) -> bool:
    """Whether a sample is from the hub and its counts are accepted by now; for a folder's it prints what to do."""
    if located.data != "sample" or not located.counts or not release_counts.accepts_other_counts():
        return False
    entry = store.read_prepared_splits(suite, "sample")[split]
    if entry.source.get("kind") == "hub":
        return True
    _say_once(
        f"{suite}/{split} was prepared as a sample ({located.counts}) and stays one in this run. To call it full: "
        f"lmms-medtasks data prepare {suite} --source {entry.source.get('folder')} {release_counts.OPTION}"
    )
    return False


@functools.lru_cache(maxsize=64)
def _say_once(text: str) -> None:
    print_message(text)


def _data_variants(data: Data | None) -> tuple[Data, ...]:
    return (data,) if data else ("full", "sample")


def is_offline() -> bool:
    values = (os.environ.get("HF_HUB_OFFLINE"), os.environ.get("TRANSFORMERS_OFFLINE"))
    return any(value and value.upper() in ("1", "ON", "YES", "TRUE") for value in values)


def _prepare_from_hub(suite: str, split: str) -> str:
    if not sources.get(suite).hub_repository:
        return "It is on no hub."
    if is_offline():
        return "The hub was not tried: HF_HUB_OFFLINE is set."
    from lmms_medtasks.data.prepare import prepare_splits

    try:
        made = prepare_splits(suite, splits=[split], keep=True)
    except UserError as error:
        return f"The hub was tried: {error}"
    if made["data"] == "full":
        return ""
    return (
        f"What the hub has was prepared as a sample: {made['splits'][split]['counts']}. Set MEDTASKS_DATA=sample to "
        f"read it as that, or {release_counts.VARIABLE}=1 ({release_counts.OPTION}) to call it full."
    )


def _find_mini(suite: str, split: str) -> LocatedSplit | None:
    from lmms_medtasks.data import mini

    try:
        path = mini.mini_file(suite, split)
    except UserError:  # the suite and the split exist, the mini data has none of it
        return None
    status = path.stat()
    rows, content = _count_and_digest(path, status.st_mtime_ns, status.st_ctime_ns, status.st_size)
    return LocatedSplit(path=path, data="mini", digest=content, rows=rows)


@functools.lru_cache(maxsize=64)
def _count_and_digest(path: Path, mtime_ns: int, ctime_ns: int, size: int) -> tuple[int, str]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        rows = (row for batch in file.iter_batches(batch_size=64) for row in batch.to_pylist())
        return file.metadata.num_rows, rows_digest(rows)


def digest_of(path: Path) -> str:
    """The digest of the rows of a prepared or bundled file, found by its path."""
    data, suite = path.parent.name, path.parent.parent.name
    if path.parent == store.prepared_data_folder(suite, data):
        for entry in store.read_prepared_splits(suite, data).values():
            if entry.file == path.name:
                return entry.digest
    status = path.stat()
    return _count_and_digest(path, status.st_mtime_ns, status.st_ctime_ns, status.st_size)[1]
