//! Many questions, answered side by side and in their order.

use std::sync::mpsc::Receiver;

use super::{Engine, Error, Options};
use crate::control::{Control, side_by_side};
use crate::report::Reply;

impl Engine {
    /// Answers questions as they come, as many side by side as there are threads; `each` gets the replies in
    /// the order of the questions, each as soon as it and all before it are there. Ends when the sender of
    /// the questions is gone, or when the control is cancelled.
    ///
    /// ```no_run
    /// use std::sync::mpsc;
    /// use relatum::control::Control;
    /// use relatum::{Engine, Options};
    ///
    /// let engine = Engine::open("movies")?;
    /// let (sender, questions) = mpsc::channel();
    /// for name in ["Martin Lawrence", "Eddie Murphy"] {
    ///     let _ = sender.send(format!("?F : stars(F, {name:?})"));
    /// }
    /// drop(sender);
    /// engine.ask_many(&questions, &Options::default(), &Control::default(), |_, reply| {
    ///     println!("{}", reply.map_or_else(|error| error.to_string(), |reply| reply.to_string()));
    /// });
    /// # Ok::<(), relatum::Error>(())
    /// ```
    pub fn ask_many(
        &self,
        questions: &Receiver<String>,
        options: &Options,
        control: &Control,
        mut each: impl FnMut(String, Result<Reply, Error>),
    ) {
        let work = |question: String| {
            let reply = self.ask_within(&question, options, control);
            (question, reply)
        };
        side_by_side(questions, control.cancel_token(), work, |(question, reply)| each(question, reply));
    }
}
