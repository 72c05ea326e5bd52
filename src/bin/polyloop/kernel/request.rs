//! The requests: JSON objects, one a line.

use std::fmt;
use std::io::BufRead;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use polyloop::{Code, Error};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::Event;

/// The longest line that is taken.
const LONGEST_LINE: usize = 64 << 20;

/// A line that has been understood.
#[derive(Debug)]
pub enum Request {
    /// Runs a cell.
    Cell(Cell),
    /// Interrupts the cell that runs.
    Interrupt,
}

/// A cell to run.
#[derive(Debug)]
pub struct Cell {
    /// Its source.
    pub source: String,
    /// What its answer is known by.
    pub id: Option<Box<RawValue>>,
    /// Its own time limit.
    pub time_limit: Option<Duration>,
}

/// A line that is no request.
#[derive(Debug)]
pub struct Refusal {
    /// What is wrong with it.
    pub error: Error,
    /// What its answer is known by, where that could be read.
    pub id: Option<Box<RawValue>>,
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Refusal { error, id: None }
    }
}

const KEYS: [&str; 4] = ["cell", "id", "timeout_seconds", "interrupt"];

impl Request {
    /// Understands a line.
    pub fn parse(line: &[u8]) -> Result<Request, Refusal> {
        let text = std::str::from_utf8(line).map_err(|error| {
            let at = error.valid_up_to();
            Error::new(Code::RequestEncoding, format!("the line is not UTF-8 at byte {at}"))
        })?;
        let Fields(fields) = serde_json::from_str(text).map_err(|error| match error.is_data() {
            true => {
                Error::new(Code::RequestType, "the line is no JSON object").with_hint("write {\"cell\": \"SOURCE\"}")
            }
            false => Error::new(Code::RequestSyntax, format!("the line is no JSON: {error}")),
        })?;
        let id = || value(&fields, "id").map(ToOwned::to_owned);
        Request::of(&fields, id()).map_err(|error| Refusal { error, id: id() })
    }

    fn of(fields: &[(String, Box<RawValue>)], id: Option<Box<RawValue>>) -> Result<Request, Error> {
        for (place, (key, _)) in fields.iter().enumerate() {
            if !KEYS.contains(&key.as_str()) {
                let error = Error::new(Code::RequestUnknownField, format!("there is no key {key:?} here"));
                return Err(error.with_nearest(key, KEYS).with_path(key));
            }
            if fields[..place].iter().any(|(other, _)| other == key) {
                return Err(Error::new(Code::RequestDuplicateKey, format!("{key} is given twice")).with_path(key));
            }
        }
        match (value(fields, "cell"), value(fields, "interrupt")) {
            (Some(cell), None) => Ok(Request::Cell(Cell {
                source: typed(cell, "cell", "a string")?,
                id,
                time_limit: value(fields, "timeout_seconds").map(time_limit).transpose()?,
            })),
            (None, Some(interrupt)) if fields.len() == 1 && interrupt.get() == "true" => Ok(Request::Interrupt),
            (_, Some(_)) => Err(Error::new(Code::RequestType, "interrupt stands alone, and is true")
                .with_path("interrupt")
                .with_hint("write {\"interrupt\": true}")),
            (None, None) => Err(Error::new(Code::RequestType, "there is no cell")
                .with_path("cell")
                .with_hint("write {\"cell\": \"SOURCE\"}")),
        }
    }
}

fn value<'f>(fields: &'f [(String, Box<RawValue>)], key: &str) -> Option<&'f RawValue> {
    fields.iter().find(|(name, _)| name == key).map(|(_, value)| &**value)
}

fn typed<'v, T: Deserialize<'v>>(value: &'v RawValue, key: &str, wanted: &str) -> Result<T, Error> {
    serde_json::from_str(value.get()).map_err(|error| match error.is_data() {
        true => Error::new(Code::RequestType, format!("{key} must be {wanted}")).with_path(key),
        false => Error::new(Code::RequestSyntax, format!("{key} is no JSON: {error}")).with_path(key),
    })
}

fn time_limit(value: &RawValue) -> Result<Duration, Error> {
    let wanted = "a number above 0, and at most 1000000";
    let seconds: f64 = typed(value, "timeout_seconds", wanted)?;
    match seconds > 0.0 && seconds <= 1e6 {
        true => Ok(Duration::from_secs_f64(seconds)),
        false => {
            Err(Error::new(Code::RequestType, format!("timeout_seconds must be {wanted}")).with_path("timeout_seconds"))
        }
    }
}

