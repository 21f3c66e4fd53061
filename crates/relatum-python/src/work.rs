//! Runs the engine without blocking Python, and stops it when Python asks for that.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use std::{process, thread};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use relatum::Error;
use relatum::control::{Cancel, Control, OwnThreads};

use crate::errors::raised;

/// How often Python is asked whether Ctrl-C was pressed.
const PACE: Duration = Duration::from_millis(50);

/// Runs short work in the calling thread, with the interpreter released. Between its steps the work asks whether
/// to go on; at most every 50 ms that question reaches Python, so that Ctrl-C ends it.
pub(crate) fn short<T: Send>(
    py: Python<'_>,
    within: impl FnOnce(Control) -> Control + Send,
    work: impl FnOnce(&Control) -> Result<T, Error> + Send,
) -> PyResult<T> {
    if is_forked() {
        // The work runs in a pool here, and signals can only be asked for in the thread that called.
        return long(py, None, |control, _| control, |control| work(&within(control.clone())));
    }
    let interrupted = Arc::new(Mutex::new(Interrupted { next: Instant::now() + PACE, error: None }));
    let asked = Arc::clone(&interrupted);
    let control = within(Control::default().with_cancel(Cancel::when(move || is_interrupted(&asked))));
    let result = py.detach(|| caught(|| work(&control)));
    if let Some(error) = interrupted.lock().unwrap_or_else(PoisonError::into_inner).error.take() {
        return Err(error);
    }
    finished(py, result)
}

struct Interrupted {
    next: Instant,
    error: Option<PyErr>,
}

fn is_interrupted(state: &Mutex<Interrupted>) -> bool {
    // Another thread is asking Python at this moment; its answer is used the next time.
    let Ok(mut state) = state.try_lock() else { return false };
    if state.error.is_none() && Instant::now() >= state.next {
        state.next = Instant::now() + PACE;
        // At the end of the program there is no interpreter left to ask.
        state.error = Python::try_attach(|py| py.check_signals().err()).flatten();
    }
    state.error.is_some()
}

/// Looks something up, with the interpreter released: too short to be interrupted.
pub(crate) fn brief<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T, Error> + Send) -> PyResult<T> {
    finished(py, py.detach(|| caught(work)))
}

/// An event of the engine, as JSON with its name.
pub(crate) type Event = (&'static str, String);

/// The channel through which long work tells its events.
pub(crate) struct Told(Sender<Event>);

impl Told {
    /// A control that passes on every event of a type.
    pub(crate) fn every<E: 'static>(
        &self,
        control: Control,
        name: &'static str,
        data: impl Fn(&E) -> serde_json::Value + Send + Sync + 'static,
    ) -> Control {
        let sender = Mutex::new(self.0.clone());
        control.on(move |event: &E| {
            if let Ok(sender) = sender.lock() {
                // The listener may be gone after an exception.
                let _ = sender.send((name, data(event).to_string()));
            }
        })
    }

    /// The same for very frequent events: some are dropped, so that a person can follow them.
    pub(crate) fn some<E: 'static>(
        &self,
        control: Control,
        name: &'static str,
        data: impl Fn(&E) -> serde_json::Value + Send + Sync + 'static,
    ) -> Control {
        let state = Mutex::new((self.0.clone(), Instant::now()));
        control.on(move |event: &E| {
            let Ok(mut state) = state.lock() else { return };
            if Instant::now() >= state.1 {
                state.1 = Instant::now() + PACE;
                let _ = state.0.send((name, data(event).to_string()));
            }
        })
    }
}

/// Runs long work in a thread of its own while the calling thread passes events to a Python function and asks
/// for signals. Ctrl-C and an exception of the function stop the work; finished results are on disk when that
/// exception is raised.
pub(crate) fn long<T: Send>(
    py: Python<'_>,
    listener: Option<&Bound<'_, PyAny>>,
    listen: impl FnOnce(Control, &Told) -> Control,
    work: impl FnOnce(&Control) -> Result<T, Error> + Send,
) -> PyResult<T> {
    let cancel = Cancel::default();
    let (sender, events) = channel();
    let told = Told(sender);
    let control = Control::default().with_cancel(cancel.clone());
    let control = if listener.is_some() { listen(control, &told) } else { control };
    let events = Mutex::new(events);
    let own = own_threads()?;
    let outcome = thread::scope(|scope| {
        let worker = thread::Builder::new().name("relatum".to_owned()).spawn_scoped(scope, move || {
            let result = match own {
                Some(own) => caught(|| own.run(|| work(&control))),
                None => caught(|| work(&control)),
            };
            // The channel closes with its last sender, which must not be before the work is over.
            drop((control, told));
            result
        })?;
        let watched = watch(py, listener, &events);
        if watched.is_err() {
            cancel.cancel();
        }
        let result = py.detach(|| worker.join());
        watched.map(|()| result)
    })?;
    finished(py, outcome.ok().flatten())
}

/// Passes events on until the work is over.
fn watch(
    py: Python<'_>,
    listener: Option<&Bound<'_, PyAny>>,
    events: &Mutex<Receiver<Event>>,
) -> PyResult<()> {
    loop {
        let next = py.detach(|| events.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(PACE));
        match (next, listener) {
            (Ok((name, data)), Some(listener)) => drop(listener.call1((name, data))?),
            (Err(RecvTimeoutError::Disconnected), _) => return Ok(()),
            _ => {}
        }
        py.check_signals()?;
    }
}

/// The process that imported this module. The threads of its pool are not there in a process that is forked from
/// it, as `multiprocessing` does: work that waited for them would wait forever.
static IMPORTED_BY: OnceLock<u32> = OnceLock::new();

/// Notes which process imports the module.
pub(crate) fn imported() {
    IMPORTED_BY.get_or_init(process::id);
}

fn is_forked() -> bool {
    IMPORTED_BY.get().is_some_and(|&process| process != process::id())
}

/// The threads of a forked process; `None` where those of the whole program can be used.
fn own_threads() -> PyResult<Option<&'static OwnThreads>> {
    static OWN: Mutex<Option<(u32, &'static OwnThreads)>> = Mutex::new(None);
    if !is_forked() {
        return Ok(None);
    }
    let mut own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    match *own {
        Some((process, threads)) if process == process::id() => Ok(Some(threads)),
        _ => {
            // Kept until the process ends: what a parent made cannot be ended here, because it has no threads here.
            let threads: &'static OwnThreads = Box::leak(Box::new(OwnThreads::new("relatum", || {})?));
            *own = Some((process::id(), threads));
            Ok(Some(threads))
        }
    }
}

/// The result of the work; `None` if it panicked. A panic is a defect, but it must not end the Python program in a
/// way that `except Exception` cannot catch.
fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

fn finished<T>(py: Python<'_>, result: Option<Result<T, Error>>) -> PyResult<T> {
    let defect =
        "the engine failed unexpectedly; this is a defect of Relatum, please report it with the call";
    match result {
        Some(result) => result.map_err(|error| raised(py, error)),
        None => Err(PyRuntimeError::new_err(defect)),
    }
}
