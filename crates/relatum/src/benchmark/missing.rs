//! How hard a benchmark answer really is: how many links must be predicted to reach it.

use rayon::prelude::*;

use super::queries::QueryGroup;
use super::template::TemplateError;
use crate::graph::{EntityId, Graph, Split};
use crate::model::Reciprocals;
use crate::query::{Limits, NormalForm};
use crate::symbolic::{World, cheapest};

/// For each of the answers, the smallest number of the query's atoms that are not edges of the
/// `known` splits, over all assignments that give this answer and are true with the edges of the
/// `missing` splits added. `None` for an entity that is not an answer even then.
///
/// A three-hop answer of which two hops are stored is one link prediction in disguise: its number
/// is 1. Of a union the easiest alternative counts. Negated atoms are not counted: they are true
/// because edges are absent, and there is nothing to predict.
pub fn missing_links(
    graph: &Graph,
    query: &NormalForm,
    known: &[Split],
    missing: &[Split],
    answers: &[EntityId],
) -> Vec<Option<u8>> {
    let costs = cheapest(query, &World::with_missing(graph, known, missing));
    let cost = |answer: &EntityId| {
        let at = costs.binary_search_by_key(answer, |&(id, _)| id).ok()?;
        Some(costs[at].1)
    };
    answers.iter().map(cost).collect()
}

/// The [`missing_links`] of all hard answers of a group: one row for each query, in the order of its
/// hard answers. `split` is the one that the queries belong to: the edges to be predicted are those
/// of the splits up to it that are not `known`.
///
/// A benchmark that trusts the training graph alone knows `[Train]`, whatever the split. A query that
/// cannot be read (its arguments are outside the graph) has no numbers.
pub fn missing_links_of(
    group: &QueryGroup,
    graph: &Graph,
    split: Split,
    known: &[Split],
) -> Result<Vec<Vec<Option<u8>>>, TemplateError> {
    let template = group.template()?;
    let relations = Reciprocals::of(graph);
    let missing: Vec<Split> =
        Split::ALL.into_iter().filter(|&it| it <= split && !known.contains(&it)).collect();
    let row = |index: usize| {
        let query = template.fill(group.query(index), &relations)?;
        let query = query.normal_form(Limits::default()).ok()?;
        Some(missing_links(graph, &query, known, &missing, group.hard(index)))
    };
    let rows = (0..group.len()).into_par_iter();
    Ok(rows.map(|index| row(index).unwrap_or_else(|| vec![None; group.hard(index).len()])).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::Lists;
    use crate::graph::GraphBuilder;

    #[test]
    fn a_chain_of_three_with_two_known_hops_is_one_missing_link() {
        let mut builder = GraphBuilder::default();
        builder.add(Split::Train, "a", "r", "v");
        builder.add(Split::Valid, "v", "r", "u");
        builder.add(Split::Train, "u", "r", "one");
        builder.add(Split::Test, "u", "r", "two");
        builder.add(Split::Train, "lost", "r", "lost");
        let (graph, _) = builder.finish();
        let hard: Vec<EntityId> = ["one", "two", "lost"].map(|name| graph.entity(name).unwrap()).into();
        let group = QueryGroup {
            shape: "3p".to_owned(),
            skeleton: "('e',('r','r','r'))".to_owned(),
            arity: 4,
            arguments: vec![0, 0, 0, 0].into(),
            easy: [vec![]].iter().collect(),
            hard: std::iter::once(hard).collect::<Lists>(),
        };
        let of = |split, known: &[Split]| missing_links_of(&group, &graph, split, known).unwrap().remove(0);
        assert_eq!(of(Split::Test, &[Split::Train]), [Some(1), Some(2), None]);
        assert_eq!(of(Split::Test, &[Split::Train, Split::Valid]), [Some(0), Some(1), None]);
        assert_eq!(of(Split::Valid, &[Split::Train]), [Some(1), None, None]);
    }
}
