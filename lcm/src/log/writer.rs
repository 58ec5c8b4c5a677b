//! Writing logs.

use super::events::Events;
use super::open_files::OpenFile;
use super::{HEADER, Header, MAX_CHANNEL, MAX_MESSAGE, SYNC, format_error, open_regular};
use crate::message::encoded::Parts;
use crate::{Error, Result};
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Size of the buffer in which events are collected before they are written (bytes).
const BUFFER: usize = 1 << 16;

/// Writer of a log file.
///
/// Events are buffered and written in blocks of about 64 KiB, by [`LogWriter::flush`] and when the
/// writer is dropped. The file always consists of whole events, also after an error: a partly
/// written event is removed.
///
/// ```
/// use tarragon_lcm::{LogReader, LogWriter};
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("robot.lcm");
/// LogWriter::create(&path)?.write(0, "POSE", b"here")?;
/// LogWriter::append(&path)?.write(500_000, "POSE", b"there")?;
/// let events: Vec<_> = LogReader::open(&path)?.collect::<tarragon_lcm::Result<_>>()?;
/// assert_eq!((events[1].number, events[1].data.as_slice()), (1, b"there".as_slice()));
/// # Ok::<(), tarragon_lcm::Error>(())
/// ```
#[derive(Debug)]
pub struct LogWriter {
    path: PathBuf,
    file: File,
    /// Length of the file, which holds whole events only (bytes).
    end: u64,
    /// Whole events that are not written yet.
    buffer: Vec<u8>,
    number: i64,
    /// Keeps other writers from opening the file. Declared last, so that it is dropped after
    /// `file`.
    _open: OpenFile,
}

impl LogWriter {
    /// Starts a log, replacing the content of the file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written, is not a regular file, or has another writer
    /// in this process; its content then stays.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let options = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .to_owned();
        let file = open_regular(path, &options)?;
        let open = OpenFile::register(path, &file)?;
        // Truncate only now that no other writer has the file.
        file.set_len(0).map_err(|error| Error::io(path, error))?;
        Ok(Self {
            path: path.into(),
            file,
            end: 0,
            buffer: Vec::new(),
            number: 0,
            _open: open,
        })
    }
    /// Continues a log, or starts one if there is no file. Numbering continues from the last event.
    /// An incomplete event at the end is removed with a warning: readers would take what follows
    /// for its data.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read and written, is not a regular file, has another
    /// writer in this process, or ends with something other than an event.
    pub fn append(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let options = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .to_owned();
        let file = open_regular(path, &options)?;
        let open = OpenFile::register(path, &file)?;
        let io = |error| Error::io(path, error);
        let tail = Tail::of(&file).map_err(io)?;
        // A few bytes of the sync word alone do not make the file a log.
        let is_log = tail.end > 0 || tail.cut && tail.len >= SYNC.to_be_bytes().len() as u64;
        if tail.len > tail.end {
            if !(tail.cut && is_log) {
                let what = format!(
                    "the file must be an LCM log to append to, got no event at byte {}; choose another file",
                    tail.end
                );
                return Err(format_error(path, what));
            }
            tracing::warn!(
                "{}: the last event is incomplete; its {} bytes are removed",
                path.display(),
                tail.len - tail.end
            );
            file.set_len(tail.end).map_err(io)?;
        }
        (&file).seek(SeekFrom::Start(tail.end)).map_err(io)?;
        Ok(Self {
            path: path.into(),
            file,
            end: tail.end,
            buffer: Vec::new(),
            number: tail.number,
            _open: open,
        })
    }
    /// Appends a message received at `timestamp` (µs).
    ///
    /// # Errors
    /// Returns an error if the channel is empty, longer than 999 bytes or contains a zero, if the
    /// data exceeds 256 MiB, or if events cannot be written, for example because the disk is full.
    /// The event is then not in the log. Earlier events stay, and those not written yet are
    /// retried.
    pub fn write(&mut self, timestamp: i64, channel: &str, data: &[u8]) -> Result<()> {
        self.write_parts(timestamp, channel, data.into())
    }
    /// [`write`](Self::write) for a message in pieces.
    pub(crate) fn write_parts(
        &mut self,
        timestamp: i64,
        channel: &str,
        data: Parts<'_>,
    ) -> Result<()> {
        self.check(channel, data)?;
        let header = Header {
            number: self.number,
            timestamp,
            channel: channel.len(),
            data: data.len(),
        };
        let len = HEADER + channel.len() + data.len();
        if self.buffer.len() + len > BUFFER {
            self.flush()?;
        }
        let start = self.buffer.len();
        self.buffer.extend(header.to_bytes());
        self.buffer.extend(channel.as_bytes());
        if len <= BUFFER {
            data.pieces().for_each(|piece| self.buffer.extend(piece));
        } else {
            // The flushed buffer holds only this event's header, so that large data is not copied.
            let written = self.write_through(data);
            self.buffer.truncate(start);
            written?;
        }
        self.number = self.number.wrapping_add(1);
        Ok(())
    }
    /// Writes the buffered events.
    ///
    /// # Errors
    /// Returns an error if they cannot be written. They stay buffered, and the next call tries
    /// again.
    pub fn flush(&mut self) -> Result<()> {
        if !self.buffer.is_empty() {
            self.write_through(Parts::from(&[]))?;
            self.buffer.clear();
        }
        Ok(())
    }
    fn check(&self, channel: &str, data: Parts<'_>) -> Result<()> {
        let wrong = |what: String| Err(Error::invalid(format!("{}: {what}", self.path.display())));
        if channel.is_empty() || channel.len() > MAX_CHANNEL || channel.contains('\0') {
            return wrong(format!(
                "the channel must have 1 to {MAX_CHANNEL} bytes without a zero, got '{}' ({} bytes)",
                channel.escape_debug(),
                channel.len()
            ));
        }
        if data.len() > MAX_MESSAGE {
            return wrong(format!(
                "the message on channel '{channel}' must have at most {MAX_MESSAGE} bytes, got {}",
                data.len()
            ));
        }
        Ok(())
    }
    /// Writes the buffer and then `rest`, or nothing.
    fn write_through(&mut self, rest: Parts<'_>) -> Result<()> {
        let mut write = || {
            self.file.write_all(&self.buffer)?;
            rest.pieces()
                .try_for_each(|piece| self.file.write_all(piece))
        };
        match write() {
            Ok(()) => {
                self.end += (self.buffer.len() + rest.len()) as u64;
                Ok(())
            }
            Err(error) => {
                // Failures here have the same cause: the file cannot be written.
                let _ = self.file.set_len(self.end);
                let _ = self.file.seek(SeekFrom::Start(self.end));
                Err(Error::io(&self.path, error))
            }
        }
    }
}

