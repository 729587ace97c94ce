"""Every guide is a script that runs, every notebook runs from its first cell to its last."""

from __future__ import annotations

import ast
import json
import re
import runpy
from pathlib import Path
from typing import Any

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


NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def test_there_are_notebooks() -> None:
    names = {notebook.stem for notebook in NOTEBOOKS}
    assert names >= {"first_steps", "slides", "molecules", "honest_comparison", "explanations"}


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda n: n.stem)
def test_a_notebook_runs(notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs the cells in one namespace and shows the last expression of each, as Jupyter does."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    assert sum(cell["cell_type"] == "code" for cell in cells) >= 3
    for number, cell in enumerate(cells):
        if cell["cell_type"] != "code":
            continue
        # Outputs are not kept: they would age.
        assert cell["outputs"] == [] and cell["execution_count"] is None
        program = ast.parse("".join(cell["source"]), f"{notebook.name}, cell {number}")
        last = program.body[-1]
        if isinstance(last, ast.Expr):
            program.body.pop()
            exec(compile(program, f"{notebook.name}, cell {number}", "exec"), names)
            value = eval(compile(ast.Expression(last.value), f"{notebook.name}, cell {number}", "eval"), names)
            html = getattr(value, "_repr_html_", None)
            assert (html() if html is not None else repr(value)) is not None
        else:
            exec(compile(program, f"{notebook.name}, cell {number}", "exec"), names)


@pytest.mark.parametrize(("package", "lines"), [("misvm", 4), ("mil", 17), ("sawmil", 3)])
def test_the_example_of_a_peers_readme_is_no_longer_here(package: str, lines: int) -> None:
    """`lines` of code are in the README of the package; ours stand below the last comment of the block, which runs above."""
    page = (ROOT / "docs" / "python" / f"from_{package}.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", page.partition("## Its README example")[2], re.DOTALL)
    ours = [line for line in program.rpartition("# Instead of ")[2].splitlines()[1:] if line.strip()]
    assert 0 < len(ours) <= lines
