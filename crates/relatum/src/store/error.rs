//! What can go wrong between the engine and the disk.

use std::io;
use std::path::{Path, PathBuf};

/// Why a project folder could not be written, opened or trusted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The operating system refused. The message ends with what to do where that is known.
    #[error("cannot {action} {}: {source}{}", path.display(), remedy(action, source))]
    Io {
        /// What was tried: `read`, `write`, `create`, …
        action: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The target of a new project is there already. Choose another folder or remove this one.
    #[error("{} exists already: choose another folder, or remove it first", .0.display())]
    Exists(PathBuf),
    /// Another process is making the same project now. Wait for it.
    #[error("another process is making {} at this moment: wait until it has finished", .0.display())]
    Busy(PathBuf),
    /// The folder has no manifest, so it is not a project, or making it was interrupted.
    #[error("{} is not a Relatum project (it has no {manifest}): name a project folder, or make one from files of triples", dir.display())]
    NotAProject {
        /// The folder.
        dir: PathBuf,
        /// The name of the file that a project has.
        manifest: &'static str,
    },
    /// A file does not begin as Relatum's files do. It was replaced or is not ours.
    #[error("{} is not a Relatum {expected} file (it begins with {found}): restore it, or make it anew (read the files of the graph again, train the model again)", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The kind of file that was expected.
        expected: String,
        /// Its first bytes.
        found: String,
    },
    /// The file was written by a newer Relatum. Update this one.
    #[error("{} has format version {found}, and this Relatum reads up to version {known}: update Relatum", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The newest version known here.
        known: u32,
    },
    /// The file's content contradicts its header, its checksum or another file.
    /// Restore it from a copy, or make it anew.
    #[error("{} is damaged: {what}: restore it from a copy, or make it anew (read the files of the graph again, train the model again)", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        what: String,
    },
}

impl StoreError {
    pub(crate) fn io<'a>(action: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> Self + 'a {
        move |source| Self::Io { action, path: path.to_owned(), source }
    }

    pub(crate) fn damaged(path: &Path, what: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), what: what.into() }
    }
}

fn remedy(action: &str, error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied if action == "read" => {
            " (you may not read it: ask its owner, or change its permissions)"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            " (free some space there, or choose a folder on another disk)"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            " (choose a folder that you may write to)"
        }
        io::ErrorKind::ResourceBusy => " (name a folder that is not there yet)",
        io::ErrorKind::NotADirectory => " (a part of that path is a file, not a folder)",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remedy_is_for_what_was_tried() {
        let denied = |action| {
            StoreError::io(action, Path::new("x"))(io::ErrorKind::PermissionDenied.into()).to_string()
        };
        assert!(denied("read").contains("you may not read it") && !denied("read").contains("write"));
        assert!(denied("create").contains("a folder that you may write to"));
    }
}
