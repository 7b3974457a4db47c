"""What the documents show runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT


@pytest.mark.parametrize("document", ["README.md", "python/README.md"])
def test_documents_run(document: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(), re.DOTALL)
    assert blocks
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, document, "exec"), names)
    assert (tmp_path / "tuned" / "policy.json").exists()
