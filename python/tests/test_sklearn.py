"""scikit-learn conventions: its own checks, and its tools around our estimators."""

from __future__ import annotations

import pickle
from typing import Any

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone, is_regressor
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    train_test_split,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import bagwise
from bagwise import (
    AutoClassifier,
    AutoRegressor,
    Bags,
    Dataset,
    ISKClassifier,
    MIKernelClassifier,
    MIKernelRegressor,
    SimpleMIClassifier,
)
from bagwise._estimators import ESTIMATORS

#: Why a bag of weight n and n copies of it give other answers, to the 1e-7 that scikit-learn's check asks for.
SOLVER = (
    "the SVM stops at a tolerance of 1e-3, and the median that relative widths refer to changes with copies; with gamma=0.5, "
    "answers differ by 6e-5 to 1e-3"
)
DRAWN = "instances, bags or starts are drawn by the seed, and copies can be drawn, too"
ENTRIES = "the vector of a bag has an entry for every training bag or instance, and so for every copy"
LEARNED = "what is learned before training (concepts, weights of instances, a tree) knows bags and their labels, not their weights"
COPIES: dict[str, tuple[str, ...]] = {
    DRAWN: ("bow", "cce", "mi-vlad", "mi-fv", "em-dd", "isk", "mil-net", "bagging", "stacking"),
    ENTRIES: ("miles", "mind"),
    LEARNED: ("tlc", "dd-svm", "mg-ddv", "mg-acc"),
}
#: All other methods that train an SVM, those to come included: they need no line here.
COPIES[SOLVER] = tuple(
    method["name"]
    for method in bagwise.methods()
    if method["family"].endswith("SVM") and not any(method["name"] in methods for methods in COPIES.values())
)
#: Costs of 1000 against 0.0001 must make nearly all test bags the dear class. Where only cheap training bags are, they need
#: not: all the dear ones are right all the same.
APART = "the concept or the first cut gets every dear bag right, and some cheap ones beyond them too"
EXACT = "half as many units as bags are enough to fit all dear bags exactly; with a tenth, nearly all bags are of their class"
CENTRED = (
    "of one instance a vector is the difference from its own centre, the same for blobs around two; one centre would do"
)

WITHOUT_PROBABILITIES = ("check_classifiers_train", "check_sample_weight_equivalence")


def cannot_apply(estimator: Any) -> dict[str, str]:
    found = {}
    for why, methods in COPIES.items():
        # Its ten starts lead to the same concept of a class, drawn with copies or without.
        passes = estimator._method == "em-dd" and not is_regressor(estimator)
        if estimator._method in methods and not passes:
            found["check_sample_weight_equivalence_on_dense_data"] = why
            found["check_sample_weight_equivalence_on_sparse_data"] = why
    reason = {"dd": APART, "em-dd": APART, "mi-boost": APART, "rbf-mip": EXACT}.get(estimator._method)
    if reason is not None and not is_regressor(estimator):
        found["check_class_weight_classifiers"] = reason
    if estimator._method in ("mi-fv", "mi-vlad") and not is_regressor(estimator):
        found["check_classifiers_train"] = CENTRED
    return found


@parametrize_with_checks([cls() for cls in ESTIMATORS.values()], expected_failed_checks=cannot_apply, xfail_strict=True)
@pytest.mark.filterwarnings("ignore")
def test_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    if not is_regressor(estimator) and check.func.__name__.startswith(WITHOUT_PROBABILITIES):
        # One asks for the likelier class to be the predicted one, the other for the same answers if bags are repeated.
        # Probabilities are calibrated on inner folds, so that neither need be; everything else holds, as with
        # SVC(probability=False).
        estimator = clone(estimator).set_params(probability=False)
    check(estimator)


def test_probabilities_go_with_decision_values(musk1: tuple[Bags, np.ndarray], three: Dataset) -> None:
    bags, y = musk1
    model = MIKernelClassifier(c=10).fit(bags, y)
    order = np.argsort(model.decision_function(bags))
    chances = model.predict_proba(bags)
    assert np.allclose(chances.sum(axis=1), 1) and (np.diff(chances[order, 1]) >= 0).all()
    several = MIKernelClassifier(c=10).fit(three.bags, three.y)
    likeliest = several.classes_[several.predict_proba(three.bags).argmax(axis=1)]
    assert (likeliest == several.predict(three.bags)).mean() > 0.9


