//! The lines of the Model Context Protocol on standard input and output.
//!
//! The library beneath passes over lines that it cannot read, and who sent one would wait forever. Here such lines are
//! answered with the errors that JSON-RPC has for them, and only the others are handed on.

use serde_json::{Value, json};
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream, duplex,
};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Bytes that wait between two ends of a pipe.
const PIPE: usize = 64 << 10;

/// Both directions, and the task that writes.
pub(crate) struct Lines {
    /// What the library reads from and writes to.
    pub(crate) transport: (DuplexStream, DuplexStream),
    /// Ends when everything is written.
    pub(crate) written: JoinHandle<()>,
}

/// Hands on the lines that are messages of JSON-RPC, and answers all others.
pub(crate) fn checked(
    input: impl AsyncRead + Unpin + Send + 'static,
    mut output: impl AsyncWrite + Unpin + Send + 'static,
) -> Lines {
    let (mut to_library, from_client) = duplex(PIPE);
    let (to_client, from_library) = duplex(PIPE);
    let (send, mut written) = mpsc::channel::<Vec<u8>>(64);
    let answers = send.clone();
    tokio::spawn(async move {
        let mut input = BufReader::new(input);
        while let Some(line) = next(&mut input).await {
            let passed = match mistake(&line) {
                None => to_library.write_all(&line).await.is_ok(),
                Some(error) => answers.send((error.to_string() + "\n").into_bytes()).await.is_ok(),
            };
            if !passed {
                break;
            }
        }
    });
    tokio::spawn(async move {
        let mut library = BufReader::new(from_library);
        while let Some(line) = next(&mut library).await {
            if send.send(line).await.is_err() {
                break;
            }
        }
    });
    let writing = async move {
        while let Some(line) = written.recv().await {
            if output.write_all(&line).await.is_err() || output.flush().await.is_err() {
                break;
            }
        }
    };
    Lines { transport: (from_client, to_client), written: tokio::spawn(writing) }
}

/// The next line with its end; `None` at the end of the input.
async fn next(input: &mut (impl AsyncBufRead + Unpin)) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    let read = input.read_until(b'\n', &mut line).await.ok()?;
    if read > 0 && line.last() != Some(&b'\n') {
        line.push(b'\n');
    }
    (read > 0).then_some(line)
}

/// The answer to a line that is no message; `None` if it is one, or empty.
fn mistake(line: &[u8]) -> Option<Value> {
    if line.trim_ascii().is_empty() {
        return None;
    }
    let answer = |id: &Value, code: i32, message: String| {
        Some(json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }))
    };
    let value: Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(error) => return answer(&Value::Null, -32700, format!("this line is not JSON: {error}")),
    };
    let has = |name: &str| value.get(name).is_some();
    let request = value.get("method").is_some_and(Value::is_string);
    let response = has("id") && (has("result") || has("error"));
    if value.get("jsonrpc").and_then(Value::as_str) == Some("2.0") && (request || response) {
        return None;
    }
    let id = value.get("id").filter(|id| id.is_string() || id.is_number()).unwrap_or(&Value::Null);
    let expected = "expected one object with `jsonrpc`: \"2.0\", a `method` and its `params`";
    answer(id, -32600, format!("this line is no request of JSON-RPC: {expected}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_that_are_no_messages_are_answered_and_the_others_handed_on() {
        let (mut client, input) = duplex(1 << 16);
        let (output, answers) = duplex(1 << 16);
        let Lines { transport: (from_client, mut to_client), .. } = checked(input, output);
        let (mut library, mut answers) = (BufReader::new(from_client), BufReader::new(answers));
        client.write_all(b"hello\n\xff\n{\"id\": 7}\n[]\n\n").await.unwrap();
        for (code, id) in
            [(-32700, Value::Null), (-32700, Value::Null), (-32600, json!(7)), (-32600, Value::Null)]
        {
            let answer: Value = serde_json::from_slice(&next(&mut answers).await.unwrap()).unwrap();
            assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{answer}");
        }
        let request = b"{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"ping\"}\n";
        client.write_all(request).await.unwrap();
        // The empty line is handed on, and the library passes over it.
        assert_eq!(next(&mut library).await.unwrap(), b"\n");
        assert_eq!(next(&mut library).await.unwrap(), request);
        to_client.write_all(b"{}\n").await.unwrap();
        assert_eq!(next(&mut answers).await.unwrap(), b"{}\n");
    }
}
