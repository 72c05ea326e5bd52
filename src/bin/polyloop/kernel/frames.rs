//! The channels to the Python process: frames of four bytes of length, the most significant first, and JSON text.

use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, SyncSender};
use std::thread;

use super::Event;

/// The longest frame that is taken from the process; a longer one was not written by our side of it.
const LONGEST: usize = 64 << 20;

/// Takes frames until there are no more, and makes events of them. It holds a bounded number of them.
pub fn read_all(mut stream: UnixStream, number: u64, event: fn(u64, Vec<u8>) -> Event, events: SyncSender<Event>) {
    thread::spawn(move || {
        while let Ok(frame) = read(&mut stream) {
            if events.send(event(number, frame)).is_err() {
                return;
            }
        }
        let _ = events.send(Event::Broken(number));
    });
}

/// Writes frames until there are no more, so that nobody waits for a process that does not read.
pub fn write_all(mut stream: UnixStream, frames: Receiver<Vec<u8>>) {
    thread::spawn(move || {
        for frame in frames {
            let Ok(length) = u32::try_from(frame.len()) else { return };
            if stream.write_all(&length.to_be_bytes()).and_then(|()| stream.write_all(&frame)).is_err() {
                return;
            }
        }
    });
}

fn read(stream: &mut UnixStream) -> io::Result<Vec<u8>> {
    let mut head = [0; 4];
    stream.read_exact(&mut head)?;
    let length = u32::from_be_bytes(head) as usize;
    if length > LONGEST {
        return Err(ErrorKind::InvalidData.into());
    }
    // What is not sent is not reserved.
    let mut frame = Vec::new();
    match stream.take(length as u64).read_to_end(&mut frame)? == length {
        true => Ok(frame),
        false => Err(ErrorKind::UnexpectedEof.into()),
    }
}
