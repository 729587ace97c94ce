//! The rules of a model as a table: what `bagwise explain --rules` prints.

use anyhow::Result;
use bagwise::model::Model;

use crate::output::{Digits, Object, Output, Rows, Style};

/// One rule of one machine.
struct Line {
    machine: String,
    /// Counted from 1 within its machine, in the order in which they were found.
    rule: usize,
    attribute: String,
    /// In the units of the data; nothing for categories.
    cut: Option<f64>,
    below: f64,
    above: f64,
}

/// All rules of a model.
pub(crate) struct RuleTable(Vec<Line>);

impl RuleTable {
    /// The first `top` rules of every machine.
    pub(crate) fn of(model: &Model, top: Option<u32>) -> Result<RuleTable> {
        let columns: Vec<_> = model.header.transform.outputs().collect();
        let mut lines = Vec::new();
        for (machine, rules) in model.rules()?.into_iter().enumerate() {
            let shown = rules.into_iter().take(top.map_or(usize::MAX, |top| top as usize));
            lines.extend(shown.enumerate().map(|(at, rule)| {
                let column = &columns[rule.attribute];
                let input = &model.header.features[column.input].name;
                Line {
                    machine: model.machine_name(machine),
                    rule: at + 1,
                    attribute: column
                        .class
                        .as_ref()
                        .map_or(input.clone(), |class| format!("{input} ({class})")),
                    cut: column.restore(rule.cut),
                    below: rule.below,
                    above: rule.above,
                }
            }));
        }
        Ok(RuleTable(lines))
    }

    fn table(&self, digits: Digits) -> Rows {
        let mut rows = Rows::new(["machine", "rule", "attribute", "cut", "at_or_below", "above"]);
        for line in &self.0 {
            rows.push(vec![
                line.machine.clone(),
                line.rule.to_string(),
                line.attribute.clone(),
                digits.show(line.cut),
                digits.show(Some(line.below)),
                digits.show(Some(line.above)),
            ]);
        }
        rows
    }
}

impl Output for RuleTable {
    fn json(&self) -> Result<String> {
        let object = |line: &Line| {
            let mut object = Object::default();
            object.put("machine", &line.machine).put("rule", line.rule);
            object.put("attribute", &line.attribute).put("cut", line.cut);
            object.put("at_or_below", line.below).put("above", line.above);
            object
        };
        Ok(serde_json::to_string_pretty(&self.0.iter().map(object).collect::<Vec<_>>())?)
    }

    fn csv(&self) -> Rows {
        self.table(Digits::All)
    }

    fn text(&self, _: Style) -> String {
        self.table(Digits::Few(6)).to_string()
    }
}
