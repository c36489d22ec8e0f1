"""``lmms-medtasks data``: what data there is, preparing it, and looking at it."""

from __future__ import annotations

import glob
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from lmms_medtasks.data import doctor as doctors
from lmms_medtasks.data import release_images, sources, store
from lmms_medtasks.data.documents import DATA, Data, images_of, is_reference
from lmms_medtasks.data.locating import data_not_found_error, find_split
from lmms_medtasks.data.prepare import prepare_splits as prepare_suite
from lmms_medtasks.errors import UserError, unknown_name_error

app = typer.Typer(name="data", no_args_is_help=True, help="List, prepare and look at the benchmarks' data.")

SuiteArgument = Annotated[str, typer.Argument(help="Name of the benchmark, as 'data list' shows it.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
IncludePath = Annotated[
    list[Path] | None,
    typer.Option(
        "--include_path",
        "--include-path",
        help="A folder with a source.py of your own (which is executed), or one with several of them. Repeatable.",
    ),
]
DataOption = Annotated[str, typer.Option("--data", help="full, sample or mini (default: what a task would get).")]


@app.command("list")
def list_data(as_json: JsonOption = False, include_path: IncludePath = None) -> None:
    """Show all benchmarks and splits, and which of them are prepared."""
    sources.add_source_folders(include_path or ())
    store.chosen_data()  # a misspelt MEDTASKS_DATA is told here too
    rows = [row for name in sources.names() for row in _split_states(sources.get(name))]
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    for row in rows:
        state = ", ".join(f"{data}: {count}" for data, count in row["data"].items()) or "not prepared"
        name = f"{row['suite']}/{row['split']}"
        counts = "".join(f"; {data}: {counted}" for data, counted in row["counts"].items())
        typer.echo(f"{name:<23} {state:<40} {row['about']}{counts}")


def _to_json(content: Any) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False)


def _split_states(suite: sources.DataSource) -> list[dict[str, Any]]:
    """One row a split: rows by variant, or what is wrong with it, and where its counts are not the release's."""
    rows = []
    for split in suite.splits:
        variants: dict[str, str] = {}
        counts: dict[str, str] = {}
        for data in DATA:
            try:
                if (located := find_split(suite.name, split.name, data)) is not None:
                    variants[data] = f"{located.rows:,} rows"
                    if located.counts:
                        counts[data] = located.counts
            except UserError as error:
                variants[data] = f"unusable ({error})"
        if split.apart_from and not variants:
            continue  # few releases have any
        rows.append(
            {"suite": suite.name, "split": split.name, "about": split.about, "data": variants, "counts": counts}
        )
    return rows


@app.command()
def prepare(
    suite: SuiteArgument,
    source: Annotated[
        Path | None, typer.Option(help="Folder with the release's files (default: download them from the hub).")
    ] = None,
    revision: Annotated[str, typer.Option(help="Revision of the hub's dataset (default: the benchmark's).")] = "",
    split: Annotated[list[str] | None, typer.Option(help="Only this split; may be given several times.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Prepare also what is prepared already.")] = False,
    sample: Annotated[bool, typer.Option("--sample", help="Call it a sample, however many rows there are.")] = False,
    accept_counts: Annotated[
        bool, typer.Option("--accept-counts", help="Call it full, however many questions there are.")
    ] = False,
    include_path: IncludePath = None,
    as_json: JsonOption = False,
) -> None:
    """Bring the data of a benchmark into the form that the tasks read.

    A split that is prepared already is left alone; a preparation that was interrupted goes on where it stopped. Rows
    that cannot be used are counted, and listed with the reason in rejected.jsonl. Data with another number of
    questions than the release has, from a folder or from the hub, is called a sample everywhere, with its counts;
    --accept-counts calls it full, and results say so.
    """
    sources.add_source_folders(include_path or ())
    manifest = prepare_suite(
        suite,
        source=source,
        revision=revision or None,
        splits=split or None,
        force=force,
        sample=sample,
        accept_counts=accept_counts or None,
    )
    typer.echo(_to_json(manifest) if as_json else _describe_manifest(manifest))


def _describe_manifest(manifest: dict[str, Any]) -> str:
    data, splits = manifest["data"], manifest["splits"]
    lines = [f"{manifest['title']}, {data} data ({manifest['data_because']})"]
    width = max(12, *map(len, splits))
    for name, split in splits.items():
        lines.append(
            f"  {name:<{width}} {split['rows']:>8,} rows  {split['rejected']:>6,} rejected  "
            f"{split['images']:>6,} images"
            + (f"  ({split['counts']})" if split["counts"] else _paper_difference(split))
        )
    papers = {split.name for split in sources.get(manifest["suite"]).splits if not split.apart_from}
    rows = sum(split["rows"] for name, split in splits.items() if name in papers)
    paper = ", ".join(f"{count:,} {unit}" for unit, count in manifest["paper"].items())
    lines.append(f"  {'together':<{width}} {rows:>8,} rows; the paper: {paper}")
    lines.append(f"Licence: {manifest['licence']}")
    lines.append(f"Terms of use: {manifest['terms']}")
    lines.append(f"Folder: {store.prepared_data_folder(manifest['suite'], data)}")
    return "\n".join(lines)


def _paper_difference(split: dict[str, Any]) -> str:
    """How many more or fewer questions the release has than the paper says; "" if unknown or equal."""
    records, paper = split["rows"] + split["rejected"], split["notes"].get("paper")
    if paper is None or paper == records:
        return ""
    return f"  (the release has {records:,}, the paper {paper:,}: {records - paper:+,})"


@app.command()
def doctor(
    suite: SuiteArgument,
    source: Annotated[Path, typer.Option(help="Folder with the release's files.")],
    include_path: IncludePath = None,
    as_json: JsonOption = False,
) -> None:
    """Look at a folder before preparing it: which files are there, which are missing, do the sizes fit the paper.

    Nothing is written. Status 1 if something is missing that the benchmark's default splits need.
    """
    sources.add_source_folders(include_path or ())
    diagnosis = doctors.diagnose_release(suite, source)
    typer.echo(_to_json(diagnosis.to_json()) if as_json else _describe_diagnosis(diagnosis))
    if not diagnosis.complete:
        raise typer.Exit(1)


def _describe_diagnosis(diagnosis: doctors.ReleaseDiagnosis) -> str:
    record = sources.get(diagnosis.suite)
    lines = [f"{record.title}: {diagnosis.source}"]
    lines += [f"  {finding.state:<8} {finding.what}: {finding.detail}" for finding in diagnosis.findings]
    if diagnosis.sizes:
        lines += _size_lines(diagnosis.sizes)
    for shift, count in diagnosis.shared.items():
        lines.append(f"  {shift}: {count:,} images have both i.i.d. and OoD test questions")
    lines.append(f"Terms of use: {record.terms}")
    if diagnosis.complete:
        asked_for = ", ".join(diagnosis.incomplete)
        sentence = (
            f"Images of {asked_for} are missing, prepared only if asked for" if asked_for else "Nothing is missing"
        )
        folder = sources.source_folder(diagnosis.suite)
        option = f" --include_path {folder}" if folder in sources.added_source_folders() else ""
        lines.append(
            f"{sentence}. Next: lmms-medtasks data prepare {diagnosis.suite} --source {diagnosis.source}{option}"
        )
    else:
        lines.append(f"Something is missing. {diagnosis.how}")
    return "\n".join(lines)


def _size_lines(sizes: Sequence[sources.SplitSize]) -> Iterator[str]:
    known = any(size.release is not None for size in sizes)
    head = ("here", *(("release", "more") if known else ()), "paper", "more")
    yield f"  {'questions':<52}" + "".join(f" {word:>9}" for word in head)
    for size in sizes:
        cells = [f"{size.here:,}"]
        for expected in (size.release, size.paper) if known else (size.paper,):
            differs = expected is not None and expected != size.here
            difference = f"{size.here - (expected or 0):+,}" if differs else ""
            cells += ["" if expected is None else f"{expected:,}", difference]
        yield (f"  {size.what:<52}" + "".join(f" {cell:>9}" for cell in cells)).rstrip()


@app.command()
def inspect(
    suite: SuiteArgument,
    split: Annotated[str, typer.Option(help="Split to look into (default: all that are prepared).")] = "",
    data: DataOption = "",
    rows: Annotated[int, typer.Option(min=0, help="How many rows of each split to show.")] = 1,
    include_path: IncludePath = None,
    as_json: JsonOption = False,
) -> None:
    """Check prepared data against its manifest, count its tags, and show some rows."""
    sources.add_source_folders(include_path or ())
    record = sources.get(suite)
    variant = _parse_variant(data)
    names = [record.split(split).name] if split else [s.name for s in record.splits]
    inspected = []
    for name in names:
        if (located := find_split(suite, name, variant)) is not None:
            if located.data != "mini":
                store.verify_split(suite, located.data, name)
            inspected.append({"suite": suite, "split": name, **_read_contents(record, located, rows)})
    if not inspected:
        raise data_not_found_error(suite, names[0], variant)
    typer.echo(_to_json(inspected) if as_json else "\n\n".join(map(_describe_contents, inspected)))


def _parse_variant(text: str) -> Data | None:
    if not text:
        return store.chosen_data()
    for data in DATA:
        if text == data:
            return data
    raise unknown_name_error("data", text, DATA, "--data")


def _read_contents(suite: sources.DataSource, located: store.LocatedSplit, rows: int) -> dict[str, Any]:
    """A split's counts, tags and first rows; images are read for these rows only."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(located.path) as file:
        tags = {tag: Counter(file.read(columns=[tag]).column(tag).to_pylist()) for tag in suite.tags}
        batch = next(file.iter_batches(batch_size=rows), None) if rows else None
        shown = batch.to_pylist() if batch is not None else []
    credentialed = suite.agreement and located.data != "mini"
    return {
        "data": located.data,
        "path": str(located.path),
        **_referenced_images(located),
        "rows": located.rows,
        "counts": located.counts,
        "digest": located.digest,
        "tags": {tag: {str(value): n for value, n in sorted(counts.items())} for tag, counts in tags.items()},
        "first": [_without_texts(document) if credentialed else _without_pixels(document) for document in shown],
    }


def _referenced_images(located: store.LocatedSplit) -> dict[str, Any]:
    """The number of images in the user's own folder, and those missing or changed there; {} if there are none."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    with pq.ParquetFile(located.path) as file:
        table = file.read(columns=["image.path", "image_id"])
    paths = pc.struct_field(table.column("image"), "path").to_pylist()
    pairs = [(path, name) for path, name in zip(paths, table.column("image_id").to_pylist(), strict=True) if path]
    if not pairs:
        return {}
    changed = release_images.changed_files(pairs)
    return {"referenced_images": len({path for path, _ in pairs}), "gone_or_changed": changed}


def _without_texts(document: dict[str, Any]) -> dict[str, Any]:
    """The ids of a question of credentialed data: what this prints may end in a log."""
    return {name: document[name] for name in ("id", "image_id", "data")}


def _without_pixels(document: dict[str, Any]) -> dict[str, Any]:
    sizes = [
        image["path"] if is_reference(image) else f"{len(image['bytes']):,} bytes" for image in images_of(document)
    ]
    plain = {name: value for name, value in document.items() if name not in ("image", "images")}
    return {**plain, "images": sizes}


def _describe_contents(contents: dict[str, Any]) -> str:
    lines = [f"{contents['suite']}/{contents['split']} ({contents['data']}): {contents['rows']:,} rows"]
    if contents["counts"]:
        lines.append(f"  not the release's counts: {contents['counts']}")
    lines += [f"  file: {contents['path']}", f"  digest of the rows: {contents['digest']}"]
    if "referenced_images" in contents:
        changed = contents["gone_or_changed"]
        lines.append(
            f"  images in your own folder: {contents['referenced_images']:,}, gone or changed: {len(changed):,}"
        )
        lines += [f"    {path}" for path in changed[:20]]
    for tag, counts in contents["tags"].items():
        values = ", ".join(f"{value or '(none)'} {n:,}" for value, n in list(counts.items())[:20])
        more = f" and {len(counts) - 20} more" if len(counts) > 20 else ""
        lines.append(f"  {tag}: {values}{more}")
    for document in contents["first"]:
        lines.append("  " + json.dumps(document, ensure_ascii=False))
    return "\n".join(lines)


@app.command()
def where(
    suite: Annotated[str, typer.Argument(help="Name of a benchmark (default: the folder of all).")] = "",
    include_path: IncludePath = None,
) -> None:
    """Print the folder of the prepared data (MEDTASKS_HOME, or the user's cache folder).

    Of a task in a folder that --include_path names, without a source.py: that folder, its tables lie there.
    """
    sources.add_source_folders(include_path or ())
    of_task = (file.parent for path in include_path or () for file in path.rglob(f"{glob.escape(suite)}.yaml"))
    if suite and suite not in sources.names() and (folder := next(of_task, None)):
        typer.echo(folder)
        return
    try:
        typer.echo(store.data_home() / sources.get(suite).name if suite else store.data_home())
    except UserError as error:
        raise UserError(f"{error} A task of your own: name its folder too, --include_path FOLDER.") from error
