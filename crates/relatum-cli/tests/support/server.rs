//! The real server on a free port, and a client that can also misbehave.

#![allow(dead_code, unreachable_pub, reason = "each test file uses its own part of this")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::Desk;

/// A machine under load may take long for anything.
const PATIENCE: Duration = Duration::from_mins(2);

/// A server that runs until this is dropped.
pub struct Running {
    child: Child,
    pub address: SocketAddr,
    said: Arc<Mutex<String>>,
}

/// What a server answered.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Response {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub fn header(&self, name: &str) -> Option<String> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
        })
    }
}

impl Running {
    /// Serves a project of the desk.
    pub fn start(desk: &Desk, project: &str, flags: &[&str]) -> Self {
        let free = ["--listen", "127.0.0.1:0"];
        let mut arguments = vec!["serve", project];
        arguments.extend(flags);
        if !flags.contains(&free[0]) {
            arguments.extend(free);
        }
        Self::of(&mut desk.command(&arguments))
    }

    fn of(command: &mut Command) -> Self {
        let mut child =
            command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("the binary starts");
        let mut lines = BufReader::new(child.stderr.take().expect("its standard error"));
        let (said, mut line) = (Arc::new(Mutex::new(String::new())), String::new());
        let address = loop {
            line.clear();
            let bytes = lines.read_line(&mut line).expect("a line");
            assert!(bytes > 0, "the server ended: {}", said.lock().unwrap());
            said.lock().unwrap().push_str(&line);
            if let Some((_, address)) = line.split_once("is served at http://") {
                break address.trim().parse().expect("an address");
            }
        };
        let keep = Arc::clone(&said);
        std::thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                keep.lock().unwrap().push_str(&(line + "\n"));
            }
        });
        Self { child, address, said }
    }

    /// What it wrote on standard error so far.
    pub fn said(&self) -> String {
        self.said.lock().unwrap().clone()
    }

    /// Sends a signal to it.
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status();
        assert!(status.expect("kill").success());
    }

    /// Waits for its end, and gives its exit code.
    pub fn end(mut self) -> Option<i32> {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if let Some(status) = self.child.try_wait().expect("a process") {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("the server does not end: {}", self.said());
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// One request on a connection of its own.
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Response {
        let mut stream = self.connect();
        let mut head = format!("{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n", self.address);
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        if !body.is_empty() || method == "POST" {
            head += &format!("content-length: {}\r\n", body.len());
        }
        stream.write_all(format!("{head}\r\n").as_bytes()).expect("a request");
        // Who refuses a body may close before it has read all of it.
        let _ = stream.write_all(body);
        response(&mut stream).expect("a response")
    }

    pub fn get(&self, path: &str) -> Response {
        self.send("GET", path, &[], b"")
    }

    pub fn post(&self, path: &str, body: &Value) -> Response {
        self.send("POST", path, &[("content-type", "application/json")], body.to_string().as_bytes())
    }

    /// Whether it still answers as it should.
    #[track_caller]
    pub fn is_well(&self) {
        assert_eq!(self.get("/healthz").status, 200, "{}", self.said());
    }

    /// The value of a counter or gauge without labels.
    pub fn metric(&self, name: &str) -> f64 {
        let text = self.get("/metrics").text();
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        value.unwrap_or_else(|| panic!("no {name} in {text}"))
    }

    /// Waits until something holds.
    #[track_caller]
    pub fn eventually(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        let until = Instant::now() + PATIENCE;
        while !holds(self) {
            assert!(Instant::now() < until, "{what} does not come: {}", self.said());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads a response to its end; `None` where the connection ends without one.
pub fn response(stream: &mut TcpStream) -> Option<Response> {
    let mut bytes = Vec::new();
    // A connection that is reset after the response was sent has still given it.
    let mut buffer = [0; 8192];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        bytes.extend_from_slice(&buffer[..count]);
    }
    let end = bytes.windows(4).position(|it| it == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let mut response = Response { status, head, body: bytes[end + 4..].to_vec() };
    if response.header("transfer-encoding").is_some_and(|it| it == "chunked") {
        response.body = unchunked(&response.body);
    }
    Some(response)
}

fn unchunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(line) = bytes.windows(2).position(|it| it == b"\r\n") {
        let Ok(length) = usize::from_str_radix(&String::from_utf8_lossy(&bytes[..line]), 16) else { break };
        let (from, to) = (line + 2, (line + 2 + length).min(bytes.len()));
        whole.extend_from_slice(&bytes[from..to]);
        bytes = bytes.get(to + 2..).unwrap_or_default();
        if length == 0 {
            break;
        }
    }
    whole
}
