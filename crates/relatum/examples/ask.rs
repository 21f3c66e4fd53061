//! Ask one question: `cargo run --example ask -- FOLDER 'QUESTION'`, or without arguments on a small graph that
//! is made for it.

mod shared;

use relatum::{Engine, Options};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let made = tempfile::tempdir()?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (engine, question) = match arguments.as_slice() {
        [folder, question] => (Engine::open(folder)?, question.clone()),
        _ => (shared::project(made.path())?, "?C : exists X. lives_in(person7, X) and lies_in(X, C)".into()),
    };
    // Everything that is not chosen here is chosen for you; the reply says what ran.
    let options = Options { top: Some(5), explain: true, ..Options::default() };
    match engine.ask(&question, &options) {
        Ok(reply) => println!("{reply}"),
        // A mistake in a question prints with a caret under its place.
        Err(error) => eprintln!("{error}"),
    }
    Ok(())
}
