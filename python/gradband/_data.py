"""Tables of all kinds as CSV: frames, arrays, dicts of columns, lists of rows. Frames are known by what they can do."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .error import Error


def _cell(value: Any) -> str:
    """A value as CSV has it: numbers to the last bit, nothing for what is missing."""
    if value is None:
        return ""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float):
        return "" if math.isnan(value) else repr(value)
    text = str(value)
    return "" if text in ("<NA>", "NaT") else text


def _listed(column: object, place: str) -> list[Any]:
    """A column as a list."""
    for name in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, name):
            listed = getattr(column, name)()
            break
    else:
        if isinstance(column, (str, bytes)) or not isinstance(column, Iterable):
            raise Error(f"found {type(column).__name__}, expected a column of values", place)
        listed = list(column)
    if not isinstance(listed, list):
        raise Error("found a single value, expected a column of them", place)
    return listed


def _columns(data: Any, place: str) -> dict[str, list[Any]] | None:
    """The columns of a frame or a dict; None if it is neither."""
    if isinstance(data, Mapping):
        return {str(name): _listed(column, f"{place}.{name}") for name, column in data.items()}
    for name in ("columns", "column_names"):
        if hasattr(data, name) and hasattr(data, "__getitem__"):
            # pyarrow's `columns` are the columns themselves.
            names = data.column_names if hasattr(data, "column_names") else data.columns
            return {str(name): _listed(data[name], f"{place}.{name}") for name in names}
    return None


def _matrix(data: Any, place: str) -> tuple[list[str] | None, list[list[Any]]]:
    """Rows of an array, of lists or of dicts, and the names of columns if there are any."""
    if hasattr(data, "ndim"):
        if data.ndim != 2:
            raise Error(f"found {data.ndim} dimensions, expected 2: a row for each past problem", place)
        return None, [list(row) for row in data.tolist()]
    if isinstance(data, (str, bytes)) or not isinstance(data, Iterable):
        raise Error(f"found {type(data).__name__}, expected a frame, an array, a dict, rows or a path", place)
    rows = list(data)
    if rows and all(isinstance(row, Mapping) for row in rows):
        names = list(rows[0])
        for i, row in enumerate(rows):
            if list(row) != names:
                raise Error(f"found the keys {list(row)}, expected {names} as in the first row", f"{place}[{i}]")
        return [str(name) for name in names], [[row[name] for name in names] for row in rows]
    listed = []
    for i, row in enumerate(rows):
        if isinstance(row, (str, bytes)) or not isinstance(row, Iterable):
            raise Error(f"found {row!r}, expected a row of values", f"{place}[{i}]")
        listed.append(list(row))
    return None, listed


def rows_of(data: Any, place: str) -> tuple[list[str] | None, list[list[Any]]]:
    """The names of the columns, if there are any, and the rows."""
    columns = _columns(data, place)
    if columns is None:
        names, rows = _matrix(data, place)
    else:
        names = list(columns)
        lengths = {len(column) for column in columns.values()}
        if len(lengths) > 1:
            shown = ", ".join(f"{name} has {len(column)}" for name, column in columns.items())
            raise Error(f"columns differ in length: {shown}", place)
        rows = [list(row) for row in zip(*columns.values(), strict=True)]
    if not rows:
        raise Error("is empty; expected a row for each past problem", place)
    width = len(names) if names is not None else len(rows[0])
    for i, row in enumerate(rows):
        if len(row) != width:
            raise Error(f"found {len(row)} values, expected {width} as in the first row", f"{place}[{i}]")
    return names, rows


def to_csv(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """CSV with a header."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue().encode()


def table(data: Any) -> tuple[bytes, str]:
    """A table of past problems as CSV, and what messages call it."""
    if isinstance(data, (str, os.PathLike)):
        path = os.fspath(data)
        try:
            with open(path, "rb") as file:
                return file.read(), path
        except OSError as error:
            raise Error(f"cannot be read: {error.strerror}", str(path)) from None
    names, rows = rows_of(data, "data")
    return to_csv(names or [f"arm {i + 1}" for i in range(len(rows[0]))], rows), "data"


def labelled(X: Any, y: Any) -> bytes:
    """Labelled rows as CSV, the label last."""
    names, rows = rows_of(X, "X")
    labels = _listed(y, "y")
    if len(labels) != len(rows):
        raise Error(f"found {len(labels)} labels, expected {len(rows)}, one for each row of X", "y")
    for i, label in enumerate(labels):
        if isinstance(label, (list, tuple)):
            raise Error("found 2 dimensions, expected 1: a label for each row of X", "y")
        if _cell(label) == "":
            raise Error("a label is missing", f"y[{i}]")
    names = names or [f"x{i + 1}" for i in range(len(rows[0]))]
    label_name = "label"
    while label_name in names:
        label_name += "_"
    return to_csv([*names, label_name], [[*row, label] for row, label in zip(rows, labels, strict=True)])
