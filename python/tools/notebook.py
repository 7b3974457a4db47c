"""Makes docs/guide.ipynb of docs/guide.md, and runs it: `make notebook`."""

from __future__ import annotations

import tempfile
from pathlib import Path

import nbformat
from guide import GUIDE, cells
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


def made() -> nbformat.NotebookNode:
    """The guide's cells, with names that stay the same."""
    make = {"code": new_code_cell, "markdown": new_markdown_cell}
    listed = enumerate(cells(GUIDE.read_text(encoding="utf-8")))
    found = [make[kind](text, id=f"cell-{i}") for i, (kind, text) in listed]
    return new_notebook(cells=found, metadata={"kernelspec": KERNEL, "language_info": {"name": "python"}})


def timeless(notebook: nbformat.NotebookNode) -> None:
    """Nothing is kept that differs from run to run and that nobody looks at."""
    notebook.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    for cell in notebook.cells:
        cell.metadata = {}


def check(notebook: nbformat.NotebookNode) -> None:
    """Warnings do not belong into a guide, and they name files of this machine."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.get("name") == "stderr":
                raise SystemExit(f"a cell warns:\n{cell.source}\n{output.text}")


def main() -> None:
    notebook = made()
    with tempfile.TemporaryDirectory() as directory:
        where = {"metadata": {"path": directory}}
        # Figures that pyplot did not make are pictures only if the kernel knows of them from the start.
        inline = ["--InteractiveShellApp.matplotlib=inline"]
        NotebookClient(notebook, timeout=600, resources=where, extra_arguments=inline).execute()
    check(notebook)
    timeless(notebook)
    path: Path = GUIDE.with_suffix(".ipynb")
    nbformat.write(notebook, path)
    print(f"{path.name}: {len(notebook.cells)} cells, {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
