//! Answer many questions side by side, with the replies in the order of the questions.

mod shared;

use std::sync::mpsc;

use relatum::Options;
use relatum::control::Control;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let engine = shared::project(folder.path())?;
    let (sender, questions) = mpsc::channel();
    for person in 0..20 {
        sender.send(format!("?C : exists X. lives_in(person{person}, X) and lies_in(X, C)"))?;
    }
    // The stream ends when nobody can send any more.
    drop(sender);
    let options = Options { top: Some(1), ..Options::default() };
    engine.ask_many(&questions, &options, &Control::default(), |question, reply| match reply {
        Ok(reply) => {
            let best = reply.answers.first().map_or("nothing", |answer| &answer.entity.text);
            println!("{question}  →  {best}");
        }
        Err(error) => println!("{question}  →  {error}"),
    });
    Ok(())
}
