//! Counts the edges that should stand in both directions and do not.

use rayon::prelude::*;

use crate::graph::Triple;

/// How many edges lack the edge back: (h, 2i, t) needs (t, 2i + 1, h).
pub(super) fn without_mate(edges: &[Triple]) -> usize {
    // Both directions of an edge have the same first part and so stand side by side once sorted.
    let mut directed: Vec<(Triple, bool)> = edges
        .par_iter()
        .map(|&Triple { head, relation, tail }| {
            let backwards = relation.0 % 2 == 1;
            let (from, to) = if backwards { (tail, head) } else { (head, tail) };
            (Triple::new(from.0, relation.0 / 2, to.0), backwards)
        })
        .collect();
    directed.par_sort_unstable();
    directed.dedup();
    directed.chunk_by(|a, b| a.0 == b.0).filter(|directions| directions.len() == 1).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_without_the_edge_back_is_counted_once() {
        let edges = [(0, 0, 1), (1, 1, 0), (0, 2, 1), (5, 3, 5), (5, 3, 5), (5, 2, 5), (7, 1, 8)];
        let edges = edges.map(|(h, r, t)| Triple::new(h, r, t));
        assert_eq!(without_mate(&edges), 2);
    }
}