/// The fields of an object, as they stand.
struct Fields(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    // One more than there can be is enough to find what is wrong.
                    if fields.len() <= KEYS.len() {
                        fields.push(field);
                    }
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

/// How much of the requests that wait is held at most.
const MOST_WAITING_BYTES: usize = 2 * LONGEST_LINE;

/// The bytes of the requests that wait.
#[derive(Clone, Default)]
pub struct Waiting(Arc<(Mutex<usize>, Condvar)>);

impl Waiting {
    fn add(&self, bytes: usize) {
        let (held, changed) = &*self.0;
        let held = held.lock().unwrap_or_else(PoisonError::into_inner);
        let wait = changed.wait_while(held, |held| *held > 0 && *held + bytes > MOST_WAITING_BYTES);
        *wait.unwrap_or_else(PoisonError::into_inner) += bytes;
    }

    /// Says that a request no longer waits.
    pub fn remove(&self, request: &Result<Request, Refusal>) {
        let (held, changed) = &*self.0;
        *held.lock().unwrap_or_else(PoisonError::into_inner) -= weight(request);
        changed.notify_all();
    }
}

fn weight(request: &Result<Request, Refusal>) -> usize {
    let id = |id: &Option<Box<RawValue>>| id.as_ref().map_or(0, |id| id.get().len());
    // Beside their text they take some room each.
    256 + match request {
        Ok(Request::Cell(cell)) => cell.source.len() + id(&cell.id),
        Ok(Request::Interrupt) => 0,
        Err(refusal) => id(&refusal.id),
    }
}

/// Reads requests to the end of an input, and makes events of them.
pub fn read_all(mut input: impl BufRead + Send + 'static, waiting: Waiting, events: SyncSender<Event>) {
    thread::spawn(move || {
        let mut line = Vec::new();
        loop {
            line.clear();
            let Ok(read) = std::io::Read::take(&mut input, LONGEST_LINE as u64 + 1).read_until(b'\n', &mut line) else {
                break;
            };
            if read == 0 {
                break;
            }
            let request = if read > LONGEST_LINE && !line.ends_with(b"\n") {
                if input.skip_until(b'\n').is_err() {
                    break;
                }
                let message = format!("the line is longer than {LONGEST_LINE} bytes");
                Err(Error::new(Code::RequestLimit, message).into())
            } else if line.trim_ascii().is_empty() {
                continue;
            } else {
                Request::parse(&line)
            };
            waiting.add(weight(&request));
            if events.send(Event::Line(request)).is_err() {
                return;
            }
            line.shrink_to(1 << 16);
        }
        let _ = events.send(Event::InputEnd);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_request_is_refused_with_a_code() {
        let deep = format!("{{\"cell\": {}", "[".repeat(1_000_000));
        for (line, code) in [
            (&b"{"[..], Code::RequestSyntax),
            (b"nonsense", Code::RequestSyntax),
            (b"{\"cell\": \"a\"} x", Code::RequestSyntax),
            (b"{\"cell\": \"\\ud800\"}", Code::RequestSyntax),
            (deep.as_bytes(), Code::RequestSyntax),
            (b"\"\xff\"", Code::RequestEncoding),
            (b"[]", Code::RequestType),
            (b"\"1 + 1\"", Code::RequestType),
            (b"null", Code::RequestType),
            (b"{}", Code::RequestType),
            (b"{\"id\": 1}", Code::RequestType),
            (b"{\"cell\": 1}", Code::RequestType),
            (b"{\"cell\": null}", Code::RequestType),
            (b"{\"cell\": [\"a\"]}", Code::RequestType),
            (b"{\"cell\": \"a\", \"timeout_seconds\": \"1\"}", Code::RequestType),
            (b"{\"cell\": \"a\", \"timeout_seconds\": 0}", Code::RequestType),
            (b"{\"cell\": \"a\", \"timeout_seconds\": -1}", Code::RequestType),
            (b"{\"cell\": \"a\", \"timeout_seconds\": 1e300}", Code::RequestType),
            (b"{\"interrupt\": false}", Code::RequestType),
            (b"{\"interrupt\": true, \"cell\": \"a\"}", Code::RequestType),
            (b"{\"cel\": \"a\"}", Code::RequestUnknownField),
            (b"{\"cell\": \"a\", \"cell\": \"b\"}", Code::RequestDuplicateKey),
        ] {
            let shown = String::from_utf8_lossy(&line[..line.len().min(60)]);
            assert_eq!(Request::parse(line).expect_err(&shown).error.code(), code, "{shown}");
        }
    }

    #[test]
    fn ids_are_kept_as_they_stand() {
        for id in ["1", "1.50", "\"a\"", "null", "{\"b\":[1e400]}"] {
            let Ok(Request::Cell(cell)) = Request::parse(format!("{{\"cell\":\"\",\"id\":{id}}}").as_bytes()) else {
                panic!("{id} is refused")
            };
            assert_eq!(cell.id.expect("an id is given").get(), id);
        }
        let refusal = Request::parse(b"{\"cell\": 1, \"id\": 7}").expect_err("a number is no cell");
        assert_eq!(refusal.id.expect("an id is given").get(), "7");
    }
}
