//! What every end-to-end test needs: an empty folder and the real binary.

#![allow(dead_code, unreachable_pub, reason = "each test file uses its own part of this")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// An empty folder to work in, with the binary at hand.
pub struct Desk {
    dir: tempfile::TempDir,
}

impl Desk {
    pub fn new() -> Self {
        Self { dir: tempfile::tempdir().expect("a temporary folder") }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a file.
    pub fn put(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Self {
        std::fs::write(self.path(name), bytes).expect("a file in a temporary folder");
        self
    }

    /// The command, in the folder.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_relatum"));
        command.args(arguments).current_dir(self.dir.path()).stdin(Stdio::null());
        command
    }

    /// Runs the command to its end.
    pub fn run(&self, arguments: &[&str]) -> Outcome {
        Outcome::of(&self.command(arguments).output().expect("the binary starts"))
    }

    /// Runs the command, which must come to its end by itself, and soon.
    pub fn run_soon(&self, arguments: &[&str], stdin: Stdio) -> Outcome {
        let mut command = self.command(arguments);
        let child = command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        end_soon(child.expect("the binary starts"))
    }

    /// Runs the command, which must succeed, and gives what it printed.
    pub fn ok(&self, arguments: &[&str]) -> String {
        let outcome = self.run(arguments);
        assert_eq!(outcome.code, 0, "{arguments:?} failed: {}", outcome.stderr);
        outcome.stdout
    }

    /// Names of all files and folders, hidden ones too.
    pub fn names(&self) -> Vec<String> {
        names(self.dir.path())
    }
}

/// Waits for a process that must come to its end by itself, and soon.
pub fn end_soon(mut child: Child) -> Outcome {
    for _ in 0..600 {
        if child.try_wait().expect("a process").is_some() {
            return Outcome::of(&child.wait_with_output().expect("a process"));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    child.kill().expect("a process");
    panic!("the process hangs");
}

pub fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).expect("a folder");
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// What a run left behind.
#[derive(Debug)]
pub struct Outcome {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Outcome {
    pub fn of(output: &Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// A folder of the shared data, if this machine has it.
pub fn shared(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(name);
    if path.exists() {
        return path.canonicalize().ok();
    }
    eprintln!("skipped: the benchmark data {name} is not on this machine");
    None
}

/// A few films in the project `films`, with a small model trained on them.
pub fn trained_films() -> Desk {
    let desk = Desk::new();
    let mut lines = String::new();
    for (film, actor, genre) in [
        ("Bad Boys", "Martin Lawrence", "Comedy"),
        ("Bad Boys", "Will Smith", "Action"),
        ("Bad Boys II", "Martin Lawrence", "Action"),
        ("Bad Boys II", "Will Smith", "Comedy"),
        ("Blue Streak", "Martin Lawrence", "Comedy"),
        ("Life", "Martin Lawrence", "Drama"),
        ("Life", "Eddie Murphy", "Comedy"),
        ("Hitch", "Will Smith", "Romance"),
    ] {
        lines += &format!("{film}\tstars\t{actor}\n{film}\thas_genre\t{genre}\n");
    }
    lines += "Bad Boys II\tsequel_of\tBad Boys\n";
    desk.put("films.tsv", lines);
    desk.ok(&["init", "films", "films.tsv"]);
    desk.ok(&["train", "films", "--rank", "4", "--epochs", "5"]);
    desk
}

/// So many people in a ring, each of whom knows the next and trusts the fifth, as `ring.tsv`.
pub fn ring(people: usize) -> Desk {
    let desk = Desk::new();
    let mut triples = String::new();
    for person in 0..people {
        for (relation, by) in [("knows", 1), ("trusts", 5)] {
            triples += &format!("p{person}\t{relation}\tp{}\n", (person + by) % people);
        }
    }
    desk.put("ring.tsv", triples);
    desk
}

/// Shops that sell goods which need other goods, in the project `shops`: with splits, and enough
/// edges for queries of every shape.
pub fn shops() -> Desk {
    let desk = Desk::new();
    let mut triples = String::new();
    for i in 0..60u32 {
        for j in 0..7u32 {
            triples += &format!("shop{i}\tsells\tgood{}\n", (i * 5 + j * j * 3 + j) % 41);
            triples += &format!("good{}\tneeds\tgood{}\n", (i + j * 11) % 41, (i * 3 + j * 7) % 41);
            triples += &format!("shop{i}\tnear\tshop{}\n", (i * 7 + j * 13 + 1) % 60);
        }
    }
    desk.put("shops.tsv", triples);
    desk.ok(&["init", "shops", "shops.tsv", "--split", "0.8/0.1/0.1"]);
    desk
}
