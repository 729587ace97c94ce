//! Networks over bags: layers that see one instance at a time, a pooling that makes one vector of a bag, a weighted sum.
//!
//! With `h_0 = x` an instance becomes `h_l = act(W_l' h_(l-1) + c_l)`, layer after layer, and its bag
//! `f = w'z + b` with `z` the pooled vectors `h` of the last layer; or, where instances are judged one by one,
//! `f = max over instances of (w'h + b)`. [`NetworkShape`] says which; all parameters are one list of numbers, in the order
//! `W_1, c_1, .., V, v, [U, u,] a, w, b`, matrices row after row (a row for each input).
//!
//! Bags pass in blocks of some hundred instances, each a few products of matrices (`pass.rs`), so that memory does not grow with
//! the number of bags. Blocks are cut by the sizes of bags alone and summed in a fixed order: gradients are the same to the bit
//! on any number of threads. Arithmetic is in the precision of the `Ctx`; parameters, gradients and pooled vectors are
//! sums in double precision.

mod adam;
mod pass;
mod real;
#[cfg(test)]
mod tests;

use std::ops::Range;

use bagwise_core::{Bags, Ctx, Precision, Result, Rng};
use rayon::prelude::*;

pub use adam::Adam;
use pass::NetworkPass;
use real::NetworkFloat;

/// Instances of a block: enough for products of matrices to be fast, and a block of 384 single-precision columns is still
/// near when the gradient comes back to it.
const BLOCK_ROWS: usize = 512;
/// Parts of a gradient that threads work on side by side. A fixed number, because sums are taken part by part; more would cost
/// memory (each has a list of all parameters) and help only machines with more threads.
const PARTS: usize = 16;

/// How the instances of a bag become one vector, or one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pooling {
    /// `z = sum p h` with `p = softmax(a' tanh(V'h + v))` over the bag.
    Attention,
    /// The same with `p = softmax(a' (tanh(V'h + v) * sigmoid(U'h + u)))`.
    Gated,
    /// The mean of `h`.
    Mean,
    /// The largest of each coordinate; the first of equals.
    Max,
    /// `log(mean exp h)` of each coordinate.
    LogSumExp,
    /// The largest `w'h + b`; the first of equals.
    Instance,
}

impl Pooling {
    /// Whether instances are weighed by attention.
    pub fn attends(self) -> bool {
        matches!(self, Pooling::Attention | Pooling::Gated)
    }
}

/// What a unit does with its sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// `max(0, x)`.
    Relu,
    /// The hyperbolic tangent.
    Tanh,
    /// `1 / (1 + exp(-x))`.
    Sigmoid,
}

/// The sizes and kinds of a network's parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkShape {
    /// Attributes of an instance.
    pub inputs: usize,
    /// Units of each layer, at least one layer.
    pub widths: Vec<usize>,
    /// Units of the attention, where there is any.
    pub attention: usize,
    /// How bags are made of instances.
    pub pooling: Pooling,
    /// What units do.
    pub activation: Activation,
}

/// Where a layer stands among the parameters.
#[derive(Clone, Debug)]
struct DenseLayer {
    weights: Range<usize>,
    biases: Range<usize>,
    inputs: usize,
    outputs: usize,
}

/// Where everything stands among the parameters.
struct ParameterLayout {
    layers: Vec<DenseLayer>,
    /// The layer inside the tangent, that of the gate, and what they are summed by.
    attention: Option<(DenseLayer, Option<DenseLayer>, Range<usize>)>,
    last: Range<usize>,
    bias: usize,
}

impl NetworkShape {
    fn layout(&self) -> ParameterLayout {
        let mut at = 0;
        let mut take = |count: usize| {
            at += count;
            at - count..at
        };
        let mut dense = |inputs: usize, outputs: usize| DenseLayer {
            weights: take(inputs * outputs),
            biases: take(outputs),
            inputs,
            outputs,
        };
        let mut layers: Vec<DenseLayer> = Vec::new();
        for &width in &self.widths {
            let inputs = layers.last().map_or(self.inputs, |l| l.outputs);
            layers.push(dense(inputs, width));
        }
        let top = self.top();
        let attention = self.pooling.attends().then(|| {
            let inside = dense(top, self.attention);
            let gate = (self.pooling == Pooling::Gated).then(|| dense(top, self.attention));
            (inside, gate)
        });
        let attention = attention.map(|(inside, gate)| (inside, gate, take(self.attention)));
        let last = take(top);
        let bias = take(1).start;
        ParameterLayout { layers, attention, last, bias }
    }

    /// Units of the last layer.
    fn top(&self) -> usize {
        *self.widths.last().expect("a network has a layer")
    }

