//! Sums of exponentials that do not depend on who adds them up.

use super::SourceError;

/// Sums of exponentials over blocks of candidates, added up along one fixed binary tree.
///
/// Floating-point addition is not associative, so that sums of shards would depend on where the shards begin and on
/// which of them is ready first. Here block 2i is always added to block 2i + 1, that pair to the next pair, and so
/// on: whoever has both halves of a node adds them, and the bits are the same whoever that is. What a shard knows are
/// at most two nodes of each height, and nodes that are missing or twice there are noticed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct BlockSums {
    nodes: Vec<Node>,
}

/// The sum over `2^height` blocks, of which the first is block `index · 2^height`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Node {
    pub(super) height: u32,
    pub(super) index: u32,
    /// The largest exponent and the sum of exponentials relative to it.
    pub(super) largest: f64,
    pub(super) sum: f64,
}

impl Node {
    pub(super) fn of_block(index: usize, (largest, sum): (f32, f32)) -> Self {
        Self { height: 0, index: index as u32, largest: f64::from(largest), sum: f64::from(sum) }
    }

    /// The blocks that it is the sum of.
    fn blocks(&self) -> std::ops::Range<u64> {
        let first = u64::from(self.index) << self.height;
        first..first + (1 << self.height)
    }

    /// Two sums as one; `other` is the later one.
    fn plus(self, other: Self) -> Self {
        // Equal ones are not subtracted: of two infinities that is NaN.
        let relative = |from: f64, to: f64| if from < to { (from - to).exp() } else { 1.0 };
        let largest = self.largest.max(other.largest);
        let sum = self.sum * relative(self.largest, largest) + other.sum * relative(other.largest, largest);
        Self { largest, sum, ..self }
    }
}

impl BlockSums {
    /// Adds a node, and whatever it completes; `Err` if one of its blocks is there already.
    pub(super) fn add(&mut self, mut node: Node) -> Result<(), SourceError> {
        let mine = node.blocks();
        let overlaps = |other: &Node| {
            let theirs = other.blocks();
            theirs.start < mine.end && mine.start < theirs.end
        };
        if self.nodes.iter().any(overlaps) {
            return Err(SourceError::Twice { block: mine.start });
        }
        let is_sibling =
            |other: &Node, node: &Node| other.height == node.height && other.index == node.index ^ 1;
        while let Some(at) = self.nodes.iter().position(|other| is_sibling(other, &node)) {
            let other = self.nodes.swap_remove(at);
            let sum = if node.index.is_multiple_of(2) { node.plus(other) } else { other.plus(node) };
            node = Node { height: node.height + 1, index: node.index / 2, ..sum };
        }
        self.nodes.push(node);
        Ok(())
    }

    /// The nodes, in no particular order.
    pub(super) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// `log Σ exp` over so many blocks; the first block that is missing if not all are there.
    pub(super) fn log_sum(mut self, blocks: usize) -> Result<f64, u64> {
        self.nodes.sort_by_key(|node| node.blocks().start);
        let mut next = 0;
        let mut all: Option<Node> = None;
        for node in self.nodes {
            if node.blocks().start != next {
                return Err(next);
            }
            next = node.blocks().end;
            all = Some(all.map_or(node, |before| before.plus(node)));
        }
        if next != blocks as u64 {
            return Err(next.min(blocks as u64));
        }
        Ok(all.map_or(f64::NEG_INFINITY, |all| all.largest + all.sum.ln()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Rng;

    fn blocks(count: usize) -> Vec<Node> {
        let mut rng = Rng::new(5);
        let mut draw = |scale: f64| (rng.normal() * scale) as f32;
        (0..count).map(|index| Node::of_block(index, (draw(10.0), 1.0 + draw(0.2).abs()))).collect()
    }

    #[test]
    fn the_order_and_the_shards_change_no_bit() {
        for count in [1, 2, 3, 7, 8, 61] {
            let all = blocks(count);
            let mut in_order = BlockSums::default();
            for node in &all {
                in_order.add(*node).unwrap();
            }
            let expected = in_order.log_sum(count).unwrap();
            let sum: f64 = all.iter().map(|node| node.largest.exp() * node.sum).sum();
            assert!((expected - sum.ln()).abs() < 1e-9);
            for seed in 0..20 {
                let mut rng = Rng::new(seed);
                let mut shards = [const { Vec::new() }; 3];
                for node in &all {
                    shards[rng.below(3)].push(*node);
                }
                let mut together = BlockSums::default();
                for mut shard in shards {
                    for at in (1..shard.len()).rev() {
                        shard.swap(at, rng.below(at + 1));
                    }
                    let mut sums = BlockSums::default();
                    for node in shard {
                        sums.add(node).unwrap();
                    }
                    sums.nodes().iter().for_each(|node| together.add(*node).unwrap());
                }
                assert_eq!(together.log_sum(count).unwrap().to_bits(), expected.to_bits(), "{count}, {seed}");
            }
        }
    }

    #[test]
    fn a_block_that_is_missing_or_twice_there_is_named() {
        let all = blocks(6);
        let mut sums = BlockSums::default();
        for at in [0, 1, 2, 4, 5] {
            sums.add(all[at]).unwrap();
        }
        assert_eq!(sums.clone().log_sum(6), Err(3));
        assert_eq!(sums.add(all[1]), Err(SourceError::Twice { block: 1 }));
        sums.add(all[3]).unwrap();
        assert_eq!(sums.clone().log_sum(7), Err(6));
        assert!(sums.clone().log_sum(5).is_err());
        assert!(sums.log_sum(6).is_ok());
    }
}
