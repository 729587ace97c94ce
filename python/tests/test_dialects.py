"""Tables as spreadsheets export them: what is found by looking, what is told, and what is pointed out."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import bagwise


def write(folder: Path, text: str, encoding: str = "utf-8") -> Path:
    path = folder / "t.csv"
    path.write_text(text, encoding=encoding)
    return path


def test_guesses_are_warned_about_and_told_dialects_are_not(tmp_path: Path) -> None:
    path = write(tmp_path, "bag;label;größe\na;1;1.234,5\nb;0;2,5\n", "cp1252")
    with pytest.warns(UserWarning, match="cp1252.*semicolons.*decimal commas.*decimal=TEXT"):
        found = bagwise.read(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        told = bagwise.read(path, delimiter=";", decimal=",", thousands=".", encoding="cp1252")
    for data in (found, told):
        assert data.bags.feature_names == ["größe"]
        assert [b.tolist() for b in data.bags] == [[[1234.5]], [[2.5]]]


def test_markers_of_missing_values_can_be_added(tmp_path: Path) -> None:
    path = write(tmp_path, "bag,label,f\na,1,n.d.\na,1,-999\nb,0,2\n")
    with pytest.raises(ValueError, match=r"line 2: 'n.d.'.*missing_values=\[\"n.d.\"\]"):
        bagwise.read(path)
    data = bagwise.read(path, missing=True, missing_values=["n.d.", -999])
    assert np.isnan(data.bags[0]).tolist() == [[True], [True]]


def test_two_arrays_that_could_be_the_label_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.npz"
    np.savez(path, X=np.ones((4, 2)), bag=[1, 1, 2, 2], y=[1, 0], label=[0, 1])
    with pytest.raises(ValueError, match="could both be the label; specify which with label=COLUMN"):
        bagwise.read(path)
    with pytest.warns(UserWarning, match="unused arrays: 'label'"):
        data = bagwise.read(path, label="y")
    assert data.y is not None
    assert data.y.tolist() == [1, 0]
