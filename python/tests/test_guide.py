"""The guide runs from top to bottom, and prints what it shows. GRADBAND_GUIDE=write writes what it prints into it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import guide
import pytest
from guide import GUIDE, Part

PYTHON = Path(__file__).resolve().parents[1]


def played(parts: list[Part]) -> Iterator[Part]:
    """The document with what its blocks print. Lines that are left out (`...`) stay so where the others are right."""
    names: dict[str, Any] = {"__name__": "__main__"}
    printed = ""
    for part in parts:
        if part.kind == "shown" and guide.difference(part.text, printed) is not None:
            yield Part("shown", printed, part.line)
        else:
            yield part
        if part.kind != "prose":
            printed = guide.run(part, names) if part.kind == "python" else ""


def test_the_guide_prints_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(tmp_path)
    document = GUIDE.read_text(encoding="utf-8")
    parts = list(guide.parts(document))
    assert guide.joined(parts) == document
    found = list(played(parts))
    if os.environ.get("GRADBAND_GUIDE") == "write":
        GUIDE.write_text(guide.joined(found), encoding="utf-8")
        return
    for part, now in zip(parts, found, strict=True):
        assert part == now, f"{GUIDE.name}:{part.line}\n{guide.difference(part.text, now.text)}\n\nAll of it:\n{now.text}"


def test_all_that_is_printed_is_shown() -> None:
    """A block that prints is followed by what it prints."""
    parts = [part for part in guide.parts(GUIDE.read_text(encoding="utf-8")) if part.text.strip()]
    for part, after in zip(parts, [*parts[1:], Part("prose", "", 0)], strict=True):
        if part.kind == "python" and "print(" in part.text:
            assert after.kind == "shown", f"{GUIDE.name}:{part.line}: what does it print?"


def test_only_times_may_differ() -> None:
    assert guide.timeless("trained in 0.11 s (364 rounds/s): 100") == "trained in # s (# rounds/s): 100"
    assert guide.timeless("gain 2.5 of 4 ") == "gain 2.5 of 4"
    printed = "regret 4.67\ngain 2.51\nlearned 1"
    assert guide.difference(printed, printed) is None
    assert guide.difference("regret 4.67\n...\nlearned 1", printed) is None
    assert guide.difference("...\ngain 2.51\n...", printed) is None
    for wrong in ["regret 4.68\n...", "regret 4.67\nlearned 1", printed + "\ndone", "...\ngain 2.52\n...", ""]:
        assert guide.difference(wrong, printed) is not None, wrong


def test_a_document_is_its_parts() -> None:
    document = "# a\n\n```python\nprint(1)\n2\n```\n\n```text\n1\n2\n```\n\nb\n```text\nc\n```\n```sh\nd\n```\n"
    parts = list(guide.parts(document))
    assert [part.kind for part in parts] == ["prose", "python", "prose", "shown", "prose"]
    assert [part.line for part in parts] == [1, 4, 7, 9, 12]
    assert guide.joined(parts) == document
    assert guide.run(parts[1], {}) == parts[3].text


def code() -> str:
    return "\n".join(part.text for part in guide.parts(GUIDE.read_text(encoding="utf-8")) if part.kind == "python")


@pytest.mark.parametrize("checker", [["mypy", "--strict"], ["pyright", "--pythonpath", sys.executable]], ids=lambda c: c[0])
def test_the_types_of_the_guide(checker: list[str], tmp_path: Path) -> None:
    found = shutil.which(checker[0], path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if found is None:
        reason = f"{checker[0]} is not installed: the types of the guide were not checked"
        warnings.warn(reason, stacklevel=1)
        pytest.skip(reason)
    path = tmp_path / "guide_code.py"
    path.write_text(code(), encoding="utf-8")
    done = subprocess.run([found, *checker[1:], str(path)], cwd=PYTHON, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_notebook_is_the_guide() -> None:
    path = GUIDE.with_suffix(".ipynb")
    text = path.read_text(encoding="utf-8")
    notebook = json.loads(text)
    cells = [(cell["cell_type"], "".join(cell["source"])) for cell in notebook["cells"]]
    assert cells == list(guide.cells(GUIDE.read_text(encoding="utf-8"))), "make notebook writes it anew"
    assert len(text) < 1_000_000
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
    pictures = [output for output in outputs if "image/png" in output.get("data", {})]
    assert len(pictures) >= 3, "pictures are outputs"
    assert not [output for output in outputs if output["output_type"] == "error" or output.get("name") == "stderr"]
