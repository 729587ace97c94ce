"""A first classifier in five lines: train on labelled bags and predict new ones."""

from sklearn.model_selection import train_test_split

from bagwise import MIKernelClassifier
from bagwise.datasets import load_musk1

bags, y = load_musk1()
train, test, y_train, y_test = train_test_split(bags, y, test_size=0.25, stratify=y, random_state=0)
model = MIKernelClassifier(gamma="4/median", c=10).fit(train, y_train)
print(f"accuracy on {len(test)} new molecules: {model.score(test, y_test):.2f}")
print("probabilities of the first three:", model.predict_proba(test[:3]).round(2).tolist())

assert model.score(test, y_test) > 0.6
