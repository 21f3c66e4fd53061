//! Mistakes shown where they are: the line, a caret under it, what to write instead.

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::error::QueryError;
use super::place::Place;
use super::syntax::name_text;
use crate::graph::{NameError, visible};

/// How severe a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The query cannot run.
    Error,
    /// The query can be answered; this is for information.
    Note,
}

/// With or without the colours of a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Characters only.
    #[default]
    Plain,
    /// With ANSI colours.
    Colour,
}

/// A text under a place of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place to be underlined.
    pub place: Place,
    /// What to say there.
    pub text: String,
}

/// A message about a query, with the places it speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How severe it is.
    pub severity: Severity,
    /// What is the matter, in one line.
    pub title: String,
    /// Where: the first is the place of the mistake, the others help to understand it.
    pub labels: Vec<Label>,
    /// What to write instead.
    pub help: Vec<String>,
    /// Changes of the source that could fix it, the likeliest first.
    pub suggestions: Vec<Suggestion>,
}

/// A change of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// What is replaced.
    pub place: Place,
    /// What is written there.
    pub replacement: String,
}

impl Diagnostic {
    /// An error without places yet.
    pub fn error(title: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            title: title.into(),
            labels: Vec::new(),
            help: Vec::new(),
            suggestions: Vec::new(),
        }
    }

    /// A note without places yet.
    pub fn note(title: impl Into<String>) -> Self {
        Self { severity: Severity::Note, ..Self::error(title) }
    }

    /// Adds a place with a text.
    #[must_use]
    pub fn label(mut self, place: Place, text: impl Into<String>) -> Self {
        self.labels.push(Label { place, text: text.into() });
        self
    }

    /// Adds advice.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }

    /// Adds changes of the source, each of which could stand in one place.
    #[must_use]
    pub fn suggest(mut self, place: Place, replacements: impl IntoIterator<Item = String>) -> Self {
        let suggestion = |replacement| Suggestion { place, replacement };
        self.suggestions.extend(replacements.into_iter().map(suggestion));
        self
    }

    /// The message as text: title, source lines with carets, advice.
    ///
    /// Whatever names and source contain, the text has no control characters but line ends (and colours, if they
    /// are wanted): names are made [`visible`], and the renderer shows those of the source as signs.
    pub fn render(&self, source: &str, style: Style) -> String {
        let (title, help): (_, Vec<_>) =
            (visible(&self.title), self.help.iter().map(|it| visible(it)).collect());
        let labels: Vec<_> = self.labels.iter().map(|label| (label.place, visible(&label.text))).collect();
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Note => Level::NOTE,
        };
        let mut group = Group::with_title(level.primary_title(&*title));
        if !self.labels.is_empty() {
            let annotations = labels.iter().enumerate().map(|(index, (place, text))| {
                let kind = if index == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
                kind.span(within(source, *place)).label(&**text)
            });
            group = group.element(Snippet::source(source).annotations(annotations));
        }
        for help in &help {
            group = group.element(Level::HELP.message(&**help));
        }
        let renderer = match style {
            Style::Plain => Renderer::plain(),
            Style::Colour => Renderer::styled(),
        };
        renderer.decor_style(DecorStyle::Ascii).render(&[group])
    }
}

