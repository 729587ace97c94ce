"""Every guide is a script that runs."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GUIDES = sorted((ROOT / "docs" / "python").glob("*.py"))


def test_there_are_guides() -> None:
    assert len(GUIDES) >= 5


@pytest.mark.parametrize("guide", GUIDES, ids=lambda g: g.stem)
def test_a_guide_runs(guide: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(guide), run_name="__main__")


PAGES = ["README.md", "docs/python.md", *(f"docs/python/{p.name}" for p in (ROOT / "docs" / "python").glob("*.md"))]


@pytest.mark.parametrize("page", sorted(PAGES))
def test_programs_in_documents_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)
    assert programs
    monkeypatch.chdir(tmp_path)
    for program in programs:
        exec(compile(program, page, "exec"), {})
