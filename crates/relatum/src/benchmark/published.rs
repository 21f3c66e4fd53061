//! What others have reported, to stand beside our own figures.

use super::QuerySet;
use crate::graph::Graph;

/// The query types of the published tables, in their order.
pub const PUBLISHED_TYPES: [&str; 9] = ["1p", "2p", "3p", "2i", "3i", "ip", "pi", "2u", "up"];

/// The types that `BetaE` folders have besides: with a negation.
const NEGATED: [&str; 5] = ["2in", "3in", "inp", "pin", "pni"];

/// One row of a published table: Hits@3 on the test queries of Query2Box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// The system.
    pub system: &'static str,
    /// Its embedding size; `None` if it was not published.
    pub rank: Option<u32>,
    /// Hits@3 of each of [`PUBLISHED_TYPES`].
    pub hits_at_3: [f64; 9],
}

impl Published {
    /// The mean over the nine types.
    pub fn mean(&self) -> f64 {
        self.hits_at_3.iter().sum::<f64>() / 9.0
    }

    /// Hits@3 of a type.
    pub fn of_type(&self, shape: &str) -> Option<f64> {
        PUBLISHED_TYPES.iter().position(|other| *other == shape).map(|at| self.hits_at_3[at])
    }
}

/// A dataset of the literature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dataset {
    /// Its name.
    pub name: &'static str,
    entities: usize,
    relations: usize,
    /// How many 1p queries its Query2Box folder has, and of every other type, for validation and for test.
    queries: [[usize; 2]; 2],
    /// What was published for its Query2Box test queries.
    pub rows: &'static [Published],
    /// CQD-Beam at rank 1000 in the paper's table of main results, some cells of which differ from those in its
    /// table by rank.
    pub main_beam: Published,
}

impl Dataset {
    /// The dataset whose published figures are about these queries. It is recognised by its numbers of entities,
    /// relations (where every relation counts twice, with its inverse, as in the Query2Box files) and queries.
    ///
    /// `None` for other queries about the same graph, such as sampled ones, or those of a `BetaE` folder, which are as
    /// many but have types with negation among them: their figures cannot be compared.
    pub fn of(graph: &Graph, valid: Option<&QuerySet>, test: Option<&QuerySet>) -> Option<&'static Self> {
        let counts = (graph.entities.len(), graph.relations.len());
        let dataset = DATASETS.iter().find(|dataset| (dataset.entities, dataset.relations) == counts)?;
        let published = |queries: Option<&QuerySet>, [single, other]: [usize; 2]| {
            queries.iter().flat_map(|queries| &queries.groups).all(|group| {
                let shape = group.shape.as_str();
                let there = if shape == "1p" { single } else { other };
                !NEGATED.contains(&shape) && (!PUBLISHED_TYPES.contains(&shape) || group.len() == there)
            })
        };
        let all = published(valid, dataset.queries[0]) && published(test, dataset.queries[1]);
        all.then_some(dataset)
    }

    /// The dataset of a name, such as `FB15k-237`.
    pub fn named(name: &str) -> Option<&'static Self> {
        DATASETS.iter().find(|dataset| dataset.name == name)
    }

    /// The row of a system at a rank.
    pub fn row(&self, system: &str, rank: usize) -> Option<&'static Published> {
        let of_rank = |row: &&Published| row.rank.is_some_and(|own| own as usize == rank);
        self.rows.iter().filter(|row| row.system == system).find(of_rank)
    }
}

const fn row(system: &'static str, rank: Option<u32>, hits_at_3: [f64; 9]) -> Published {
    Published { system, rank, hits_at_3 }
}

