"""Groups inside bags and scikit-learn's cross-validation: bags of one group are not split in silence."""

from __future__ import annotations

import pickle
import time
import uuid
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bagwise
from bagwise import (
    BagKFold,
    BagMap,
    Bags,
    BagSummary,
    Dataset,
    ISKClassifier,
    PerInstance,
    SimpleMIClassifier,
    SimpleMIRegressor,
)

SPLIT = "belong to groups that .* was trained on, so scores may be too optimistic; .*cv=bagwise.BagKFold"


def small_model() -> SimpleMIClassifier:
    return SimpleMIClassifier(probability=False)


@pytest.mark.parametrize(
    "model",
    [
        small_model(),
        make_pipeline(PerInstance(StandardScaler()), small_model()),
        make_pipeline(BagSummary(), LogisticRegression()),
    ],
    ids=["estimator", "pipeline", "summary"],
)
def test_a_split_of_groups_is_told(model: Any, small: Dataset) -> None:
    bags, y = small.bags, small.y
    assert bags.groups is not None
    for run in (
        lambda: cross_val_score(model, bags, y, cv=4),
        lambda: cross_validate(model, bags, y, cv=KFold(4), scoring="roc_auc"),
        lambda: cross_val_predict(model, bags, y, cv=4),
        lambda: GridSearchCV(model, {}, cv=4).fit(bags, y),
    ):
        with pytest.warns(UserWarning, match=SPLIT):
            run()
    train, test, y_train, y_test = train_test_split(bags, y, random_state=0)
    with pytest.warns(UserWarning, match=SPLIT):
        clone(model).fit(train, y_train).score(test, y_test)


def test_groups_that_stay_together_are_not_told_of(small: Dataset) -> None:
    bags, y, model = small.bags, small.y, small_model()
    by_hand = cross_val_score(model, bags, y, cv=GroupKFold(4), groups=bags.groups)
    by_bags = cross_val_score(model, bags, y, cv=BagKFold(4))
    assert len(by_hand) == len(by_bags) == 4
    GridSearchCV(model, {"c": [1, 10]}, cv=BagKFold(4)).fit(bags, y).predict(bags)
    # Training bags, and bags without groups.
    model.fit(bags[:20], y[:20]).score(bags[:20], y[:20])
    cross_val_score(model, list(bags), y, cv=4)


def test_new_bags_of_known_groups_are_predicted_without_a_word(small: Dataset) -> None:
    model = small_model().fit(small.bags[:20], small.y[:20])
    new = Bags(list(small.bags), groups=small.bags.groups)
    model.predict(new[20:])
    # A model of another process knows nothing of these bags.
    pickle.loads(pickle.dumps(model)).predict(small.bags[20:])
    with pytest.warns(UserWarning, match=SPLIT):
        model.predict(pickle.loads(pickle.dumps(small.bags))[20:])
    # Fitted again on all bags, everything is known.
    model.fit(small.bags, small.y).predict(small.bags[20:])


def test_folds_are_those_of_an_evaluation(small: Dataset) -> None:
    found = bagwise.evaluate(small.bags, small.y, "simple-mi", folds=4, params={"c": 1, "gamma": 1}, random_state=3)
    folds = found.predictions().set_index("bag")["fold"].loc[small.bags.ids].to_numpy()
    for fold, (train, test) in enumerate(BagKFold(4, random_state=3).split(small.bags, small.y)):
        assert np.array_equal(np.flatnonzero(folds == fold), test)
        assert not set(small.bags.groups[train]) & set(small.bags.groups[test])
        assert len(train) + len(test) == 40


def test_folds_of_everything_that_scikit_learn_passes(small: Dataset) -> None:
    assert BagKFold(3).get_n_splits() == 3 and "n_splits=3" in repr(BagKFold(3))
    groups = np.arange(40) % 8
    for X, y, given in (
        (small.bags, None, None),
        (list(small.bags), small.y, groups),
        (np.zeros((40, 2)), small.bags.sizes() + 0.5, groups),
        (small.bags, np.where(small.y == 1, "yes", "no"), groups),
    ):
        tested = np.concatenate([test for _, test in BagKFold(4).split(X, y, given)])
        assert sorted(tested.tolist()) == list(range(40))
        owners = groups if given is not None else small.bags.groups
        for train, test in BagKFold(4).split(X, y, given):
            assert not set(owners[train]) & set(owners[test])
    with pytest.raises(ValueError, match="n_splits is 20, but there are 10 groups"):
        list(BagKFold(20).split(small.bags, small.y))
    for wrong in ("3", 1, 2.5, True):
        with pytest.raises(ValueError, match="n_splits is .*; give a whole number of at least 2"):
            list(BagKFold(wrong).split(small.bags, small.y))  # type: ignore[arg-type]
    found = bagwise.compare(small.bags, small.y, methods=["simple-mi"], folds=BagKFold(4), protocol="given")
    assert len(found) == 2


def test_estimators_of_a_comparison_see_the_groups_of_its_folds(small: Dataset) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        warnings.filterwarnings("error", message="^.*" + SPLIT.partition(" .*")[0])
        bagwise.compare(
            small.bags,
            small.y,
            groups=np.arange(40),
            methods=["majority"],
            folds=4,
            estimators={"mine": small_model()},
        )


