//! The flags of `relatum ask` as settings that can be changed: `:set k 128`.

use std::collections::BTreeMap;

use clap::{CommandFactory, Parser};

use crate::commands::ask::Flags;
use crate::exit::Misuse;
use crate::output;

/// The settings of a session.
pub(super) struct Settings {
    pub(super) flags: Flags,
    /// The values given on the command line or with `:set`; everything else has its default.
    given: BTreeMap<&'static str, String>,
}

/// The flags alone, so that one reader of values serves the command line and the prompt.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct Line {
    #[command(flatten)]
    flags: Flags,
}

/// A setting with its possible values.
pub(super) struct Setting {
    pub(super) name: &'static str,
    pub(super) help: String,
    /// The values that there are, where they can be listed.
    pub(super) choices: Vec<String>,
}

impl Settings {
    pub(super) fn new(flags: Flags) -> Self {
        let mut given = BTreeMap::new();
        for (name, value) in flags.pairs() {
            let implied = parsed(&given).is_ok_and(|flags| flags.pairs().contains(&(name, value.clone())));
            if !implied {
                given.insert(name, value);
            }
        }
        Self { flags, given }
    }

    /// Every setting, its value and what it is for.
    pub(super) fn table(&self) -> String {
        let mut table = output::table(&["setting", "value", "meaning"], &[]);
        for ((name, value), setting) in self.flags.pairs().into_iter().zip(all()) {
            table.add_row([name.to_owned(), value, setting.meaning()]);
        }
        output::render(&table)
    }

    /// One setting, its value and what it is for.
    pub(super) fn one(&self, name: &str) -> Result<String, Misuse> {
        let setting = find(name)?;
        let value = self.flags.pairs().into_iter().find(|(name, _)| *name == setting.name);
        let value = value.map_or_else(String::new, |(_, value)| value);
        Ok(format!("{} = {value}: {}\n", setting.name, setting.meaning()))
    }

    /// The settings with one changed; `default` sets it back to its default.
    pub(super) fn changed(&self, name: &str, value: &str) -> Result<Self, Misuse> {
        let setting = find(name)?;
        let mut given = self.given.clone();
        if value == "default" {
            given.remove(setting.name);
        } else if setting.is_switch() && !setting.choices.iter().any(|it| it == value) {
            return Err(Misuse(format!("{} is on or off, not '{value}'", setting.name)));
        } else {
            given.insert(setting.name, value.to_owned());
        }
        let flags = parsed(&given)?;
        let refused = flags.options().resolve(None, None).err();
        if let Some(error) = refused {
            return Err(Misuse(format!("{error} (`:set NAME default` sets a setting back)")));
        }
        Ok(Self { flags, given })
    }
}

impl Setting {
    fn is_switch(&self) -> bool {
        self.choices == ["on", "off"]
    }

    fn meaning(&self) -> String {
        let choices =
            if self.choices.is_empty() { String::new() } else { format!(": {}", self.choices.join(", ")) };
        format!("{}{choices}", self.help)
    }
}

/// The flags for the given values.
fn parsed(given: &BTreeMap<&'static str, String>) -> Result<Flags, Misuse> {
    let words = given.iter().filter_map(|(name, value)| match (*name, value.as_str()) {
        // For `known`, `none` is a value; for all other settings it removes the value.
        ("known", value) => Some(format!("--known={value}")),
        (_, "off" | "none") => None,
        (_, "on") => Some(format!("--{name}")),
        (_, value) => Some(format!("--{name}={value}")),
    });
    Ok(Line::try_parse_from(words).map_err(|error| said(&error))?.flags)
}

/// Every setting there is.
pub(super) fn all() -> Vec<Setting> {
    let command = Line::command();
    let described = |name: &'static str| {
        let argument = command.get_arguments().find(|argument| argument.get_long() == Some(name))?;
        let switch = !argument.get_action().takes_values();
        let choices = if switch {
            vec!["on".to_owned(), "off".to_owned()]
        } else {
            argument.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect()
        };
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        Some(Setting { name, help, choices })
    };
    let flags = parsed(&BTreeMap::new()).map(|flags| flags.pairs());
    flags.unwrap_or_default().into_iter().filter_map(|(name, _)| described(name)).collect()
}

