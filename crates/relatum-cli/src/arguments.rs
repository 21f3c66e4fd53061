//! The arguments of the command line.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches};

use crate::commands::Relatum;
use crate::commands::init::with_value_of_header;
use crate::output;
use crate::renamed::with_new_names;

/// Reads the arguments; ends the process with a message if they make no sense.
pub(crate) fn parse() -> Relatum {
    let (arguments, hints) = with_new_names(with_value_of_header(std::env::args_os()));
    for hint in hints {
        output::say(&hint);
    }
    match read(&arguments) {
        Ok(relatum) => relatum,
        Err(error) => error.exit(),
    }
}

/// Names and questions may begin with one hyphen (`-_in` is a name); an argument that begins with two is a
/// flag, unless it follows `--`. clap accepts both as values or neither, so neither is tried first; if that
/// fails, the first argument that is not a known flag decides.
fn read(arguments: &[OsString]) -> Result<Relatum, clap::Error> {
    let loose = Relatum::command();
    let strict = loose
        .clone()
        .mut_subcommands(|command| command.mut_args(|argument| argument.allow_hyphen_values(false)));
    let matches = match strict.try_get_matches_from(arguments) {
        Err(error) if is_single_hyphen(&error) => loose.try_get_matches_from(arguments),
        matches => matches,
    }?;
    Relatum::from_arg_matches(&matches)
}

fn is_single_hyphen(error: &clap::Error) -> bool {
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidArg) else { return false };
    error.kind() == ErrorKind::UnknownArgument && !unknown.starts_with("--")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &str) -> Result<(), String> {
        let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        read(&arguments).map(drop).map_err(|error| error.to_string().lines().next().unwrap_or("").to_owned())
    }

    #[test]
    fn two_hyphens_are_a_flag_and_one_may_be_a_name() {
        for line in [
            "relatum describe p -_in",
            "relatum describe p -_in --json",
            "relatum find p -3",
            "relatum find p -- --foo",
            "relatum ask p -",
            "relatum ask p -- --foo",
        ] {
            assert_eq!(said(line), Ok(()), "{line}");
        }
        for (line, flag) in [
            ("relatum find p --foo", "--foo"),
            ("relatum find --foo p x", "--foo"),
            ("relatum describe p --jsn", "--jsn"),
            ("relatum describe p -_in --jsn", "--jsn"),
            ("relatum ask p --nonsense", "--nonsense"),
            ("relatum ask p ?A --nonsense", "--nonsense"),
            ("relatum plan p --nonsense", "--nonsense"),
            ("relatum repl p --nonsense", "--nonsense"),
        ] {
            assert_eq!(said(line), Err(format!("error: unexpected argument '{flag}' found")), "{line}");
        }
    }

    #[test]
    fn no_command_takes_an_unknown_flag_for_a_value() {
        for command in Relatum::command().get_subcommands() {
            let line = format!("relatum {} p --no-such-flag q", command.get_name());
            let error = said(&line).expect_err(&line);
            assert_eq!(error, "error: unexpected argument '--no-such-flag' found", "{line}");
        }
    }
}
