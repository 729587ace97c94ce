//! One block of bags through a network: forward to outputs, backward to the slopes of all parameters.
//!
//! Every layer is a product of matrices with a row for each instance of the block. The first layer reads instances as they are
//! stored: dense rows are copied into the precision of the pass, sparse rows add up the rows of `W` that they name.

use std::cell::RefCell;
use std::ops::Range;

use bagwise_core::{Bags, Csr, Instances, Result};

use super::real::{NetworkFloat, Strided, multiply, sigmoid_all, tanh_all};
use super::{Activation, DenseLayer, InstanceShares, NetworkShape, ParameterLayout, Pooling};

/// Rows of instances that are copied at a time: bags larger than this pass piece by piece.
const PIECE: usize = 2048;

/// A network in the precision of the pass.
pub(super) struct NetworkPass<'a, T> {
    shape: &'a NetworkShape,
    layout: ParameterLayout,
    parameters: Vec<T>,
    bags: &'a Bags,
}

/// What a pass forward leaves behind.
pub(super) struct Forward<T> {
    /// The bags of the block.
    list: Vec<usize>,
    /// Where the rows of each bag start in the block, and the end.
    bounds: Vec<usize>,
    /// Dense instances, if the block is one piece.
    rows: RefCell<Vec<T>>,
    /// What each layer gives, rows x units.
    layers: Vec<Vec<T>>,
    /// The tangents of the attention, and its gates.
    tangents: Vec<T>,
    gates: Vec<T>,
    /// The share of each row in its bag, where pooling is a weighted sum.
    shares: Vec<f64>,
    /// For each bag and coordinate (or for each bag) the row that is largest.
    winners: Vec<usize>,
    /// Bags x units.
    pooled: Vec<f64>,
    /// One per bag.
    pub(super) outputs: Vec<f64>,
}

