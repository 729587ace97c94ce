//! Columns that became features, each on its own: numbers, or codes of categories.

use std::collections::HashMap;
use std::sync::Arc;

use super::super::cells::{code, sorted};
use super::super::text::Markers;
use super::Values;
use bagwise_core::{Feature, FeatureKind, Instances, Mat};

/// A column that became a feature.
pub(crate) struct SelectedColumn {
    pub(crate) feature: Feature,
    values: Vec<f64>,
}

impl SelectedColumn {
    /// A feature of categories if it is declared to be one or has texts. `single` says that its numbers were of single
    /// precision.
    pub(crate) fn new(
        name: String,
        column: &Values,
        declared: bool,
        single: bool,
        markers: &Markers,
    ) -> SelectedColumn {
        let number = |i: usize| {
            column.number(i).filter(|v| !(single && markers.is_single(*v as f32))).unwrap_or(f64::NAN)
        };
        if !declared && !matches!(column, Values::Texts { .. }) {
            let values = (0..column.len()).map(number).collect();
            return SelectedColumn { feature: Feature::numeric(name), values };
        }
        let mut codes = HashMap::new();
        let mut values: Vec<f64> = (0..column.len())
            .map(|i| {
                let text = column.text(i);
                let text = text.trim();
                let missing = markers.missing(text.as_bytes()) || single && number(i).is_nan();
                if missing { f64::NAN } else { code(&mut codes, text) }
            })
            .collect();
        let (names, rank) = sorted(&codes);
        values.iter_mut().filter(|v| !v.is_nan()).for_each(|v| *v = rank[*v as usize]);
        let feature = Feature { name, kind: FeatureKind::Categorical { values: names } };
        SelectedColumn { feature, values }
    }

    /// Columns side by side.
    pub(crate) fn join(columns: Vec<SelectedColumn>, rows: usize) -> (Instances, Arc<[Feature]>) {
        let width = columns.len();
        let mut out = Mat::zeros(rows, width);
        let data = out.data_mut();
        for (c, column) in columns.iter().enumerate() {
            data.iter_mut().skip(c).step_by(width).zip(&column.values).for_each(|(to, &from)| *to = from);
        }
        (Instances::F64(out), columns.into_iter().map(|c| c.feature).collect())
    }
}