// The main results: table 2; GQE, Query2Box, CQD-CO and CQD-Beam by rank: appendix A of "Complex Query Answering with Neural
// Link Predictors" (ICLR 2021); DistMult: its appendix C; the port: the authors' later code, in
// which ip joins its branches and up its union.
#[rustfmt::skip]
#[allow(clippy::approx_constant, reason = "a share of hits, not 1/π")]
const DATASETS: [Dataset; 3] = [
    Dataset { name: "FB15k-237", entities: 14_505, relations: 474, queries: [[20_101, 5_000], [22_812, 5_000]], rows: &[
        row("GQE", Some(800), [0.405, 0.213, 0.153, 0.298, 0.411, 0.085, 0.182, 0.167, 0.160]),
        row("Query2Box", Some(400), [0.467, 0.240, 0.186, 0.324, 0.453, 0.108, 0.205, 0.239, 0.193]),
        row("CQD-CO", Some(100), [0.493, 0.162, 0.076, 0.311, 0.415, 0.118, 0.199, 0.238, 0.073]),
        row("CQD-CO", Some(200), [0.500, 0.187, 0.092, 0.329, 0.439, 0.128, 0.204, 0.254, 0.103]),
        row("CQD-CO", Some(500), [0.508, 0.210, 0.123, 0.346, 0.454, 0.142, 0.216, 0.273, 0.119]),
        row("CQD-CO", Some(1000), [0.512, 0.213, 0.131, 0.352, 0.457, 0.146, 0.222, 0.281, 0.132]),
        row("CQD-Beam", Some(100), [0.493, 0.256, 0.207, 0.311, 0.415, 0.119, 0.234, 0.254, 0.121]),
        row("CQD-Beam", Some(200), [0.500, 0.272, 0.216, 0.329, 0.439, 0.122, 0.244, 0.264, 0.127]),
        row("CQD-Beam", Some(500), [0.508, 0.280, 0.216, 0.346, 0.454, 0.127, 0.257, 0.280, 0.128]),
        row("CQD-Beam", Some(1000), [0.512, 0.279, 0.219, 0.352, 0.457, 0.129, 0.249, 0.284, 0.128]),
        row("CQD-Beam, DistMult", Some(1000), [0.485, 0.277, 0.210, 0.332, 0.443, 0.117, 0.224, 0.281, 0.123]),
        row("CQD-Beam, authors' port", Some(1000), [0.512, 0.287, 0.200, 0.377, 0.489, 0.182, 0.268, 0.324, 0.225]),
    ], main_beam: row("CQD-Beam", Some(1000), [0.512, 0.288, 0.221, 0.352, 0.457, 0.129, 0.249, 0.284, 0.121]) },
    Dataset { name: "NELL995", entities: 63_361, relations: 400, queries: [[16_927, 4_000], [17_034, 4_000]], rows: &[
        row("GQE", Some(800), [0.417, 0.231, 0.203, 0.318, 0.454, 0.081, 0.188, 0.200, 0.139]),
        row("Query2Box", Some(400), [0.555, 0.266, 0.233, 0.343, 0.480, 0.132, 0.212, 0.369, 0.163]),
        row("CQD-CO", Some(100), [0.647, 0.234, 0.145, 0.389, 0.508, 0.165, 0.283, 0.465, 0.126]),
        row("CQD-CO", Some(200), [0.658, 0.238, 0.164, 0.401, 0.524, 0.172, 0.282, 0.502, 0.148]),
        row("CQD-CO", Some(500), [0.665, 0.261, 0.208, 0.406, 0.525, 0.187, 0.293, 0.523, 0.171]),
        row("CQD-CO", Some(1000), [0.667, 0.265, 0.220, 0.410, 0.529, 0.196, 0.302, 0.531, 0.194]),
        row("CQD-Beam", Some(100), [0.647, 0.333, 0.296, 0.389, 0.508, 0.160, 0.293, 0.469, 0.150]),
        row("CQD-Beam", Some(200), [0.658, 0.335, 0.292, 0.401, 0.524, 0.162, 0.290, 0.508, 0.146]),
        row("CQD-Beam", Some(500), [0.665, 0.348, 0.296, 0.406, 0.525, 0.166, 0.291, 0.527, 0.149]),
        row("CQD-Beam", Some(1000), [0.667, 0.343, 0.297, 0.410, 0.529, 0.168, 0.283, 0.536, 0.157]),
        row("CQD-Beam, DistMult", Some(1000), [0.642, 0.348, 0.297, 0.392, 0.517, 0.160, 0.260, 0.502, 0.169]),
        row("CQD-Beam, authors' port", Some(1000), [0.663, 0.351, 0.264, 0.423, 0.539, 0.234, 0.315, 0.541, 0.290]),
    ], main_beam: row("CQD-Beam", Some(1000), [0.667, 0.350, 0.288, 0.410, 0.529, 0.171, 0.277, 0.531, 0.156]) },
    Dataset { name: "FB15k", entities: 14_951, relations: 2_690, queries: [[59_097, 8_000], [67_016, 8_000]], rows: &[
        row("GQE", Some(800), [0.630, 0.346, 0.250, 0.515, 0.611, 0.153, 0.320, 0.362, 0.271]),
        row("Query2Box", Some(400), [0.786, 0.413, 0.303, 0.593, 0.712, 0.211, 0.397, 0.608, 0.330]),
        row("CQD-CO", Some(100), [0.893, 0.162, 0.076, 0.773, 0.818, 0.118, 0.344, 0.493, 0.073]),
        row("CQD-CO", Some(200), [0.906, 0.257, 0.092, 0.785, 0.828, 0.210, 0.426, 0.753, 0.110]),
        row("CQD-CO", Some(500), [0.912, 0.345, 0.123, 0.772, 0.817, 0.257, 0.454, 0.795, 0.206]),
        row("CQD-CO", Some(1000), [0.918, 0.454, 0.191, 0.796, 0.837, 0.336, 0.513, 0.816, 0.319]),
        row("CQD-Beam", Some(100), [0.893, 0.746, 0.557, 0.773, 0.818, 0.357, 0.669, 0.689, 0.313]),
        row("CQD-Beam", Some(200), [0.906, 0.770, 0.585, 0.785, 0.828, 0.373, 0.679, 0.815, 0.357]),
        row("CQD-Beam", Some(500), [0.912, 0.759, 0.580, 0.772, 0.817, 0.372, 0.650, 0.831, 0.351]),
        row("CQD-Beam", Some(1000), [0.918, 0.779, 0.584, 0.796, 0.837, 0.377, 0.658, 0.839, 0.355]),
        row("CQD-Beam, DistMult", Some(1000), [0.869, 0.761, 0.581, 0.778, 0.824, 0.369, 0.608, 0.822, 0.355]),
        row("CQD-Beam, authors' port", Some(1000), [0.916, 0.791, 0.459, 0.789, 0.837, 0.649, 0.682, 0.854, 0.709]),
    ], main_beam: row("CQD-Beam", Some(1000), [0.918, 0.779, 0.577, 0.796, 0.837, 0.375, 0.658, 0.839, 0.345]) },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::QueryGroup;
    use crate::graph::GraphBuilder;

    #[test]
    fn published_figures_stand_beside_the_published_queries_alone() {
        let mut builder = GraphBuilder::default();
        (0..14_505).for_each(|id| _ = builder.entity(&format!("e{id}")));
        (0..474).for_each(|id| _ = builder.relation(&format!("r{id}")));
        let graph = builder.finish().0;
        let set = |groups: &[(&str, usize)]| QuerySet {
            groups: groups
                .iter()
                .map(|&(shape, queries)| QueryGroup {
                    shape: shape.to_owned(),
                    arity: 1,
                    arguments: vec![0; queries].into(),
                    ..QueryGroup::default()
                })
                .collect(),
        };
        let name = |valid: &QuerySet, test: &QuerySet| {
            let test = Some(test).filter(|test| !test.is_empty());
            Dataset::of(&graph, Some(valid), test).map(|it| it.name)
        };
        let (valid, test) = (set(&[("1p", 20_101), ("2p", 5_000)]), set(&[("1p", 22_812), ("3i", 5_000)]));
        assert_eq!(name(&valid, &test), Some("FB15k-237"));
        assert_eq!(name(&valid, &QuerySet::default()), Some("FB15k-237"), "older folders have no test files");
        let longer = set(&[("1p", 22_812), ("4p", 1_000)]);
        assert_eq!(name(&valid, &longer), Some("FB15k-237"), "other types beside the published ones");
        assert_eq!(name(&valid, &set(&[("2p", 1_000)])), None, "sampled");
        assert_eq!(name(&valid, &set(&[("2p", 5_000), ("2in", 5_000)])), None, "BetaE");
    }

    #[test]
    fn the_means_are_those_that_were_published() {
        let mean = |dataset: usize, system: &str, rank| {
            let rows = DATASETS[dataset].rows.iter();
            let row = rows.into_iter().find(|row| row.system == system && row.rank == Some(rank)).unwrap();
            format!("{:.3}", row.mean())
        };
        assert_eq!(mean(0, "CQD-CO", 1000), "0.272");
        assert_eq!(mean(0, "CQD-Beam", 1000), "0.290");
        assert_eq!(mean(0, "CQD-Beam", 100), "0.268");
        assert_eq!(mean(0, "CQD-Beam, authors' port", 1000), "0.318");
        assert_eq!(mean(1, "CQD-Beam", 1000), "0.377", "its text says .375");
        assert_eq!(mean(2, "Query2Box", 400), "0.484");
        for (dataset, published) in [("FB15k", "0.680"), ("FB15k-237", "0.290"), ("NELL995", "0.375")] {
            let dataset = Dataset::named(dataset).unwrap();
            assert_eq!(format!("{:.3}", dataset.main_beam.mean()), published);
            // The two tables of the paper agree where there is no variable to choose values for.
            let by_rank = dataset.row("CQD-Beam", 1000).unwrap();
            for shape in ["1p", "2i", "3i"] {
                assert_eq!(dataset.main_beam.of_type(shape), by_rank.of_type(shape));
            }
        }
    }
}
