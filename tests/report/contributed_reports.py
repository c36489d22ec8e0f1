"""Reports of contributed benchmarks, as tables of numbers."""

from lmms_medtasks.report import ReportOptions, build_report


def tables(path, **options):
    """(part's title, table's key) -> {row labels joined: {column: value}}."""
    found = {}
    for part in build_report([path], ReportOptions(resamples=0, **options)).parts:
        for section in part.sections:
            for table in section.tables:
                heads = [column.name for column in table.columns]
                rows = {}
                for row in table.rows:
                    texts = [str(cell.value) for cell, column in zip(row.cells, table.columns, strict=True)
                             if column.kind == "text"]  # fmt: skip
                    rows["/".join(texts)] = {head: cell.value for head, cell in zip(heads, row.cells, strict=True)}
                found[part.title, table.key] = rows
    return found
