//! Flags under their names of version 0.1, each with a hint at the new name. The next version removes this file.

use std::ffi::OsString;

use relatum::model::predictor_names;

/// The commands whose `--name` is `--model` now.
const NAMED: [&str; 6] = ["train", "grid", "import", "merge", "export", "link-eval"];
/// Of these, the commands whose `--model` was the kind of link predictor.
const KINDS: [&str; 3] = ["train", "grid", "import"];

/// The arguments with their new names, and a hint for each old name that was used.
pub(crate) fn with_new_names(arguments: Vec<OsString>) -> (Vec<OsString>, Vec<String>) {
    let command = arguments.get(1).and_then(|argument| argument.to_str()).unwrap_or_default().to_owned();
    let flags = || arguments.iter().filter_map(|argument| argument.to_str());
    let has = |flag: &str| flags().any(|it| it == flag || it.starts_with(&format!("{flag}=")));
    let (named, of_kind) = (NAMED.contains(&command.as_str()), KINDS.contains(&command.as_str()));
    let kind_is_new = has("--predictor");
    let (mut renamed, mut hints) = (Vec::new(), Vec::new());
    let mut given = arguments.into_iter();
    while let Some(argument) = given.next() {
        let (flag, value) = match argument.to_str() {
            // What follows is not a flag.
            Some("--") => {
                renamed.push(argument);
                renamed.extend(given);
                break;
            }
            Some(text) => text.split_once('=').map_or((text, None), |(flag, value)| (flag, Some(value))),
            None => ("", None),
        };
        let wants_value = ["--model", "--known"].contains(&flag) && value.is_none();
        let following = if wants_value { given.next() } else { None };
        let said = value.or_else(|| following.as_deref()?.to_str()).unwrap_or_default();
        let (new, old) = match (flag, said) {
            ("--name", _) if named => ("--model", "--name"),
            ("--model", kind) if of_kind && !kind_is_new && is_kind(kind) => {
                ("--predictor", "--model for the kind of link predictor")
            }
            ("--known", "trust") => ("--known=all", "--known trust"),
            ("--known", "ignore") => ("--known=none", "--known ignore"),
            _ => {
                renamed.push(argument);
                renamed.extend(following);
                continue;
            }
        };
        hints.push(format!("note: {old} is {new} now; the next version removes the old name"));
        match value {
            _ if flag == "--known" => renamed.push(new.into()),
            Some(value) => renamed.push(format!("{new}={value}").into()),
            None => {
                renamed.push(new.into());
                renamed.extend(following);
            }
        }
    }
    (renamed, hints)
}

/// Whether a value is a list of kinds of link predictors, and so not the name of a model.
fn is_kind(value: &str) -> bool {
    value.split(',').all(|kind| predictor_names().any(|name| name == kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renamed(line: &str) -> (String, usize) {
        let (arguments, hints) = with_new_names(line.split(' ').map(OsString::from).collect());
        let words: Vec<String> = arguments.iter().map(|it| it.to_string_lossy().into_owned()).collect();
        (words.join(" "), hints.len())
    }

    #[test]
    fn old_names_become_new_ones_with_a_hint() {
        for (old, new, hints) in [
            ("relatum train p --name a --model complex", "relatum train p --model a --predictor complex", 2),
            ("relatum train p --name=a --model=complex", "relatum train p --model=a --predictor=complex", 2),
            ("relatum grid p --model complex,cp", "relatum grid p --predictor complex,cp", 1),
            ("relatum link-eval p --name a", "relatum link-eval p --model a", 1),
            ("relatum ask p Q --known=trust", "relatum ask p Q --known=all", 1),
            ("relatum ask p --known ignore Q", "relatum ask p --known=none Q", 1),
        ] {
            assert_eq!(renamed(old), (new.to_owned(), hints), "{old}");
        }
    }

    #[test]
    fn new_names_stay() {
        for line in [
            "relatum train p --model mine --predictor complex",
            "relatum train p --model complex --predictor complex",
            "relatum train p --model mine",
            "relatum ask p Q --model complex",
            "relatum ask p -- --name",
            "relatum link-eval p --model complex",
        ] {
            assert_eq!(renamed(line), (line.to_owned(), 0), "{line}");
        }
    }
}