    /// Number of parameters, or nothing if they are more than can be counted.
    pub fn parameters(&self) -> Option<usize> {
        let dense = |inputs: usize, outputs: usize| inputs.checked_mul(outputs)?.checked_add(outputs);
        let mut sum = 0usize;
        let mut inputs = self.inputs;
        for &width in &self.widths {
            sum = sum.checked_add(dense(inputs, width)?)?;
            inputs = width;
        }
        let gates = usize::from(self.pooling.attends()) + usize::from(self.pooling == Pooling::Gated);
        for _ in 0..gates {
            sum = sum.checked_add(dense(inputs, self.attention)?)?;
        }
        let summed = if self.pooling.attends() { self.attention } else { 0 };
        sum.checked_add(summed)?.checked_add(inputs)?.checked_add(1)
    }

    /// The place of `w` and of `b` among the parameters.
    pub fn output_layer(&self) -> (Range<usize>, usize) {
        let layout = self.layout();
        (layout.last, layout.bias)
    }

    /// Parameters that weight decay applies to: all but the biases.
    pub fn decaying(&self) -> Vec<Range<usize>> {
        let layout = self.layout();
        let mut ranges: Vec<Range<usize>> = layout.layers.iter().map(|l| l.weights.clone()).collect();
        if let Some((inside, gate, sum)) = layout.attention {
            ranges.push(inside.weights);
            ranges.extend(gate.map(|g| g.weights));
            ranges.push(sum);
        }
        ranges.push(layout.last);
        ranges
    }

    /// Glorot's start: uniform within `sqrt(6 / (inputs + outputs))` of 0, biases 0. Each matrix has its own stream.
    pub fn start(&self, seed: u64, restart: u64) -> Vec<f64> {
        let layout = self.layout();
        let mut parameters = vec![0.0; layout.bias + 1];
        let mut matrices: Vec<(Range<usize>, usize, usize)> =
            layout.layers.iter().map(|l| (l.weights.clone(), l.inputs, l.outputs)).collect();
        if let Some((inside, gate, sum)) = layout.attention {
            let dense = [Some(inside), gate].into_iter().flatten();
            matrices.extend(dense.map(|l| (l.weights, l.inputs, l.outputs)));
            matrices.push((sum, self.attention, 1));
        }
        matrices.push((layout.last, self.top(), 1));
        for (layer, (place, inputs, outputs)) in matrices.into_iter().enumerate() {
            let mut rng = Rng::new(seed, "net", &[layer as u64, restart]);
            let limit = (6.0 / (inputs + outputs) as f64).sqrt();
            parameters[place].iter_mut().for_each(|w| *w = limit * (2.0 * rng.uniform() - 1.0));
        }
        parameters
    }

    /// Multiply-adds of a pass forward for an instance with this many values that are not 0.
    pub fn work(&self, values: f64) -> f64 {
        let top = self.top();
        let inner: usize = self.widths.windows(2).map(|w| w[0] * w[1]).sum();
        let gates = usize::from(self.pooling.attends()) + usize::from(self.pooling == Pooling::Gated);
        values * self.widths[0] as f64 + (inner + gates * top * self.attention) as f64
    }

    /// Bytes that the passes of all threads occupy at most, beside the bags: activations and their slopes of the blocks at work,
    /// and the gradients of the parts.
    pub fn pass_bytes(&self, bags: &Bags, threads: usize) -> u64 {
        let largest = bags.offsets().windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0);
        let rows = BLOCK_ROWS + largest;
        let units: usize = 2 * self.widths.iter().sum::<usize>() + 4 * self.attention + self.inputs;
        let parameters = self.parameters().unwrap_or(usize::MAX / 64);
        8 * (threads.min(PARTS) * (rows * units + parameters) + (PARTS + 4) * parameters) as u64
    }
}

/// A loss and its slope.
#[derive(Clone, Debug, PartialEq)]
pub struct LossGradient {
    /// The loss, summed over the bags.
    pub loss: f64,
    /// Its derivative by every parameter.
    pub gradient: Vec<f64>,
}

/// What the instances of a bag add to its output, or say of themselves.
#[derive(Clone, Debug, PartialEq)]
pub struct InstanceShares {
    /// What each adds to the output, which is `bias` plus all of them; where instances are judged one by one, the output of
    /// each.
    pub parts: Vec<f64>,
    /// What belongs to no instance.
    pub bias: f64,
    /// How much each is attended to, in shares of 1; empty without attention.
    pub attention: Vec<f64>,
    /// The instance that decides, where one does.
    pub chosen: Option<usize>,
}

/// The output of each of some bags.
pub fn outputs(
    shape: &NetworkShape,
    parameters: &[f64],
    bags: &Bags,
    list: &[usize],
    ctx: &Ctx,
) -> Result<Vec<f64>> {
    match ctx.precision {
        Precision::F64 => outputs_in::<f64>(shape, parameters, bags, list, ctx),
        Precision::F32 => outputs_in::<f32>(shape, parameters, bags, list, ctx),
    }
}

