//! Metrics for monitoring, in the text format of Prometheus.

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

use crate::searches::Load;

/// The counters of a server.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<Answered, Counter>,
    latency: Family<Endpoint, Histogram>,
    searches: Family<Shape, Histogram>,
    rows: Counter,
    cancelled: Counter,
    refused: Counter,
    cache_hits: Counter,
    cache_misses: Counter,
    waiting: Gauge,
    running: Gauge,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Answered {
    endpoint: String,
    method: String,
    status: u16,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Endpoint {
    endpoint: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Shape {
    shape: String,
}

/// Buckets from a quarter of a millisecond to a minute.
fn histogram() -> Histogram {
    Histogram::new(exponential_buckets(0.000_25, 2.0, 18))
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut own = Self {
            registry: Registry::with_prefix("relatum"),
            requests: Family::default(),
            latency: Family::new_with_constructor(histogram),
            searches: Family::new_with_constructor(histogram),
            rows: Counter::default(),
            cancelled: Counter::default(),
            refused: Counter::default(),
            cache_hits: Counter::default(),
            cache_misses: Counter::default(),
            waiting: Gauge::default(),
            running: Gauge::default(),
        };
        let to = &mut own.registry;
        to.register("requests", "Requests by endpoint, method and status", own.requests.clone());
        let about = "Time from a request to the head of its response, by endpoint";
        to.register_with_unit("request", about, Unit::Seconds, own.latency.clone());
        let about = "Time of a search, by the shape of its question";
        to.register_with_unit("search", about, Unit::Seconds, own.searches.clone());
        to.register("rows_scored", "Rows scored by all searches", own.rows.clone());
        to.register(
            "searches_cancelled",
            "Searches cancelled because the client had gone",
            own.cancelled.clone(),
        );
        to.register("searches_refused", "Searches refused because the queue was full", own.refused.clone());
        to.register("cache_hits", "Questions answered from the cache of replies", own.cache_hits.clone());
        to.register(
            "cache_misses",
            "Questions that the cache of replies did not hold",
            own.cache_misses.clone(),
        );
        to.register("searches_waiting", "Searches in the queue", own.waiting.clone());
        to.register("searches_running", "Running searches", own.running.clone());
        own
    }

    pub(crate) fn answered(&self, endpoint: &str, method: &str, status: u16, time: Duration) {
        let endpoint = endpoint.to_owned();
        let labels = Answered { endpoint: endpoint.clone(), method: method.to_owned(), status };
        self.requests.get_or_create(&labels).inc();
        self.latency.get_or_create(&Endpoint { endpoint }).observe(time.as_secs_f64());
    }

    pub(crate) fn searched(&self, shape: &str, rows: usize, time: Duration) {
        self.searches.get_or_create(&Shape { shape: shape.to_owned() }).observe(time.as_secs_f64());
        self.rows.inc_by(rows as u64);
    }

    pub(crate) fn cancelled(&self) {
        self.cancelled.inc();
    }

    pub(crate) fn refused(&self) {
        self.refused.inc();
    }

    pub(crate) fn cache(&self, hit: bool) {
        (if hit { &self.cache_hits } else { &self.cache_misses }).inc();
    }

    /// All metrics as text.
    pub(crate) fn text(&self, load: Load) -> String {
        self.waiting.set(load.waiting as i64);
        self.running.set(load.running as i64);
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
