//! Access control: bearer tokens, and pages of other origins.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use percent_encoding::percent_decode_str;
use subtle::{Choice, ConstantTimeEq};

use crate::problem::Problem;

/// Checks a request before anything else looks at it.
pub(crate) struct Guard {
    tokens: Option<Tokens>,
    /// Other origins whose pages may use the API.
    origins: Vec<String>,
    /// Whether only this machine can reach the server. Then, unless tokens are needed, a request for another host
    /// name is refused, because it may be an attack by DNS rebinding.
    loopback: bool,
}

/// The tokens of a file.
struct Tokens {
    file: PathBuf,
    tokens: RwLock<Vec<Vec<u8>>>,
}

/// Paths that need a token. The rest is public: the files of the page, which asks for the token itself, the
/// reference of the API, and the health checks.
const CLOSED: [&str; 4] = ["/api", "/sparql", "/mcp", "/metrics"];

/// The least length of a token.
const SHORTEST: usize = 16;

impl Guard {
    /// Reads the tokens; the message says what is wrong with the file.
    pub(crate) fn new(file: Option<&Path>, origins: Vec<String>, loopback: bool) -> Result<Self, String> {
        let tokens = match file {
            Some(file) => Some(Tokens { file: file.to_owned(), tokens: RwLock::new(read(file)?) }),
            None => None,
        };
        Ok(Self { tokens, origins, loopback })
    }

    /// Reads the tokens again. If that fails, the old ones stay.
    pub(crate) fn reload(&self) -> Result<(), String> {
        let Some(own) = &self.tokens else { return Ok(()) };
        *own.tokens.write().unwrap_or_else(PoisonError::into_inner) = read(&own.file)?;
        Ok(())
    }

    fn check(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
        refuse_token_in_url(uri)?;
        self.check_origin(method, headers)?;
        match &self.tokens {
            Some(tokens) if CLOSED.iter().any(|closed| uri.path().starts_with(closed)) => {
                tokens.check(headers)
            }
            _ => Ok(()),
        }
    }

    /// Refuses requests from pages of other origins, and requests for a host name that somebody made point to this
    /// machine.
    fn check_origin(&self, method: &Method, headers: &HeaderMap) -> Result<(), Problem> {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let host = text(header::HOST).unwrap_or_default();
        if self.loopback && self.tokens.is_none() && !is_local(host) {
            let detail = format!("this server is only for its own machine, which is not called `{host}`");
            return Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, "host", detail));
        }
        let reads = matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS);
        let foreign = text(header::ORIGIN).filter(|origin| {
            origin.split_once("://").map(|(_, own)| own) != Some(host)
                && !self.origins.iter().any(|it| it == origin)
        });
        match foreign {
            Some(origin) if !reads => {
                let detail = format!("pages of `{origin}` may not use this server");
                Err(Problem::new(StatusCode::FORBIDDEN, "origin", detail))
            }
            _ => Ok(()),
        }
    }
}