fn outputs_in<T: NetworkFloat>(
    shape: &NetworkShape,
    parameters: &[f64],
    bags: &Bags,
    list: &[usize],
    ctx: &Ctx,
) -> Result<Vec<f64>> {
    let pass = NetworkPass::<T>::new(shape, parameters, bags);
    in_blocks(bags, list, ctx, |block| Ok(pass.forward(block)?.outputs))
}

/// What the instances of each of some bags add to the output. Nothing can be said of [`Pooling::LogSumExp`].
///
/// # Panics
/// For that pooling.
pub fn shares(
    shape: &NetworkShape,
    parameters: &[f64],
    bags: &Bags,
    list: &[usize],
    ctx: &Ctx,
) -> Result<Vec<InstanceShares>> {
    let pass = NetworkPass::<f64>::new(shape, parameters, bags);
    in_blocks(bags, list, ctx, |block| pass.shares(block))
}

/// What `one` says of each of some bags, taken in blocks on all threads.
fn in_blocks<T: Clone + Send>(
    bags: &Bags,
    list: &[usize],
    ctx: &Ctx,
    one: impl Fn(&[usize]) -> Result<Vec<T>> + Sync,
) -> Result<Vec<T>> {
    let of = |block: Range<usize>| {
        ctx.check()?;
        one(&list[block])
    };
    let found: Vec<Vec<T>> = blocks(bags, list).into_par_iter().map(of).collect::<Result<_>>()?;
    Ok(found.concat())
}

/// The sum over some bags of a loss of their outputs, and its slope. `loss` is given the place of a bag in the list and its output,
/// and answers with the loss and its derivative.
pub fn gradient(
    shape: &NetworkShape,
    parameters: &[f64],
    bags: &Bags,
    list: &[usize],
    loss: &(dyn Fn(usize, f64) -> (f64, f64) + Sync),
    ctx: &Ctx,
) -> Result<LossGradient> {
    match ctx.precision {
        Precision::F64 => gradient_in::<f64>(shape, parameters, bags, list, loss, ctx),
        Precision::F32 => gradient_in::<f32>(shape, parameters, bags, list, loss, ctx),
    }
}

fn gradient_in<T: NetworkFloat>(
    shape: &NetworkShape,
    parameters: &[f64],
    bags: &Bags,
    list: &[usize],
    loss: &(dyn Fn(usize, f64) -> (f64, f64) + Sync),
    ctx: &Ctx,
) -> Result<LossGradient> {
    let pass = NetworkPass::<T>::new(shape, parameters, bags);
    let blocks = blocks(bags, list);
    let parts: Vec<&[Range<usize>]> = blocks.chunks(blocks.len().div_ceil(PARTS).max(1)).collect();
    let of_part = |part: &&[Range<usize>]| -> Result<LossGradient> {
        let mut sum = LossGradient { loss: 0.0, gradient: vec![0.0; parameters.len()] };
        let mut own = vec![T::default(); parameters.len()];
        for block in *part {
            ctx.check()?;
            let forward = pass.forward(&list[block.clone()])?;
            let slopes: Vec<f64> = (block.clone().zip(&forward.outputs))
                .map(|(at, &output)| {
                    let (value, slope) = loss(at, output);
                    sum.loss += value;
                    slope
                })
                .collect();
            own.fill(T::default());
            pass.backward(&forward, &slopes, &mut own)?;
            sum.gradient.iter_mut().zip(&own).for_each(|(s, g)| *s += g.to_f64());
        }
        Ok(sum)
    };
    let mut found = match parts.as_slice() {
        // Small data: a thread pool would take longer than the work.
        [only] => vec![of_part(only)?],
        parts => parts.par_iter().map(of_part).collect::<Result<Vec<_>>>()?,
    }
    .into_iter();
    let mut sum = found.next().unwrap_or(LossGradient { loss: 0.0, gradient: vec![0.0; parameters.len()] });
    for part in found {
        sum.loss += part.loss;
        sum.gradient.iter_mut().zip(&part.gradient).for_each(|(s, g)| *s += g);
    }
    Ok(sum)
}

/// Ranges of a list of bags, each with enough instances; cut by the sizes of the bags alone.
fn blocks(bags: &Bags, list: &[usize]) -> Vec<Range<usize>> {
    let mut blocks = Vec::new();
    let (mut start, mut rows) = (0, 0);
    for (at, &bag) in list.iter().enumerate() {
        rows += bags.rows(bag).len();
        if rows >= BLOCK_ROWS {
            blocks.push(start..at + 1);
            (start, rows) = (at + 1, 0);
        }
    }
    if start < list.len() {
        blocks.push(start..list.len());
    }
    blocks
}
