//! A project of some blocks of entities, and real processes on this machine alone.

#![allow(dead_code, reason = "each test file uses some of it")]

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use relatum::Engine;
use relatum::answer::Method;
use relatum::control::Control;
use relatum::graph::{GraphBuilder, Split, Triple};
use relatum::model::{Card, Model, Precision, predictor};
use relatum::project::{ModelFolder, Project};
use relatum::random::Rng;
use serde_json::Value;

/// Four blocks and a part of a fifth.
pub(crate) const ENTITIES: usize = 17_000;
const RELATIONS: u32 = 4;

/// A project with a generated graph and models of random weights: `default` in 8 bits, `other` in 8 bits, `full` in 32.
pub(crate) fn project(home: &Path) -> PathBuf {
    let dir = home.join("project");
    let mut builder = GraphBuilder::default();
    for entity in 0..ENTITIES {
        builder.entity(&format!("e{entity}"));
    }
    for relation in 0..RELATIONS {
        builder.relation(&format!("r{relation}"));
    }
    let mut rng = Rng::new(18);
    for _ in 0..2 * ENTITIES {
        let mut draw = |most: usize| rng.below(most) as u32;
        builder.add_ids(Split::Train, Triple::new(draw(ENTITIES), draw(RELATIONS as usize), draw(ENTITIES)));
    }
    Engine::create_of(&dir, builder, None, "generated", &Control::default()).unwrap();
    let project = Project::open(&dir).unwrap();
    for (name, precision, seed) in [
        (ModelFolder::DEFAULT, Precision::Int8, 7),
        ("other", Precision::Int8, 8),
        ("full", Precision::F32, 9),
    ] {
        let model = Model::random(predictor("complex", 8).unwrap(), project.graph(), 0.9, seed);
        let model = model.rounded(precision).unwrap();
        let card = Card::new(&project.manifest().fingerprint, &model, "generated");
        ModelFolder::of(&project, name).unwrap().save(&model, &card).unwrap();
    }
    dir
}

/// Questions of several shapes, about different entities each.
pub(crate) fn questions(count: usize) -> Vec<String> {
    let of = |at: usize| {
        let (a, b) = (17 * at + 3, 31 * at + 8);
        match at % 5 {
            0 => format!("?A : r1(e{a}, A)"),
            1 => format!("?A : exists V. r1(e{a}, V) and r2(V, A)"),
            2 => format!("?A : r1(e{a}, A) and r2(e{b}, A)"),
            3 => format!("?A : r1(e{a}, A) or r3(e{b}, A)"),
            _ => format!("?A : r1(e{a}, A) and not r2(e{b}, A)"),
        }
    };
    (0..count).map(of).collect()
}

/// What one machine answers, as JSON.
pub(crate) fn expected(dir: &Path, model: &str, questions: &[String]) -> Vec<Value> {
    let engine = Engine::open(dir).unwrap();
    let options = relatum::Options {
        method: Method::Lists,
        model: Some(model.to_owned()),
        known: relatum::search::Known::from_name("none"),
        ..relatum::Options::default()
    };
    questions.iter().map(|text| serde_json::to_value(engine.ask(text, &options).unwrap()).unwrap()).collect()
}

pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_relatum-cluster"));
    command.args(arguments);
    command
}

/// Runs a command that must not take longer than this.
pub(crate) fn run_within(seconds: u64, arguments: &[&str]) -> Output {
    let mut child =
        command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
    let until = Instant::now() + Duration::from_secs(seconds);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > until {
            child.kill().unwrap();
            let output = child.wait_with_output().unwrap();
            panic!("{arguments:?} hung for {seconds} s: {}", String::from_utf8_lossy(&output.stderr));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.wait_with_output().unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub(crate) fn lines(text: &[u8]) -> Vec<Value> {
    text.split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

/// The answers of a batch without the numbers of their lines.
pub(crate) fn replies(text: &[u8]) -> Vec<Value> {
    let mut replies = lines(text);
    for reply in &mut replies {
        reply.as_object_mut().unwrap().remove("line");
    }
    replies
}

/// A process that ends with the test.
pub(crate) struct Process(Child);

impl Process {
    /// Ends it without any warning.
    pub(crate) fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A port that nobody uses at this moment.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

pub(crate) fn scheduler(port: u16) -> Process {
    let listen = format!("127.0.0.1:{port}");
    let process =
        command(&["scheduler", "--listen", &listen, "--executor-timeout", "4", "--log", "error"]).spawn();
    let process = Process(process.unwrap());
    wait_until(60, || relatum_cluster::health::executors(&listen).is_ok());
    process
}

pub(crate) fn executor(scheduler: u16, work: &Path) -> Process {
    let before = relatum_cluster::health::executors(&format!("127.0.0.1:{scheduler}")).unwrap();
    let process = late_executor(scheduler, work);
    wait_until(60, || {
        relatum_cluster::health::executors(&format!("127.0.0.1:{scheduler}")).unwrap() > before
    });
    process
}

/// An executor that is not waited for.
pub(crate) fn late_executor(scheduler: u16, work: &Path) -> Process {
    let (port, grpc) = (free_port().to_string(), free_port().to_string());
    let work = work.join(format!("work-{port}"));
    let scheduler = format!("127.0.0.1:{scheduler}");
    let arguments = ["executor", "--scheduler", &scheduler, "--port", &port, "--grpc-port", &grpc];
    let more = ["--cores", "1", "--heartbeat", "1", "--log", "off", "--work-dir", work.to_str().unwrap()];
    Process(command(&arguments).args(more).spawn().unwrap())
}

pub(crate) fn wait_until(seconds: u64, done: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(seconds);
    while !done() {
        assert!(Instant::now() < until, "it took longer than {seconds} s");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// A batch of questions on its way: what it prints is read as it comes.
pub(crate) struct Batch {
    child: Child,
    out: BufReader<std::process::ChildStdout>,
    text: Vec<u8>,
}

impl Batch {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut child = command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Self { child, out, text: Vec::new() }
    }

    /// Waits for some more answers.
    pub(crate) fn read(&mut self, lines: usize) {
        for _ in 0..lines {
            assert!(self.out.read_until(b'\n', &mut self.text).unwrap() > 0, "the batch ended early");
        }
    }

    /// Waits for its end; returns its exit code, all it printed, and its messages.
    pub(crate) fn finish(mut self, seconds: u64) -> (i32, Vec<u8>, String) {
        let (pid, until) = (self.child.id(), Instant::now() + Duration::from_secs(seconds));
        let reading = std::thread::spawn(move || {
            while self.out.read_until(b'\n', &mut self.text).unwrap() > 0 {}
            let output = self.child.wait_with_output().unwrap();
            (output.status.code().unwrap_or(-1), self.text, stderr(&output))
        });
        while !reading.is_finished() {
            assert!(Instant::now() < until, "the batch {pid} hung for {seconds} s");
            std::thread::sleep(Duration::from_millis(50));
        }
        reading.join().unwrap()
    }
}
