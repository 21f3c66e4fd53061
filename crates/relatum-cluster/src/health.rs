//! Whether a scheduler answers, and how many executors it has.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use crate::ClusterError;

/// How long one look may take.
const PATIENCE: Duration = Duration::from_secs(3);
/// Between two looks.
const BETWEEN: Duration = Duration::from_millis(500);
/// What answers may be anything: no more is read than a health probe has to say.
const LONGEST: usize = 1 << 16;
/// So many looks without an answer, and the scheduler is gone.
const MISSED: usize = 3;

/// How many executors a scheduler has. The scheduler serves this beside its own protocol, for Kubernetes' probes.
pub fn executors(address: &str) -> Result<usize, ClusterError> {
    let silent = |why: String| ClusterError::NoScheduler { address: address.to_owned(), why };
    let answer = get(address, "/readyz").map_err(|error| silent(error.to_string()))?;
    let text = answer.rsplit("\r\n\r\n").next().unwrap_or_default();
    // `ready: 2 executors registered` or `not ready: 0/1 executors registered`
    let number = text.split(": ").nth(1).and_then(|rest| rest.split([' ', '/']).next());
    number
        .and_then(|number| number.parse().ok())
        .ok_or_else(|| silent("something else answers there".to_owned()))
}

/// Makes sure that `address` is `host:port`.
pub fn checked_address(address: &str) -> Result<String, ClusterError> {
    let plain = address.trim_start_matches("http://").trim_start_matches("df://").trim_end_matches('/');
    let refused = || ClusterError::Address(address.to_owned());
    let (host, port) = plain.rsplit_once(':').ok_or_else(refused)?;
    if host.is_empty() || host.contains('/') || port.parse::<u16>().is_err() {
        return Err(refused());
    }
    Ok(plain.to_owned())
}

/// Waits until a scheduler answers, but not longer than this.
pub async fn wait_for_scheduler(address: &str, patience: Duration) -> Result<(), ClusterError> {
    let began = Instant::now();
    loop {
        match look(address).await {
            Ok(_) => return Ok(()),
            Err(error) if began.elapsed() >= patience => return Err(error),
            Err(_) => tokio::time::sleep(BETWEEN).await,
        }
    }
}

/// Waits until the scheduler has an executor; an error if it does not answer, or has none for so long.
pub async fn wait_for_executors(address: &str, patience: Duration) -> Result<usize, ClusterError> {
    let began = Instant::now();
    loop {
        let count = look(address).await?;
        if count > 0 {
            return Ok(count);
        }
        if began.elapsed() >= patience {
            return Err(ClusterError::NoExecutors {
                address: address.to_owned(),
                seconds: patience.as_secs(),
            });
        }
        tokio::time::sleep(BETWEEN).await;
    }
}

/// Returns when a round has no chance any more: the scheduler is gone, or has had no executors for so long. A round
/// that is merely slow is never given up.
pub async fn watch(address: &str, patience: Duration) -> ClusterError {
    let (mut missed, mut without) = (0, None::<Instant>);
    loop {
        tokio::time::sleep(BETWEEN).await;
        match look(address).await {
            Err(ClusterError::NoScheduler { why, .. }) => {
                missed += 1;
                if missed >= MISSED {
                    return ClusterError::SchedulerGone { address: address.to_owned(), why };
                }
            }
            Err(error) => return error,
            Ok(0) => {
                missed = 0;
                let since = without.get_or_insert_with(Instant::now);
                if since.elapsed() >= patience {
                    return ClusterError::NoExecutors {
                        address: address.to_owned(),
                        seconds: patience.as_secs(),
                    };
                }
            }
            Ok(_) => (missed, without) = (0, None),
        }
    }
}

async fn look(address: &str) -> Result<usize, ClusterError> {
    let owned = address.to_owned();
    let look = tokio::task::spawn_blocking(move || executors(&owned)).await;
    look.unwrap_or_else(|error| {
        Err(ClusterError::NoScheduler { address: address.to_owned(), why: error.to_string() })
    })
}

fn get(address: &str, path: &str) -> std::io::Result<String> {
    let mut last = std::io::Error::other("the name has no address");
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Err(error) => last = error,
            Ok(mut stream) => {
                stream.set_write_timeout(Some(PATIENCE))?;
                let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
                stream.write_all(request.as_bytes())?;
                let answer = read_for(&mut stream, PATIENCE, |answer| answer.len() >= LONGEST)?;
                return Ok(String::from_utf8_lossy(&answer).into_owned());
            }
        }
    }
    Err(last)
}

