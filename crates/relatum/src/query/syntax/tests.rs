use proptest::prelude::*;

use super::parse;
use crate::query::Name;
use crate::query::formula::{Atom, Term};
use crate::query::testing::{any_query, tiny_graph};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn what_is_printed_is_read_back_as_the_same_query(query in any_query()) {
        let graph = tiny_graph(&[]);
        let named = query.renumbered().named(&graph);
        let read = parse(&named.to_string()).unwrap();
        prop_assert_eq!(&read, &named);
        prop_assert_eq!(read.to_string(), named.to_string());
        prop_assert_eq!(read.resolve(&graph).unwrap(), query.renumbered());
    }

    #[test]
    fn any_name_is_read_back(query in any_query(), names in prop::collection::vec("\\PC{0,8}|[a-z.:#'/\\\\\"\n\t]{0,8}", 5)) {
        let graph = tiny_graph(&[]);
        let mut named = query.renumbered().named(&graph);
        let mut next = names.iter().cycle();
        let mut name = || Name::text(next.next().cloned().unwrap_or_default());
        named.formula = named.formula.map(&mut |atom| {
            let mut term = |term: &Term<Name>| match term {
                Term::Entity(_) => Term::Entity(name()),
                Term::Variable(id) => Term::Variable(*id),
            };
            let (subject, object) = (term(&atom.subject), term(&atom.object));
            Atom { relation: name(), subject, object, place: atom.place }
        });
        prop_assert_eq!(parse(&named.to_string()).unwrap(), named);
    }

    #[test]
    fn any_text_is_read_or_refused_with_a_rendered_place(text in "\\PC{0,60}|[?A:()., a-z\"'<>#!&|\\\\\n]{0,60}") {
        if let Err(error) = parse(&text) {
            let _ = error.diagnostic().render(&text, crate::query::Style::Plain);
        }
    }
}
