"""What docs/guide.md runs, and what it shows of it: blocks of Python, in order, as cells of a notebook."""

from __future__ import annotations

import ast
import contextlib
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide.md"

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$\n?", re.DOTALL | re.MULTILINE)
_TIME = re.compile(r"\d[\d.,]*(?= (?:s|ms|us|seconds|\S+/s)\b)")


@dataclass(frozen=True)
class Part:
    """A stretch of the document: prose, a block of Python, or what the block before it prints."""

    kind: str
    text: str
    line: int


def parts(document: str) -> Iterator[Part]:
    """All of the document, in order. Blocks of other languages are prose; so is text that follows no Python."""
    end = 0
    after_python = False
    prose: list[str] = []
    start = 0
    for block in _BLOCK.finditer(document):
        between = document[end : block.start()]
        language = block[1]
        shown = language == "text" and after_python and not between.strip()
        if language != "python" and not shown:
            prose += [between, block[0]]
        else:
            prose.append(between)
            yield Part("prose", "".join(prose), document.count("\n", 0, start) + 1)
            kind = "python" if language == "python" else "shown"
            yield Part(kind, block[2], document.count("\n", 0, block.start(2)) + 1)
            prose, start = [], block.end()
        after_python = language == "python"
        end = block.end()
    yield Part("prose", "".join([*prose, document[end:]]), document.count("\n", 0, start) + 1)


def joined(document: Iterable[Part]) -> str:
    """The document that has these parts."""
    fences = {"python": ("```python\n", "```\n"), "shown": ("```text\n", "```\n"), "prose": ("", "")}
    return "".join(fences[part.kind][0] + part.text + fences[part.kind][1] for part in document)


def run(block: Part, names: dict[str, Any]) -> str:
    """What a block prints, and the value of its last line, as a notebook shows it. Pictures are left out."""
    tree = ast.parse(block.text, str(GUIDE))
    ast.increment_lineno(tree, block.line - 1)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(tree, str(GUIDE), "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), str(GUIDE), "eval"), names)
            if value is not None and not hasattr(value, "savefig"):
                print(repr(value))
    return out.getvalue()


def timeless(line: str) -> str:
    """A line with `#` for its times and rates, which are never the same twice."""
    return _TIME.sub("#", line.rstrip())


def difference(shown: str, printed: str) -> str | None:
    """The first line that is shown and not printed, or printed and not shown; `...` is any number of lines."""
    expected = [timeless(line) for line in shown.splitlines()]
    any_line = False
    for line in map(timeless, printed.splitlines()):
        while expected and expected[0] == "...":
            any_line = True
            expected.pop(0)
        if expected and expected[0] == line:
            any_line = False
            expected.pop(0)
        elif not any_line:
            return f"shown: {expected[0] if expected else ''}\nprinted: {line}"
    left = next((line for line in expected if line != "..."), None)
    return None if left is None else f"shown, but not printed: {left}"


def cells(document: str) -> Iterator[tuple[str, str]]:
    """The document as a notebook: kinds and sources of cells. What blocks print is left to the notebook."""
    for part in parts(document):
        text = part.text.strip()
        if text and part.kind != "shown":
            yield ("code" if part.kind == "python" else "markdown"), text