@pytest.mark.parametrize("key", ESTIMATORS)
def test_every_estimator_learns_answers_explains_and_travels(
    key: tuple[str, bool], small: Dataset, tmp_path: Any
) -> None:
    cls = ESTIMATORS[key]
    bags = small.bags
    y = bags.sizes().astype(float) if key[1] else small.y
    model = cls().fit(bags, y)
    answers = model.predict(bags)
    assert answers.shape == (len(bags),)
    values = answers[:5] if key[1] else model.decision_function(bags[:5])
    try:
        explained = model.explain(bags[:5])
        # The sum of parts is the decision value up to rounding.
        assert np.allclose([e.value for e in explained], values, rtol=1e-9, atol=1e-9)
        assert [len(e.parts) for e in explained] == bags.sizes()[:5].tolist()
    except ValueError as why:
        # A method that cannot take its answers apart says what would do.
        assert ";" in str(why)
    model.save(tmp_path / "m.bagwise")
    for again in (
        pickle.loads(pickle.dumps(model)),
        bagwise.load(tmp_path / "m.bagwise"),
        cls.load(tmp_path / "m.bagwise"),
    ):
        assert type(again) is cls
        assert np.array_equal(again.predict(bags), answers)
    assert not key[1] or model.score(bags, y) <= 1.0


def test_three_classes(three: Dataset) -> None:
    for scheme in ("one-vs-one", "one-vs-rest"):
        model = MIKernelClassifier(c=10, multiclass=scheme).fit(three.bags, three.y)
        assert model.score(three.bags, three.y) > 0.9
        proba = model.predict_proba(three.bags)
        assert proba.shape == (60, 3) and np.allclose(proba.sum(axis=1), 1.0)
        decision = model.decision_function(three.bags)
        assert np.array_equal(model.classes_[decision.argmax(axis=1)], model.predict(three.bags))
        assert len(model.explain(three.bags[:2])) == 2
        assert len(model.explain(three.bags[:2], machines=True)) == 6


def test_labels_of_any_kind(small: Dataset) -> None:
    for y in (small.y, np.where(small.y == 1, "yes", "no"), small.y == 1, small.y.astype(float)):
        model = MIKernelClassifier(c=10).fit(small.bags, y)
        assert np.array_equal(model.classes_, np.unique(y))
        found = model.predict(small.bags)
        assert found.dtype == model.classes_.dtype
        assert (found == y).mean() > 0.9


def test_train_test_split_and_grid_search(small: Dataset) -> None:
    for bags in (Bags(list(small.bags)), list(small.bags)):
        train, test, y_train, y_test = train_test_split(bags, small.y, random_state=0, stratify=small.y)
        grid = {"gamma": ["0.5/median", "2/median", 1.0], "c": [1, 100], "norm": ["mean", "sqrt"]}
        search = GridSearchCV(MIKernelClassifier(), grid, cv=3).fit(train, y_train)
        assert search.score(test, y_test) > 0.7
        assert set(search.best_params_) == {"gamma", "c", "norm"}
    assert isinstance(train_test_split(small.bags)[0], Bags)


def test_groups_stay_together(small: Dataset) -> None:
    scores = cross_val_score(MIKernelClassifier(c=10), small.bags, small.y, groups=small.groups, cv=GroupKFold(5))
    assert len(scores) == 5 and scores.mean() > 0.7
    model = MIKernelClassifier(c=10).fit(small.bags, small.y, groups=small.groups)
    assert model.score(small.bags, small.y) > 0.9


def test_pipelines_stacks_and_clones(small: Dataset) -> None:
    half = FunctionTransformer(lambda bags: Bags([b / 2 for b in bags]))
    line = make_pipeline(half, MIKernelClassifier(c=10))
    assert line.fit(small.bags, small.y).score(small.bags, small.y) > 0.9
    assert isinstance(clone(line), Pipeline)
    copy = clone(MIKernelClassifier(gamma="3/median", c=7))
    assert (copy.gamma, copy.c) == ("3/median", 7) and copy.set_params(c=8).get_params()["c"] == 8
    stack = StackingClassifier(
        [("a", MIKernelClassifier(c=10)), ("b", SimpleMIClassifier())], LogisticRegression(), cv=bagwise.BagKFold(3)
    )
    assert stack.fit(small.bags, small.y).score(small.bags, small.y) > 0.9


def test_other_processes(small: Dataset) -> None:
    one = cross_val_predict(
        MIKernelClassifier(c=10), small.bags, small.y, cv=bagwise.BagKFold(3), method="decision_function"
    )
    two = cross_val_predict(
        MIKernelClassifier(c=10), small.bags, small.y, cv=bagwise.BagKFold(3), n_jobs=2, method="decision_function"
    )
    assert np.array_equal(one, two)
    fits = joblib.Parallel(n_jobs=2)(joblib.delayed(MIKernelClassifier(c=c).fit)(small.bags, small.y) for c in (1, 10))
    assert [m.c for m in fits] == [1, 10]
    assert fits[1].score(small.bags, small.y) > 0.9