def test_a_fold_tells_of_it_once_and_all_in_the_same_words(small: Dataset) -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        cross_val_score(small_model(), small.bags, small.y, cv=4)
    assert len(said) == 4 and len({str(one.message) for one in said}) == 1


def test_groups_are_routed_to_the_folds(small: Dataset) -> None:
    bags = Bags(list(small.bags))
    with sklearn.config_context(enable_metadata_routing=True):
        model = small_model().set_fit_request(groups=False)
        found = cross_validate(
            model, bags, small.y, cv=BagKFold(4), params={"groups": small.groups}, return_indices=True
        )
    for train, test in zip(found["indices"]["train"], found["indices"]["test"], strict=True):
        assert not set(small.bags.groups[train]) & set(small.bags.groups[test])


def test_regressors_tell_of_it_too(small: Dataset) -> None:
    with pytest.warns(UserWarning, match=SPLIT):
        cross_val_score(SimpleMIRegressor(), small.bags, small.bags.sizes() / 10, cv=KFold(3))


def test_fit_tells_of_it_too(small: Dataset) -> None:
    bags, y = small.bags, small.y
    model = bagwise.fit(bags[:20], y[:20], method="simple-mi", params={"c": 1, "gamma": 1})
    with pytest.warns(UserWarning, match=SPLIT):
        model.score(bags[20:], y[20:])
    model.score(bags[:20], y[:20])


def test_pickles_of_steps_hold_no_names_of_groups(small: Dataset) -> None:
    bags = small.bags._with(np.asarray([f"patient {g}" for g in small.groups]), {})
    for step in (BagSummary(), BagMap(params={"t": 5})):
        with pytest.warns(UserWarning, match=SPLIT):
            step.fit(bags[:20]).transform(bags[20:])
        written = pickle.dumps(step)
        assert b"patient" not in written
        pickle.loads(written).transform(bags[20:])


def test_groups_of_the_call_replace_those_of_the_bags(small: Dataset) -> None:
    bags, y, own = small.bags, small.y, small.bags.groups
    # What groups the bags left out have is not known then.
    for model, target in ((small_model(), y), (SimpleMIRegressor(), bags.sizes() / 10)):
        model.fit(bags[:20], target[:20], groups=np.arange(20)).predict(bags[20:])
        model.fit(bags[:20], target[:20], groups=own[:20])
        with pytest.warns(UserWarning, match=SPLIT):
            model.predict(bags[20:])
    params = {"c": 1, "gamma": 1}
    bagwise.fit(bags[:20], y[:20], method="simple-mi", params=params, groups=np.arange(20)).predict(bags[20:])


def test_what_is_not_scored_is_not_warned_of(small: Dataset) -> None:
    train, test = small.bags[:20], small.bags[20:]
    model = ISKClassifier(t=5, probability=False).fit(train, small.y[:20])
    model.explain(test)
    model.explain(test, machines=True)
    model.decision_function_instances(test)
    model.familiar(test)
    model.transform(test)
    for run in (model.predict, model.decision_function, model.predictions):
        with pytest.warns(UserWarning, match=SPLIT):
            run(test)


def test_folds_of_one_class_are_plain(small: Dataset) -> None:
    plain = [test.tolist() for _, test in BagKFold(4).split(small.bags)]
    for y in (np.ones(40), ["a"] * 40):
        assert [test.tolist() for _, test in BagKFold(4).split(small.bags, y)] == plain
    with pytest.raises(ValueError, match="y contains NaN"):
        list(BagKFold(4).split(small.bags, ["a", "b"] * 19 + ["a", None]))
    with pytest.raises(ValueError, match="needs at least two classes"):
        small_model().fit(small.bags, np.ones(40))


def test_threads_that_slice_the_same_bags_agree_on_their_origin(
    small: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = uuid.uuid4

    def slowly() -> uuid.UUID:
        # Long enough for the other threads to find no name yet.
        time.sleep(0.05)
        return made()

    monkeypatch.setattr(uuid, "uuid4", slowly)
    bags = Bags(list(small.bags), groups=small.groups)
    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(lambda at: bags[at : at + 10], range(0, 40, 10)))
    assert len({part._origin[0] for part in parts if part._origin is not None}) == 1


def test_folds_of_a_dictionary_ask_for_bags(small: Dataset) -> None:
    named = {f"b{i}": bag for i, bag in enumerate(small.bags)}
    for X in (named, dict(enumerate(small.bags))):
        with pytest.raises(
            TypeError, match=r"X is a dict, which scikit-learn indexes by key, not by position; give Bags\(X\)"
        ):
            cross_val_score(small_model(), X, small.y, cv=BagKFold(4))
    assert len(cross_val_score(small_model(), Bags(named), small.y, cv=BagKFold(4))) == 4
    matrix = sparse.dok_array(np.ones((40, 2)))
    assert len(list(BagKFold(4).split(matrix, small.y))) == 4


def test_groups_do_not_change_with_the_array_they_came_from(small: Dataset) -> None:
    given = np.asarray(small.groups).copy()
    bags = Bags(list(small.bags), groups=given)
    given[:] = given[0]
    assert bags.groups is not None and np.array_equal(bags.groups, np.asarray(small.groups))
