//! The concepts of a model as a table: what `bagwise explain --concepts` prints.

use anyhow::Result;
use bagwise::model::Model;

use crate::output::{Digits, Object, Output, Rows, Style};

/// One attribute of one concept.
struct Line {
    machine: String,
    /// Counted from 1 within its machine, most believed first.
    concept: usize,
    /// The class whose bags come near; empty for real values.
    near: String,
    belief: f64,
    log_density: f64,
    attribute: String,
    /// In the units of the data; nothing for categories.
    place: Option<f64>,
    weight: f64,
}

/// All concepts of a model.
pub(crate) struct Concepts(Vec<Line>);

impl Concepts {
    /// The `top` attributes of every concept, those that count most first.
    pub(crate) fn of(model: &Model, top: Option<u32>) -> Result<Concepts> {
        let columns: Vec<_> = model.header.transform.outputs().collect();
        let name = |k: usize| {
            let input = &model.header.features[columns[k].input].name;
            columns[k].class.as_ref().map_or(input.clone(), |class| format!("{input} ({class})"))
        };
        let side = |machine: usize, plus: bool| {
            model.sides(machine).map_or("", |sides| if plus { sides.0 } else { sides.1 }).to_string()
        };
        let mut lines = Vec::new();
        for (machine, concepts) in model.concepts()?.into_iter().enumerate() {
            for (c, believed) in concepts.into_iter().enumerate() {
                let (point, weights) = (&believed.concept.point, &believed.concept.weights);
                let mut order: Vec<usize> = (0..weights.len()).collect();
                order.sort_by(|&a, &b| weights[b].abs().total_cmp(&weights[a].abs()));
                order.truncate(top.map_or(usize::MAX, |top| top as usize));
                lines.extend(order.into_iter().map(|k| Line {
                    machine: model.machine_name(machine),
                    concept: c + 1,
                    near: side(machine, believed.of_plus),
                    belief: believed.belief,
                    log_density: believed.log_density,
                    attribute: name(k),
                    place: columns[k].restore(point[k]),
                    // Only its square counts.
                    weight: weights[k].abs(),
                }));
            }
        }
        Ok(Concepts(lines))
    }

    fn table(&self, digits: Digits) -> Rows {
        let mut rows = Rows::new([
            "machine",
            "concept",
            "near",
            "belief",
            "log_density",
            "attribute",
            "place",
            "weight",
        ]);
        for line in &self.0 {
            rows.push(vec![
                line.machine.clone(),
                line.concept.to_string(),
                line.near.clone(),
                digits.show(Some(line.belief)),
                digits.show(Some(line.log_density)),
                line.attribute.clone(),
                digits.show(line.place),
                digits.show(Some(line.weight)),
            ]);
        }
        rows
    }
}

impl Output for Concepts {
    fn json(&self) -> Result<String> {
        let object = |line: &Line| {
            let mut object = Object::default();
            object.put("machine", &line.machine).put("concept", line.concept);
            object.put("near", &line.near).put("belief", line.belief);
            object.put("log_density", line.log_density).put("attribute", &line.attribute);
            object.put("place", line.place).put("weight", line.weight);
            object
        };
        Ok(serde_json::to_string_pretty(&self.0.iter().map(object).collect::<Vec<_>>())?)
    }

    fn csv(&self) -> Rows {
        self.table(Digits::All)
    }

    fn text(&self, _: Style) -> String {
        self.table(Digits::Few(4)).to_string()
    }
}