impl<'a, T: NetworkFloat> NetworkPass<'a, T> {
    pub(super) fn new(shape: &'a NetworkShape, parameters: &[f64], bags: &'a Bags) -> NetworkPass<'a, T> {
        let layout = shape.layout();
        assert_eq!(parameters.len(), layout.bias + 1, "the parameters of this shape");
        assert_eq!(bags.width(), shape.inputs, "the columns of this network");
        let parameters = parameters.iter().map(|&p| T::from_f64(p)).collect();
        NetworkPass { shape, layout, parameters, bags }
    }

    pub(super) fn forward(&self, list: &[usize]) -> Result<Forward<T>> {
        let mut bounds = vec![0];
        for &bag in list {
            bounds.push(bounds[bounds.len() - 1] + self.bags.rows(bag).len());
        }
        let rows = bounds[list.len()];
        let mut forward = Forward {
            list: list.to_vec(),
            bounds,
            rows: RefCell::default(),
            layers: Vec::with_capacity(self.layout.layers.len()),
            tangents: Vec::new(),
            gates: Vec::new(),
            shares: Vec::new(),
            winners: Vec::new(),
            pooled: Vec::new(),
            outputs: Vec::with_capacity(list.len()),
        };
        for (l, layer) in self.layout.layers.iter().enumerate() {
            let mut units = self.biases(layer, rows);
            if l == 0 {
                self.first_layer(&forward, layer, &mut units)?;
            } else {
                let before = Strided::new(&forward.layers[l - 1], rows, layer.inputs);
                multiply(before, self.weights(layer), true, &mut units);
            }
            match self.shape.activation {
                Activation::Relu => units.iter_mut().for_each(|u| {
                    if *u <= T::default() {
                        *u = T::default();
                    }
                }),
                Activation::Tanh => tanh_all(&mut units),
                Activation::Sigmoid => sigmoid_all(&mut units),
            }
            forward.layers.push(units);
        }
        self.pool(&mut forward);
        Ok(forward)
    }

    fn weights(&self, layer: &DenseLayer) -> Strided<'_, T> {
        Strided::new(&self.parameters[layer.weights.clone()], layer.inputs, layer.outputs)
    }

    /// A row of biases for each row.
    fn biases(&self, layer: &DenseLayer, rows: usize) -> Vec<T> {
        self.parameters[layer.biases.clone()].repeat(rows)
    }

    /// Adds `X W` to the units.
    fn first_layer(&self, forward: &Forward<T>, layer: &DenseLayer, units: &mut [T]) -> Result<()> {
        if let Instances::Sparse(csr) = self.bags.instances() {
            let weights = &self.parameters[layer.weights.clone()];
            self.each_sparse(csr, forward, |row, columns, values| {
                let own = &mut units[row * layer.outputs..][..layer.outputs];
                for (&c, &v) in columns.iter().zip(values) {
                    let (v, of_column) =
                        (T::from_f64(v), &weights[c as usize * layer.outputs..][..layer.outputs]);
                    own.iter_mut().zip(of_column).for_each(|(u, &w)| *u += v * w);
                }
            });
            return Ok(());
        }
        self.each_piece(forward, |rows, x| {
            let own = &mut units[rows.start * layer.outputs..rows.end * layer.outputs];
            multiply(Strided::new(x, rows.len(), layer.inputs), self.weights(layer), true, own);
        })
    }

    fn each_sparse(&self, csr: &Csr, forward: &Forward<T>, mut f: impl FnMut(usize, &[u32], &[f64])) {
        let rows = forward.list.iter().flat_map(|&bag| self.bags.rows(bag));
        for (at, row) in rows.enumerate() {
            let (columns, values) = csr.row(row);
            f(at, columns, values);
        }
    }

    /// Calls `f` with the dense instances of the block, piece after piece. A block of one piece is copied once for both passes.
    fn each_piece(&self, forward: &Forward<T>, mut f: impl FnMut(Range<usize>, &[T])) -> Result<()> {
        let (total, width) = (forward.bounds[forward.list.len()], self.shape.inputs);
        let mut held = forward.rows.borrow_mut();
        if total <= PIECE {
            if held.is_empty() {
                *held = vec![T::default(); total * width];
                for (b, &bag) in forward.list.iter().enumerate() {
                    let place = forward.bounds[b] * width..forward.bounds[b + 1] * width;
                    T::rows_into(self.bags.instances(), self.bags.rows(bag), &mut held[place])?;
                }
            }
            f(0..total, &held);
            return Ok(());
        }
        held.resize(PIECE * width, T::default());
        for (b, &bag) in forward.list.iter().enumerate() {
            let rows = self.bags.rows(bag);
            for first in rows.clone().step_by(PIECE) {
                let piece = first..rows.end.min(first + PIECE);
                let own = &mut held[..piece.len() * width];
                T::rows_into(self.bags.instances(), piece.clone(), own)?;
                let at = forward.bounds[b] + first - rows.start;
                f(at..at + piece.len(), own);
            }
        }
        Ok(())
    }

    fn pool(&self, forward: &mut Forward<T>) {
        let width = self.shape.top();
        let units = forward.layers.last().expect("a network has a layer");
        let bags = forward.list.len();
        let rows = forward.bounds[bags];
        let unit = |row: usize, k: usize| units[row * width + k].to_f64();
        let last: Vec<f64> = self.parameters[self.layout.last.clone()].iter().map(|w| w.to_f64()).collect();
        let bias = self.parameters[self.layout.bias].to_f64();
        let bag = |b: usize| forward.bounds[b]..forward.bounds[b + 1];
        if self.shape.pooling == Pooling::Instance {
            for b in 0..bags {
                let of_row = |row: usize| bias + (0..width).map(|k| last[k] * unit(row, k)).sum::<f64>();
                let best = largest(bag(b), of_row);
                forward.winners.push(best);
                forward.outputs.push(of_row(best));
            }
            return;
        }
        forward.pooled = vec![0.0; bags * width];
        if let Some((inside, gate, sum)) = &self.layout.attention {
            let of_instances = Strided::new(units, rows, width);
            forward.tangents = self.biases(inside, rows);
            multiply(of_instances, self.weights(inside), true, &mut forward.tangents);
            tanh_all(&mut forward.tangents);
            if let Some(gate) = gate {
                forward.gates = self.biases(gate, rows);
                multiply(of_instances, self.weights(gate), true, &mut forward.gates);
                sigmoid_all(&mut forward.gates);
            }
            let sum = &self.parameters[sum.clone()];
            let energy = |row: usize| {
                let at = row * sum.len()..(row + 1) * sum.len();
                let tangents = sum.iter().zip(&forward.tangents[at.clone()]);
                match gate {
                    None => tangents.map(|(a, t)| a.to_f64() * t.to_f64()).sum::<f64>(),
                    Some(_) => (tangents.zip(&forward.gates[at]))
                        .map(|((a, t), g)| a.to_f64() * t.to_f64() * g.to_f64())
                        .sum(),
                }
            };
            forward.shares = (0..rows).map(energy).collect();
            for b in 0..bags {
                softmax(&mut forward.shares[forward.bounds[b]..forward.bounds[b + 1]]);
            }
        } else if self.shape.pooling == Pooling::Mean {
            forward.shares = (0..bags).flat_map(|b| bag(b).map(move |_| 1.0 / bag(b).len() as f64)).collect();
        }
        for b in 0..bags {
            let pooled = &mut forward.pooled[b * width..(b + 1) * width];
            match self.shape.pooling {
                Pooling::Max => {
                    for k in 0..width {
                        let best = largest(bag(b), |row| unit(row, k));
                        forward.winners.push(best);
                        pooled[k] = unit(best, k);
                    }
                }
                Pooling::LogSumExp => {
                    for k in 0..width {
                        let most = unit(largest(bag(b), |row| unit(row, k)), k);
                        let sum: f64 = bag(b).map(|row| (unit(row, k) - most).exp()).sum();
                        pooled[k] = most + (sum / bag(b).len() as f64).ln();
                    }
                }
                _ => {
                    for row in bag(b) {
                        let (share, own) = (forward.shares[row], &units[row * width..(row + 1) * width]);
                        pooled.iter_mut().zip(own).for_each(|(z, h)| *z += share * h.to_f64());
                    }
                }
            }
            forward.outputs.push(bias + last.iter().zip(&*pooled).map(|(w, z)| w * z).sum::<f64>());
        }
    }

    /// Adds to the gradient what the slopes of the outputs make of it.
    pub(super) fn backward(&self, forward: &Forward<T>, slopes: &[f64], gradient: &mut [T]) -> Result<()> {
        let rows = forward.bounds[forward.list.len()];
        let mut above = self.slopes_of_units(forward, slopes, gradient);
        for (l, layer) in self.layout.layers.iter().enumerate().rev() {
            let units = &forward.layers[l];
            let one = T::from_f64(1.0);
            match self.shape.activation {
                Activation::Relu => above.iter_mut().zip(units).for_each(|(s, &u)| {
                    if u <= T::default() {
                        *s = T::default();
                    }
                }),
                Activation::Tanh => above.iter_mut().zip(units).for_each(|(s, &u)| *s = *s * (one - u * u)),
                Activation::Sigmoid => {
                    above.iter_mut().zip(units).for_each(|(s, &u)| *s = *s * u * (one - u));
                }
            }
            add_columns(&above, &mut gradient[layer.biases.clone()]);
            let slopes = Strided::new(&above, rows, layer.outputs);
            if l > 0 {
                let before = Strided::new(&forward.layers[l - 1], rows, layer.inputs);
                multiply(before.t(), slopes, true, &mut gradient[layer.weights.clone()]);
                let mut below = vec![T::default(); rows * layer.inputs];
                multiply(slopes, self.weights(layer).t(), false, &mut below);
                above = below;
            } else {
                self.first_slopes(forward, layer, &above, &mut gradient[layer.weights.clone()])?;
            }
        }
        Ok(())
    }

    /// Adds `X' slopes` to the slopes of the first layer's weights.
    fn first_slopes(
        &self,
        forward: &Forward<T>,
        layer: &DenseLayer,
        slopes: &[T],
        gradient: &mut [T],
    ) -> Result<()> {
        if let Instances::Sparse(csr) = self.bags.instances() {
            self.each_sparse(csr, forward, |row, columns, values| {
                let own = &slopes[row * layer.outputs..][..layer.outputs];
                for (&c, &v) in columns.iter().zip(values) {
                    let (v, of_column) =
                        (T::from_f64(v), &mut gradient[c as usize * layer.outputs..][..layer.outputs]);
                    of_column.iter_mut().zip(own).for_each(|(g, &s)| *g += v * s);
                }
            });
            return Ok(());
        }
        self.each_piece(forward, |rows, x| {
            let own = &slopes[rows.start * layer.outputs..rows.end * layer.outputs];
            let x = Strided::new(x, rows.len(), layer.inputs);
            multiply(x.t(), Strided::new(own, rows.len(), layer.outputs), true, gradient);
        })
    }

    /// The slopes of the last layer's units, after those of all that follows it went to the gradient.
    fn slopes_of_units(&self, forward: &Forward<T>, slopes: &[f64], gradient: &mut [T]) -> Vec<T> {
        let width = self.shape.top();
        let units = forward.layers.last().expect("a network has a layer");
        let rows = forward.bounds[slopes.len()];
        let last = &self.parameters[self.layout.last.clone()];
        gradient[self.layout.bias] += T::from_f64(slopes.iter().sum());
        let mut above = vec![T::default(); rows * width];
        let mut energies = vec![T::default(); if self.shape.pooling.attends() { rows } else { 0 }];
        for (b, &slope) in slopes.iter().enumerate() {
            let bag = forward.bounds[b]..forward.bounds[b + 1];
            let of_last = &mut gradient[self.layout.last.clone()];
            if self.shape.pooling == Pooling::Instance {
                let at = forward.winners[b] * width..(forward.winners[b] + 1) * width;
                let slope = T::from_f64(slope);
                of_last.iter_mut().zip(&units[at.clone()]).for_each(|(g, &h)| *g += slope * h);
                above[at].iter_mut().zip(last).for_each(|(a, &w)| *a = slope * w);
                continue;
            }
            let pooled = &forward.pooled[b * width..(b + 1) * width];
            of_last.iter_mut().zip(pooled).for_each(|(g, z)| *g += T::from_f64(slope * z));
            let of_pooled: Vec<f64> = last.iter().map(|w| slope * w.to_f64()).collect();
            match self.shape.pooling {
                Pooling::Max => {
                    for k in 0..width {
                        let row = forward.winners[b * width + k];
                        above[row * width + k] = T::from_f64(of_pooled[k]);
                    }
                }
                Pooling::LogSumExp => {
                    for row in bag.clone() {
                        for k in 0..width {
                            // exp(h - z) is m times the share of the instance in the sum.
                            let share =
                                (units[row * width + k].to_f64() - pooled[k]).exp() / bag.len() as f64;
                            above[row * width + k] = T::from_f64(of_pooled[k] * share);
                        }
                    }
                }
                _ => {
                    let towards = |h: &mut dyn Iterator<Item = f64>| -> f64 {
                        h.zip(&of_pooled).map(|(h, s)| h * s).sum()
                    };
                    let mean = towards(&mut pooled.iter().copied());
                    for row in bag {
                        let (share, at) = (forward.shares[row], row * width..(row + 1) * width);
                        if let Some(energy) = energies.get_mut(row) {
                            let own = towards(&mut units[at.clone()].iter().map(|h| h.to_f64()));
                            *energy = T::from_f64(share * (own - mean));
                        }
                        above[at].iter_mut().zip(&of_pooled).for_each(|(a, s)| *a = T::from_f64(share * s));
                    }
                }
            }
        }
        if let Some((inside, gate, sum)) = &self.layout.attention {
            self.through_attention(forward, &energies, (inside, gate.as_ref(), sum), gradient, &mut above);
        }
        above
    }

    fn through_attention(
        &self,
        forward: &Forward<T>,
        energies: &[T],
        (inside, gate, sum): (&DenseLayer, Option<&DenseLayer>, &Range<usize>),
        gradient: &mut [T],
        above: &mut [T],
    ) {
        let (one, size) = (T::from_f64(1.0), self.shape.attention);
        let by = &self.parameters[sum.clone()];
        let mut of_tangents = vec![T::default(); energies.len() * size];
        let mut of_gates = vec![T::default(); if gate.is_some() { of_tangents.len() } else { 0 }];
        for (row, &energy) in energies.iter().enumerate() {
            for k in 0..size {
                let at = row * size + k;
                let tangent = forward.tangents[at];
                let open = if gate.is_some() { forward.gates[at] } else { one };
                gradient[sum.start + k] += energy * tangent * open;
                let slope = energy * by[k];
                of_tangents[at] = slope * open * (one - tangent * tangent);
                if gate.is_some() {
                    of_gates[at] = slope * tangent * open * (one - open);
                }
            }
        }
        let units = forward.layers.last().expect("a network has a layer");
        for (layer, slopes) in [(Some(inside), of_tangents), (gate, of_gates)] {
            let Some(layer) = layer else { continue };
            add_columns(&slopes, &mut gradient[layer.biases.clone()]);
            let slopes = Strided::new(&slopes, energies.len(), size);
            let before = Strided::new(units, energies.len(), layer.inputs);
            multiply(before.t(), slopes, true, &mut gradient[layer.weights.clone()]);
            multiply(slopes, self.weights(layer).t(), true, above);
        }
    }

    /// What the instances of each bag add to its output, or say.
    pub(super) fn shares(&self, list: &[usize]) -> Result<Vec<InstanceShares>> {
        let forward = self.forward(list)?;
        let width = self.shape.top();
        let units = forward.layers.last().expect("a network has a layer");
        let last = &self.parameters[self.layout.last.clone()];
        let bias = self.parameters[self.layout.bias].to_f64();
        let votes = |row: usize| -> f64 {
            let own = &units[row * width..(row + 1) * width];
            last.iter().zip(own).map(|(w, h)| w.to_f64() * h.to_f64()).sum()
        };
        let one = |b: usize| {
            let bag = forward.bounds[b]..forward.bounds[b + 1];
            let mut own = InstanceShares { parts: Vec::new(), bias, attention: Vec::new(), chosen: None };
            match self.shape.pooling {
                Pooling::Instance => {
                    own.parts = bag.clone().map(|row| bias + votes(row)).collect();
                    own.chosen = Some(forward.winners[b] - bag.start);
                    own.bias = 0.0;
                }
                Pooling::Max => {
                    own.parts = vec![0.0; bag.len()];
                    for k in 0..width {
                        let row = forward.winners[b * width + k];
                        own.parts[row - bag.start] += last[k].to_f64() * units[row * width + k].to_f64();
                    }
                }
                Pooling::LogSumExp => panic!("the instances of a log-sum-exp have no parts"),
                Pooling::Attention | Pooling::Gated | Pooling::Mean => {
                    let shares = &forward.shares[bag.clone()];
                    own.parts = bag.zip(shares).map(|(row, share)| share * votes(row)).collect();
                    if self.shape.pooling.attends() {
                        own.attention = shares.to_vec();
                    }
                }
            }
            own
        };
        Ok((0..list.len()).map(one).collect())
    }
}

/// The row with the largest value, the first of equals.
fn largest(rows: Range<usize>, value: impl Fn(usize) -> f64) -> usize {
    let mut best = (rows.start, value(rows.start));
    for row in rows.skip(1) {
        let found = value(row);
        if found > best.1 {
            best = (row, found);
        }
    }
    best.0
}

/// Turns values into shares of 1, in place; the largest is taken out first, so that nothing overflows.
fn softmax(values: &mut [f64]) {
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    values.iter_mut().for_each(|v| *v = (*v - most).exp());
    let sum: f64 = values.iter().sum();
    values.iter_mut().for_each(|v| *v /= sum);
}

/// Adds every row to a sum.
fn add_columns<T: NetworkFloat>(rows: &[T], sum: &mut [T]) {
    for row in rows.chunks_exact(sum.len()) {
        sum.iter_mut().zip(row).for_each(|(s, &v)| *s += v);
    }
}