fn find(name: &str) -> Result<Setting, Misuse> {
    let wanted = name.trim_start_matches("--").replace('_', "-");
    all().into_iter().find(|setting| setting.name == wanted).ok_or_else(|| {
        let names: Vec<&str> = all().iter().map(|setting| setting.name).collect();
        Misuse(format!("there is no setting '{name}'; there are {}", names.join(", ")))
    })
}

/// The message of clap, without the part about the command line.
fn said(error: &clap::Error) -> Misuse {
    let text = error.to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let text = text.split("\n\nUsage:").next().unwrap_or(text);
    let text = text.split("\n\nFor more information").next().unwrap_or(text);
    Misuse(text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(words: &[&str]) -> Settings {
        Settings::new(Line::try_parse_from(words).unwrap().flags)
    }

    #[test]
    fn every_flag_is_a_setting_and_says_what_it_is_for() {
        let command = Line::command();
        let flags: Vec<&str> = command.get_arguments().filter_map(clap::Arg::get_long).collect();
        let settings = all();
        assert_eq!(settings.iter().map(|setting| setting.name).collect::<Vec<_>>(), flags);
        assert!(settings.iter().all(|setting| !setting.help.is_empty()));
    }

    #[test]
    fn a_setting_changes_and_the_others_stay() {
        let mut settings = settings(&["--top=3", "--explain", "--timeout=1.5"]);
        let changes =
            [("k", "128"), ("t_norm", "min"), ("explain", "off"), ("max-rows", "7"), ("max-rows", "default")];
        for (name, value) in changes {
            settings = settings.changed(name, value).unwrap();
        }
        let changed: Vec<String> = settings
            .flags
            .pairs()
            .into_iter()
            .filter(|(name, _)| ["k", "top", "t-norm", "explain", "timeout", "max-rows"].contains(name))
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        assert_eq!(
            changed,
            ["k=128", "t-norm=godel", "top=3", "explain=off", "timeout=1.5", "max-rows=none"]
        );
    }

    #[test]
    fn a_refused_change_names_the_way_out_and_every_setting_has_its_default() {
        let five = settings(&["--k=5"]);
        insta::assert_snapshot!(five.changed("method", "exact").err().unwrap().0, @"`k` belongs to a beam, and the search `exact` has none: leave one of the two out (`:set NAME default` sets a setting back)");
        let exact = five.changed("k", "default").unwrap().changed("method", "exact").unwrap();
        assert!(exact.flags.pairs().contains(&("method", "exact".to_owned())));
        let fresh = settings(&[]).flags.pairs();
        let everything = [
            "--sparql",
            "--method=beam",
            "--k=5",
            "--paper",
            "--t-norm=godel",
            "--calibration=sigmoid",
            "--negation-scale=2",
            "--known=train",
            "--top=3",
            "--new-only",
            "--explain",
            "--json",
            "--model=other",
            "--timeout=9",
            "--max-rows=9",
        ];
        let mut changed = settings(&everything);
        for (name, _) in &fresh {
            changed = changed.changed(name, "default").unwrap();
        }
        assert_eq!(changed.flags.pairs(), fresh);
    }

    #[test]
    fn a_wrong_value_lists_the_choices() {
        let settings = settings(&[]);
        let said = |name: &str, value: &str| settings.changed(name, value).err().unwrap().0;
        insta::assert_snapshot!(said("method", "magic"), @r"
        invalid value 'magic' for '--method <METHOD>'
          [possible values: auto, exact, beam, continuous, lists]
        ");
        insta::assert_snapshot!(said("calibration", "tanh"), @r"
        invalid value 'tanh' for '--calibration <CALIBRATION>'
          [possible values: auto, sigmoid, minmax, softmax, softmax-count, adaptive, fitted, raw]
        ");
        insta::assert_snapshot!(said("k", "0"), @"invalid value '0' for '--k <K>': expected a whole number, at least 1");
        insta::assert_snapshot!(said("explain", "perhaps"), @"explain is on or off, not 'perhaps'");
        let exact = settings.changed("method", "exact").unwrap();
        let refused = exact.changed("paper", "on").err().unwrap().0;
        assert!(refused.starts_with("`paper` belongs to a beam"), "{refused}");
        insta::assert_snapshot!(said("kk", "1"), @"there is no setting 'kk'; there are sparql, method, k, paper, either-side, t-norm, calibration, negation-scale, unseen, known, evidence, rules, top, new-only, explain, json, dot, model, timeout, max-rows, max-branches");
    }
}
