//! A server of its own, and clients that keep their connections.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};

use super::super::child::relatum;

/// The release server on a free port, until this is dropped.
pub(super) struct Server {
    child: Child,
    address: SocketAddr,
}

impl Server {
    pub(super) fn start(dir: &Path) -> anyhow::Result<Self> {
        let mut command = relatum();
        command.arg("serve").arg(dir).args(["--listen", "127.0.0.1:0", "--log", "off", "--cache", "0"]);
        let mut child = command.stderr(Stdio::piped()).spawn().context("cannot start the server")?;
        let lines = BufReader::new(child.stderr.take().context("the server says nothing")?).lines();
        for line in lines.map_while(Result::ok) {
            if let Some((_, address)) = line.split_once("is served at http://") {
                return Ok(Self { child, address: address.trim().parse()? });
            }
        }
        bail!("the server ended")
    }

    /// The memory it holds, in bytes, where the system tells.
    pub(super) fn memory(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kibibytes| kibibytes * 1024)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Requests, ready to be sent again and again.
pub(super) struct Load {
    address: SocketAddr,
    requests: Vec<Vec<u8>>,
}

impl Load {
    /// Questions with the same options, given as a JSON object.
    pub(super) fn new(server: &Server, questions: &[String], options: &str) -> Self {
        let request = |question: &String| {
            let mut body: Value = serde_json::from_str(options).unwrap_or_else(|_| json!({}));
            body["question"] = question.as_str().into();
            let body = body.to_string();
            let (host, length) = (server.address, body.len());
            format!(
                "POST /api/v1/ask HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
            )
            .into_bytes()
        };
        Self { address: server.address, requests: questions.iter().map(request).collect() }
    }

    /// Sends requests on so many connections for some time, each as soon as the one before is answered. Every
    /// response must be a success.
    pub(super) fn run(&self, connections: usize, time: Duration) -> anyhow::Result<Latencies> {
        ensure!(!self.requests.is_empty(), "the graph has no such questions");
        let (next, until) = (AtomicUsize::new(0), Instant::now() + time);
        let mut all = Latencies::default();
        std::thread::scope(|scope| {
            let clients: Vec<_> =
                (0..connections).map(|_| scope.spawn(|| self.connection(&next, until))).collect();
            for client in clients {
                all.0.extend(client.join().unwrap_or_else(|_| bail!("a client failed"))?.0);
            }
            anyhow::Ok(())
        })?;
        all.0.sort_unstable();
        Ok(all)
    }

    /// Sends the requests one after another on one connection until the time is over or all are answered. Before
    /// each, `first` does what it is compared with.
    pub(super) fn one_by_one(
        &self,
        time: Duration,
        mut first: impl FnMut(usize) -> anyhow::Result<()>,
    ) -> anyhow::Result<Latencies> {
        let mut stream = self.connect()?;
        let (mut latencies, mut buffer) = (Latencies::default(), Vec::new());
        let until = Instant::now() + time;
        for (at, request) in self.requests.iter().enumerate().take_while(|_| Instant::now() < until) {
            first(at)?;
            let began = Instant::now();
            stream.write_all(request)?;
            answer(&mut stream, &mut buffer)?;
            latencies.add(began.elapsed());
        }
        Ok(latencies)
    }

    fn connect(&self) -> anyhow::Result<TcpStream> {
        let stream = TcpStream::connect(self.address)?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    fn connection(&self, next: &AtomicUsize, until: Instant) -> anyhow::Result<Latencies> {
        let mut stream = self.connect()?;
        let (mut latencies, mut buffer) = (Latencies::default(), Vec::new());
        while Instant::now() < until {
            let request = &self.requests[next.fetch_add(1, Ordering::Relaxed) % self.requests.len()];
            let began = Instant::now();
            stream.write_all(request)?;
            answer(&mut stream, &mut buffer)?;
            latencies.add(began.elapsed());
        }
        Ok(latencies)
    }
}

/// Reads one response; a status other than 200 is an error.
fn answer(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> anyhow::Result<()> {
    buffer.clear();
    let mut chunk = [0; 16384];
    let mut whole = None;
    while whole.is_none_or(|whole| buffer.len() < whole) {
        let count = stream.read(&mut chunk)?;
        ensure!(count > 0, "the connection was closed");
        buffer.extend_from_slice(&chunk[..count]);
        if whole.is_none()
            && let Some(end) = buffer.windows(4).position(|it| it == b"\r\n\r\n")
        {
            let head = String::from_utf8_lossy(&buffer[..end]).to_ascii_lowercase();
            ensure!(head.starts_with("http/1.1 200"), "{}", String::from_utf8_lossy(buffer));
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
            let length: usize = length.context("an answer without length")?.trim().parse()?;
            whole = Some(end + 4 + length);
        }
    }
    Ok(())
}

/// How long requests took.
#[derive(Clone, Debug, Default)]
pub(super) struct Latencies(Vec<Duration>);

impl Latencies {
    pub(super) fn add(&mut self, time: Duration) {
        self.0.push(time);
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The time within which this share of the requests was answered.
    pub(super) fn quantile(&self, share: f64) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let last = sorted.len().saturating_sub(1);
        sorted.get((share * last as f64).round() as usize).copied().unwrap_or_default()
    }

    /// Requests a second.
    pub(super) fn rate(&self, time: Duration) -> f64 {
        self.0.len() as f64 / time.as_secs_f64()
    }

    pub(super) fn row(&self, time: Duration) -> String {
        let milliseconds = |share| self.quantile(share).as_secs_f64() * 1e3;
        format!("{:>9.0}  {:>9.2}  {:>9.2}", self.rate(time), milliseconds(0.5), milliseconds(0.99))
    }
}