impl Drop for LogWriter {
    fn drop(&mut self) {
        if let Err(error) = self.flush() {
            tracing::warn!("the last events of a log are lost: {error}");
        }
    }
}

/// The end of a log.
struct Tail {
    len: u64,
    /// End of the last whole event (bytes).
    end: u64,
    /// Whether part of an event follows immediately.
    cut: bool,
    /// Number of the next event.
    number: i64,
}

impl Tail {
    /// Walks along all headers: a search from the end could be misled by data that looks like
    /// events.
    fn of(file: &File) -> io::Result<Self> {
        let mut events = Events::new(BufReader::with_capacity(BUFFER, file))?;
        let (mut end, mut number) = (0, 0);
        while let Some(header) = events.peek()? {
            events.pass(&header)?;
            end = events.position();
            number = header.number.wrapping_add(1);
        }
        Ok(Self {
            len: events.len(),
            end,
            cut: events.cut == Some(end),
            number,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::LogReader;

    #[test]
    fn events_that_cannot_be_written_are_retried() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log.lcm");
        let mut log = LogWriter::create(&path).unwrap();
        let writable = std::mem::replace(&mut log.file, File::open(&path).unwrap());
        // Imitates a full disk: the event is buffered, then refused again and again, in the same
        // memory.
        log.write(0, "SMALL", b"x").unwrap();
        let collected = log.buffer.clone();
        for data in [vec![1; BUFFER], vec![2; 10 * BUFFER]] {
            for _ in 0..3 {
                let error = log.write(1, "LARGE", &data).unwrap_err().to_string();
                assert!(error.contains("log.lcm: "), "{error}");
                assert!(log.flush().is_err());
                assert_eq!(log.buffer, collected);
            }
        }
        assert_eq!((log.number, log.end), (1, 0));
        log.file = writable;
        log.write(2, "LARGE", &[3; 2 * BUFFER]).unwrap();
        log.file = File::open(&path).unwrap();
        // Large data that bypasses the buffer is refused, too.
        assert!(log.write(3, "LARGE", &[4; 2 * BUFFER]).is_err());
        assert!(log.buffer.is_empty());
        drop(log);
        let log = LogReader::open(&path).unwrap();
        let events = log.map(|event| event.map(|event| (event.number, event.timestamp)));
        let events: Vec<_> = events.collect::<Result<_>>().unwrap();
        assert_eq!(events, [(0, 0), (1, 2)]);
    }
}