def test_weights_count(small: Dataset) -> None:
    plain = MIKernelClassifier(c=1).fit(small.bags, small.y)
    heavy = MIKernelClassifier(c=1).fit(small.bags, small.y, sample_weight=np.full(40, 2.0))
    same = MIKernelClassifier(c=2).fit(small.bags, small.y)
    assert np.array_equal(heavy.decision_function(small.bags), same.decision_function(small.bags))
    assert not np.array_equal(heavy.decision_function(small.bags), plain.decision_function(small.bags))
    none = np.ones(40)
    none[:10] = 0
    dropped = MIKernelClassifier().fit(small.bags, small.y, sample_weight=none).decision_function(small.bags)
    with pytest.warns(UserWarning, match="belong to groups that .* was trained on"):
        without = MIKernelClassifier().fit(small.bags[10:], small.y[10:]).decision_function(small.bags)
    assert np.array_equal(dropped, without)
    by_class = MIKernelClassifier(class_weight={0: 1, 1: 5}).fit(small.bags, small.y)
    by_bag = MIKernelClassifier().fit(small.bags, small.y, sample_weight=np.where(small.y == 1, 5.0, 1.0))
    assert np.array_equal(by_class.decision_function(small.bags), by_bag.decision_function(small.bags))
    chosen: dict[str, Any] = {"method": "mi-kernel", "params": {"c": [1, 10]}}
    weighed = bagwise.fit(small.bags, small.y, class_weight={1: 5}, **chosen)
    by_hand = bagwise.fit(small.bags, small.y, sample_weight=np.where(small.y == 1, 5.0, 1.0), **chosen)
    assert np.array_equal(weighed.decision_function(small.bags), by_hand.decision_function(small.bags))
    for weight in ({1: 5}, "balanced"):
        with pytest.raises(ValueError, match="class_weight applies only to classes"):
            bagwise.fit(small.bags, small.bags.sizes() + 0.5, class_weight=weight, method="mi-kernel")


def test_a_gram_serves_svc(musk1: tuple[Bags, np.ndarray]) -> None:
    bags, y = musk1
    train, test = next(StratifiedKFold(5, shuffle=True, random_state=0).split(bags, y))
    point: dict[str, Any] = {"gamma": 0.5, "norm": "sqrt", "scale": "minmax"}
    svc = SVC(kernel="precomputed", C=10, tol=1e-6).fit(bagwise.gram(bags[train], **point), y[train])
    there = svc.decision_function(bagwise.gram(bags[test], bags[train], **point))
    here = MIKernelClassifier(c=10, **point).fit(bags[train], y[train]).decision_function(bags[test])
    # Both solve the same problem, each to its tolerance (ours 1e-3).
    assert np.abs(there - here).max() < 5e-3
    assert np.array_equal(there > 0, here > 0)


def test_a_map_has_the_kernel_as_its_inner_products(small: Dataset) -> None:
    point: dict[str, Any] = {"psi": 8, "t": 50, "epsilon": "11/20"}
    model = ISKClassifier(random_state=5, **point)
    vectors = model.fit_transform(small.bags, small.y)
    assert sparse.issparse(vectors) and vectors.shape[0] == len(small.bags)
    gram = bagwise.gram(small.bags, method="isk", random_state=5, **point)
    # Sums of at most a few thousand products of numbers below 1.
    assert np.allclose((vectors @ vectors.T).toarray(), gram, atol=1e-12)
    line = make_pipeline(ISKClassifier(**point), LinearSVC())
    assert line.fit(small.bags, small.y).score(small.bags, small.y) > 0.9
    assert not hasattr(MIKernelClassifier, "transform")


def test_regression(small: Dataset) -> None:
    y = small.bags.sizes() + 0.5
    model = MIKernelRegressor(c=100, norm="none").fit(small.bags, y)
    # Without normalisation the kernel counts instances.
    assert model.score(small.bags, y) > 0.5
    auto = bagwise.fit(small.bags, y, method="simple-mi")
    assert type(auto).__name__ == "SimpleMIRegressor"


def test_auto_chooses_answers_and_travels(small: Dataset, tmp_path: Any) -> None:
    bags = small.bags
    for cls, y in ((AutoClassifier, small.y), (AutoRegressor, bags.sizes().astype(float))):
        model = cls(inner=3).fit(bags, y)
        shares = [share for _, share in model.members()]
        assert abs(sum(shares) - 1) < 1e-9 and shares == sorted(shares, reverse=True)
        answers = model.predict(bags)
        model.save(tmp_path / "m.bagwise")
        for again in (pickle.loads(pickle.dumps(model)), cls.load(tmp_path / "m.bagwise")):
            assert type(again) is cls
            assert again.inner == 3
            assert np.array_equal(again.predict(bags), answers)
        assert np.array_equal(bagwise.load(tmp_path / "m.bagwise").predict(bags), answers)
    with pytest.raises(ValueError, match="predicts numbers"):
        AutoClassifier.load(tmp_path / "m.bagwise")