/// Around every request.
pub(crate) async fn guard(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    match guard.check(request.method(), request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

impl Tokens {
    fn check(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let unauthorised = |detail: &str| {
            let problem = Problem::new(StatusCode::UNAUTHORIZED, "unauthorised", detail);
            Err(problem.remedy("send the header `Authorization: Bearer TOKEN`"))
        };
        let Some(value) = headers.get(header::AUTHORIZATION) else {
            return unauthorised("the request has no token");
        };
        let given = value.as_bytes();
        let token = given.split_at_checked(7).filter(|(scheme, _)| scheme.eq_ignore_ascii_case(b"bearer "));
        let Some((_, token)) = token else {
            return unauthorised("the header Authorization has no bearer token");
        };
        // All tokens are compared, each in constant time, so that the time reveals nothing about them.
        let tokens = self.tokens.read().unwrap_or_else(PoisonError::into_inner);
        let found = tokens.iter().fold(Choice::from(0), |found, known| found | known.as_slice().ct_eq(token));
        if found.into() { Ok(()) } else { unauthorised("the token is not one of this server") }
    }
}

/// What a token is called in URLs.
const SECRETS: [&str; 5] = ["token", "access_token", "api_key", "bearer", "authorization"];

/// A token in a URL ends up in logs and histories.
fn refuse_token_in_url(uri: &Uri) -> Result<(), Problem> {
    // Only names are decoded: values of other parameters may be whatever they like.
    let parts = uri.query().unwrap_or_default().split('&');
    let mut names =
        parts.map(|part| percent_decode_str(part.split('=').next().unwrap_or_default()).decode_utf8_lossy());
    let is_secret = |name: &str| SECRETS.iter().any(|secret| name.eq_ignore_ascii_case(secret));
    match names.find(|name| is_secret(name)) {
        Some(name) => Err(Problem::bad(
            "parameters",
            format!("`{name}` does not belong in a URL, because logs and histories keep it"),
        )
        .remedy("send the header `Authorization: Bearer TOKEN`, and replace this token by a new one")),
        None => Ok(()),
    }
}

/// Whether a host, with or without port, is this machine.
fn is_local(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Reads one token a line; blank lines and those that begin with # are skipped.
fn read(file: &Path) -> Result<Vec<Vec<u8>>, String> {
    let name = file.display();
    let text =
        fs::read_to_string(file).map_err(|error| format!("cannot read the tokens of {name}: {error}"))?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let tokens: Vec<Vec<u8>> = lines.map(|line| line.as_bytes().to_vec()).collect();
    if tokens.is_empty() {
        return Err(format!("{name} holds no token: write one a line"));
    }
    if let Some(short) = tokens.iter().position(|token| token.len() < SHORTEST) {
        return Err(format!(
            "token {} of {name} has fewer than {SHORTEST} characters: anybody could guess it",
            short + 1
        ));
    }
    Ok(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(header::HeaderName, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect()
    }

    #[test]
    fn any_token_of_the_file_opens_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("tokens");
        fs::write(&file, "# two people\n0123456789abcdef\n\n  fedcba9876543210  \n").unwrap();
        let guard = Guard::new(Some(&file), Vec::new(), true).unwrap();
        let status = |value: &str| {
            let headers = headers(&[(header::AUTHORIZATION, value)]);
            guard.check(&Method::GET, &"/api/v1/info".parse().unwrap(), &headers).err().map(|it| it.status)
        };
        assert_eq!(status("Bearer 0123456789abcdef"), None);
        assert_eq!(status("bearer fedcba9876543210"), None);
        for wrong in
            ["Bearer 0123456789abcde", "Bearer 0123456789abcdef0", "Basic 0123456789abcdef", "Bearer", ""]
        {
            assert_eq!(status(wrong), Some(401), "{wrong}");
        }
        let open = guard.check(&Method::GET, &"/healthz".parse().unwrap(), &HeaderMap::new());
        assert!(open.is_ok());
        fs::write(&file, "short").unwrap();
        assert!(guard.reload().unwrap_err().contains("fewer than 16"));
        assert_eq!(status("Bearer 0123456789abcdef"), None, "the old ones stay");
        fs::write(&file, "another-token-0123").unwrap();
        guard.reload().unwrap();
        assert_eq!(status("Bearer 0123456789abcdef"), Some(401));
    }

    #[test]
    fn tokens_in_urls_foreign_hosts_and_foreign_origins_are_refused() {
        let guard = Guard::new(None, vec!["https://a.org".to_owned()], true).unwrap();
        let status = |method: Method, uri: &str, pairs: &[(header::HeaderName, &str)]| {
            guard.check(&method, &uri.parse().unwrap(), &headers(pairs)).err().map(|it| it.status)
        };
        let host = (header::HOST, "127.0.0.1:7878");
        assert_eq!(status(Method::GET, "/", std::slice::from_ref(&host)), None);
        for url in ["/api?token=x", "/api?Access_Token=x", "/api?%74oken=x", "/api?name=%FF&token=x"] {
            assert_eq!(status(Method::GET, url, std::slice::from_ref(&host)), Some(400), "{url}");
        }
        assert_eq!(status(Method::GET, "/api?name=token", std::slice::from_ref(&host)), None);
        for (name, there) in
            [("localhost", None), ("[::1]:80", None), ("evil.org", Some(421)), ("127.evil.org:1", Some(421))]
        {
            assert_eq!(status(Method::GET, "/", &[(header::HOST, name)]), there, "{name}");
        }
        let from = |origin: &'static str| [host.clone(), (header::ORIGIN, origin)];
        assert_eq!(status(Method::POST, "/", &from("http://127.0.0.1:7878")), None);
        assert_eq!(status(Method::POST, "/", &from("https://a.org")), None);
        assert_eq!(status(Method::POST, "/", &from("https://b.org")), Some(403));
        assert_eq!(status(Method::POST, "/", &from("null")), Some(403));
    }
}
