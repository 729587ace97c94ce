"""Every guide is a script that runs."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

GUIDES = sorted((Path(__file__).parents[2] / "docs" / "python").glob("*.py"))


def test_there_are_guides() -> None:
    assert len(GUIDES) >= 5


@pytest.mark.parametrize("guide", GUIDES, ids=lambda g: g.stem)
def test_a_guide_runs(guide: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(guide), run_name="__main__")