/// A place that surely lies in the source, on character boundaries.
fn within(source: &str, place: Place) -> std::ops::Range<usize> {
    let floor = |mut at: usize| {
        at = at.min(source.len());
        while !source.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let range = place.range();
    floor(range.start)..floor(range.end)
}

impl QueryError {
    /// The error with its places and advice.
    pub fn diagnostic(&self) -> Diagnostic {
        let said = Diagnostic::error(self.to_string());
        match self {
            Self::Syntax { expected, help, place, .. } => {
                let said = said.label(*place, format!("expected {expected}"));
                help.iter().fold(said, Diagnostic::help)
            }
            Self::TooDeep { place, .. } => {
                said.label(*place, "one too deep").help("leave out parentheses that change nothing")
            }
            Self::TooLarge { .. } => said.help("ask several smaller questions"),
            Self::IntroducedTwice { name, first, place } => said
                .label(*place, "introduced again here")
                .label(*first, "introduced first here")
                .help(format!("choose another name for one of them, for example {name}2")),
            Self::NeverIntroduced { name, place } => said
                .label(*place, "not the target, and not after `exists`")
                .help(format!("write `exists {name}.` in front of the formula")),
            Self::NeverBound { name, place } => said
                .label(*place, "introduced here")
                .help(format!("use {name} in an atom, or remove it")),
            Self::TargetMissing { name, place } => said
                .label(*place, "introduced here")
                .help(format!("write an atom with {name} in it: `relation(…, {name})`")),
            Self::TargetMissingInBranch { name, place } => said
                .label(*place, "if this alternative holds, every entity is an answer")
                .help(format!("add an atom with {name} to it, or join it with `and` instead of `or`")),
            Self::NoTarget { place } => {
                said.label(*place, "no target").help("to find things, begin with what is sought: `?X : relation(\"a name\", X)`")
            }
            Self::SeeksRelations { place } => said
                .label(*place, "the relation is sought")
                .help("to find things, name the relation: `?X : relation(\"a name\", X)`"),
            Self::Name { error, like_a_variable, in_a_statement, place } => {
                let variable = like_a_variable.then_some(*in_a_statement);
                name_diagnostic(error, variable, *place)
            }
            Self::Unsafe { name, place } => said
                .label(*place, format!("only here, and it says what {name} is not"))
                .help(format!("add an atom without `not` that says what {name} can be")),
            Self::Disconnected { target, variables, place } => said
                .label(*place, format!("no chain of atoms leads from here to {target}"))
                .help(match variables.as_slice() {
                    [one] => format!("add an atom that connects {one} with {target}, or leave this part out"),
                    several => format!(
                        "add an atom that connects one of {} with {target}, or leave this part out",
                        several.join(", ")
                    ),
                }),
            Self::Ground { place } => {
                said.label(*place, "two entities, no variable").help("leave it out, or put a variable on one side")
            }
            Self::TooManyBranches { .. } => said
                .help("every `or` under an `and` multiplies them: ask the alternatives one by one, or raise the limit"),
            Self::Sparql { place, .. } => said.label(*place, "here"),
            Self::Refused { instead, place, .. } => {
                let said = said.help(instead.as_str());
                place.iter().fold(said, |said, &place| said.label(place, "here"))
            }
        }
    }
}

/// `variable` is `Some` if the name may be meant as a variable, and says whether it may be the target too.
fn name_diagnostic(error: &NameError, variable: Option<bool>, place: Place) -> Diagnostic {
    match error {
        NameError::Unknown { kind, text, nearest } => {
            let said = Diagnostic::error(format!("there is no {kind} '{text}'"))
                .label(place, format!("not {} {kind} of this graph", article(kind)));
            let said = said.suggest(place, nearest.iter().map(|name| name_text(name)));
            let said = match nearest.as_slice() {
                [] => said,
                [one] => said.help(format!("the nearest name is {}", name_text(one))),
                several => said.help(format!("the nearest names are {}", listed(several))),
            };
            if let Some(or_target) = variable.filter(|_| *kind == "entity") {
                let target =
                    if or_target { format!(", or `?{text} :` to ask for it") } else { String::new() };
                said.help(format!(
                    "if {text} is a variable, write `exists {text}.` in front of the formula{target}"
                ))
            } else if nearest.is_empty() {
                said.help("look for a part of the name")
            } else {
                said
            }
        }
        NameError::Ambiguous { kind, text, candidates, count } => {
            let listed = listed(candidates);
            let more = if *count > candidates.len() { ", …" } else { "" };
            Diagnostic::error(format!("the {kind} '{text}' is ambiguous"))
                .label(place, format!("{count} things have this label"))
                .suggest(place, candidates.iter().map(|name| name_text(name)))
                .help(format!("write the name of the one you mean: {listed}{more}"))
        }
    }
}

fn listed(names: &[String]) -> String {
    names.iter().map(|name| name_text(name)).collect::<Vec<_>>().join(", ")
}

fn article(kind: &str) -> &'static str {
    if kind == "entity" { "an" } else { "a" }
}
