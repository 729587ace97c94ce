//! External cohorts, coverage and model cards.

use super::*;

/// A saved model on a cohort.
fn cohort(data: &str, model: &str) -> LoadedRun {
    let mut run = made(&Made { data, methods: &["mi-kernel"], folds: 1, ..Made::default() });
    run.records.iter_mut().for_each(|r| r.protocol = "external".into());
    run.context.model = Some(ModelSource {
        file: model.into(),
        data: "the training bags".into(),
        bags: 80,
        metric: "accuracy".into(),
        estimate: Some(0.875),
        parameters: "c 10".into(),
        ..ModelSource::default()
    });
    run
}

#[test]
fn external_cohorts_stand_beside_each_other_and_are_not_ranked() {
    let one = page(cohort("hospital A", "m.bagwise"));
    assert!(one.contains("<h1>External validation of m.bagwise on hospital A</h1>"));
    assert!(
        one.contains("<dt>trained on</dt><dd>the training bags: 80 bags</dd>")
            && one.contains("<dd>c 10</dd>")
    );
    assert!(one.contains("intervals are too short") && !one.contains("make every estimate optimistic"));
    let mut known = cohort("hospital A", "m.bagwise");
    known.context.model.as_mut().unwrap().saw_these_bags = true;
    let known = page(known);
    assert!(
        known.contains("trained on some of these bags") && !known.contains("on bags not seen in training")
    );

    let cohorts = [cohort("hospital A", "m.bagwise"), cohort("hospital B", "m.bagwise")];
    let two = several(&cohorts);
    assert!(two.contains("<h1>External validation on 2 cohorts</h1>"));
    let said = verdict(&two);
    assert!(
        said.starts_with("m.bagwise on 2 external cohorts: accuracy 0.") && said.contains(" on hospital B."),
        "{said}"
    );
    let drawn = between(&two, "<figure id=\"cohorts-0\">", "</figure>");
    // Two cohorts, and what was estimated where the model was trained.
    assert_eq!(drawn.matches("class=\"mark").count(), 3, "{drawn}");
    assert!(drawn.contains("cross-validated on the training bags: 0.875"));
    assert!(!two.contains("average rank"));

    let own = ["a", "b", "c"].map(|data| made(&Made { data, ..Made::default() }));
    let mixed = [&own[..], &cohorts[..]].concat();
    let (alone, both) = (several(&own), several(&mixed));
    assert!(both.contains("<h1>3 methods on 3 data sets, and 2 external cohorts</h1>"));
    let ranks = |page: &str| between(page, "average rank</", "</tr>").to_string();
    assert_eq!(ranks(&alone), ranks(&both));
    assert!(
        verdict(&both).starts_with("Over 3 data sets")
            && verdict(&both).contains("m.bagwise on 2 external cohorts")
    );
    let numbers = joint(&mixed).unwrap();
    assert_eq!(numbers.together.unwrap().ranks.data.len(), 3);
    assert_eq!(numbers.runs.iter().filter(|r| r.external).count(), 2);
    // One comparison and a cohort: the sentence is that of the comparison, and no ranks are missed.
    let pair = several(&[own[0].clone(), cohorts[0].clone()]);
    assert!(
        verdict(&pair).contains("is best on a") && !verdict(&pair).contains("average ranks"),
        "{}",
        verdict(&pair)
    );
    assert!(pair.contains("<h1>3 methods on a, and 1 external cohort</h1>"));
}

#[test]
fn coverage_is_shown_beside_what_was_asked_for() {
    let mut run = cohort("hospital A", "m.bagwise");
    assert!(!page(run.clone()).contains("-coverage\""));
    let one = |coverage: f64, held: f64| CoverageSummary {
        coverage,
        held,
        interval: Some((held - 0.05, held + 0.04)),
        size: 1.25,
        single: Some(0.7),
        empty: Some(0.025),
        classes: vec![("class 0".into(), Some(0.9)), ("class 1".into(), None)],
        promise: "the set usually holds the truth".into(),
        ..CoverageSummary::default()
    };
    run.context.coverage = vec![one(0.8, 0.85), one(0.9, 0.925)];
    let whole = page(run.clone());
    let drawn = between(&whole, "<figure id=\"d0-coverage\">", "</figure>");
    assert!(drawn.contains("requested 90%, observed 92.5% (interval 87.5% to 96.5%)"), "{drawn}");
    let table = between(&whole, "<caption>Coverage on these bags</caption>", "</table>");
    assert!(
        table.contains("mean classes") && table.contains(">1.25<") && table.contains(">2.5%<"),
        "{table}"
    );
    assert!(
        table.contains("observed, class class 0") && whole.contains("90%: the set usually holds the truth.")
    );
    let cohorts = several(&[run, cohort("hospital B", "m.bagwise")]);
    assert!(between(&cohorts, "id=\"cohorts\"", "</table>").contains(">92.5%<"));
}

#[test]
fn the_model_card_describes_what_its_command_trains() {
    // Chance decides by how much; here the more complex method is better, and not clearly.
    let judged = |data: &&str| {
        let run = made(&Made { data, ..Made::default() });
        let found =
            bagwise::run::Verdict::new(&run.records, &run.roster, run.metric(), run.level(), false).unwrap();
        (found.recommended() != found.best().method).then_some((run, found))
    };
    let (run, found) = ["made", "one", "two", "three", "four", "five"].iter().find_map(judged).unwrap();
    let line = found.table.iter().find(|line| line.method == found.recommended()).unwrap();
    let whole = page(run);
    let card = between(&whole, "Model card: ", "</dl>");
    assert!(card.starts_with(&format!("{}<", found.recommended())), "{card}");
    assert!(between(card, "<dt>method</dt><dd>", "</dd>").starts_with(found.recommended()), "{card}");
    let value = format!("{:.3}", line.metrics[0].mean.unwrap());
    assert_ne!(value, format!("{:.3}", found.best().metrics[0].mean.unwrap()));
    assert!(between(card, "<dt>how good</dt><dd>", "</dd>").contains(&value), "{card}");
}
