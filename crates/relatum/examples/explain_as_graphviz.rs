//! Draw why an entity is an answer: `cargo run --example explain_as_graphviz | dot -Tsvg > why.svg`.

mod shared;

use relatum::Options;
use relatum::control::Control;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let engine = shared::project(folder.path())?;
    let question = "?L : exists P. knows(person3, P) and speaks(P, L) and not speaks(person4, L)";
    let reply = engine.explain(question, "language0", &Options::default(), &Control::default())?;
    // The same data is there for programs: each atom with its truth and where it is stored.
    for atom in reply.answers.iter().flat_map(|answer| &answer.explanation).flat_map(|why| &why.atoms) {
        let (relation, subject, object) = (&atom.relation.text, &atom.subject.text, &atom.object.text);
        eprintln!("{relation}({subject}, {object}) {:.3} {:?}", atom.truth, atom.stored);
    }
    println!("{}", reply.to_dot());
    Ok(())
}