/// Whether something that speaks HTTP/2, as calls to the scheduler do, answers at an address: it is greeted and must
/// send its settings. Health is told by another protocol on the same port, which something else may speak too.
pub async fn speaks_calls(address: &str) -> Result<(), ClusterError> {
    let owned = address.to_owned();
    let greeted = tokio::task::spawn_blocking(move || greet(&owned)).await;
    let silent = |why: String| ClusterError::NoScheduler { address: address.to_owned(), why };
    match greeted.map_err(std::io::Error::other).flatten() {
        Ok(true) => Ok(()),
        Ok(false) => Err(silent("it answers health probes and no calls".to_owned())),
        Err(error) => Err(silent(error.to_string())),
    }
}

fn greet(address: &str) -> std::io::Result<bool> {
    /// What a client of HTTP/2 begins with: the preface, and a frame of settings that changes none.
    const GREETING: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    /// The kind of that frame, its fourth byte.
    const SETTINGS: u8 = 4;
    let address = address.to_socket_addrs()?.next();
    let address = address.ok_or_else(|| std::io::Error::other("the name has no address"))?;
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(GREETING)?;
    let answer = read_for(&mut stream, PATIENCE, |answer| answer.len() >= 4)?;
    Ok(answer.get(3) == Some(&SETTINGS))
}

/// Reads until there is enough, or the other side is done; not longer than this in all.
fn read_for(
    stream: &mut TcpStream,
    patience: Duration,
    is_enough: impl Fn(&[u8]) -> bool,
) -> std::io::Result<Vec<u8>> {
    let late = || {
        let seconds = patience.as_secs();
        std::io::Error::other(format!("it did not answer within {seconds} seconds"))
    };
    let (began, mut answer, mut part) = (Instant::now(), Vec::new(), [0; 4096]);
    while !is_enough(&answer) {
        let left = patience.checked_sub(began.elapsed()).filter(|left| !left.is_zero()).ok_or_else(late)?;
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut part) {
            Ok(0) => break,
            Ok(read) => answer.extend_from_slice(&part[..read]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                return Err(late());
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => (),
            Err(error) => return Err(error),
        }
    }
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn an_address_is_a_host_and_a_port() {
        assert_eq!(checked_address("127.0.0.1:50050").unwrap(), "127.0.0.1:50050");
        assert_eq!(checked_address("http://node:1/").unwrap(), "node:1");
        for wrong in ["", "node", "node:", ":1", "node:x", "node:99999", "a/b:1"] {
            assert!(checked_address(wrong).unwrap_err().to_string().contains("host:port"), "{wrong}");
        }
    }

    #[test]
    fn nothing_and_something_else_are_told_from_a_scheduler() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let answering = std::thread::spawn(move || {
            for said in [
                "HTTP/1.1 200 OK\r\n\r\nready: 12 executors registered\n",
                "HTTP/1.1 503 No\r\n\r\nnot ready: 0/1 executors registered\n",
                "SSH-2.0\r\n",
            ] {
                let (mut stream, _) = listener.accept().unwrap();
                let mut asked = [0; 512];
                let _ = stream.read(&mut asked).unwrap();
                stream.write_all(said.as_bytes()).unwrap();
            }
        });
        assert_eq!(executors(&address).unwrap(), 12);
        assert_eq!(executors(&address).unwrap(), 0);
        assert!(executors(&address).unwrap_err().to_string().contains("something else"));
        answering.join().unwrap();
        assert!(executors(&address).unwrap_err().to_string().contains("no scheduler answers"));
    }

    #[test]
    fn who_dribbles_is_not_waited_for() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let dribbling = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            while stream.write_all(b"x").is_ok() {
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let mut stream = TcpStream::connect(address).unwrap();
        let late = read_for(&mut stream, Duration::from_millis(200), |_| false).unwrap_err();
        assert!(late.to_string().contains("did not answer within"), "{late}");
        drop(stream);
        dribbling.join().unwrap();
    }

    #[test]
    fn health_alone_is_no_scheduler() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let answering = std::thread::spawn(move || {
            for said in [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], b"\0\0\0\x04\0\0\0\0\0"] {
                let (mut stream, _) = listener.accept().unwrap();
                let mut asked = [0; 33];
                stream.read_exact(&mut asked).unwrap();
                stream.write_all(said).unwrap();
            }
        });
        assert!(!greet(&address).unwrap());
        assert!(greet(&address).unwrap());
        answering.join().unwrap();
    }
}
