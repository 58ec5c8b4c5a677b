//! Events in a byte stream that may hold anything between them.

use super::{HEADER, Header, LogEvent, MAX_CHANNEL, MAX_MESSAGE, SYNC};
use std::io::{self, BufRead, ErrorKind, Seek, SeekFrom};

/// Reader of events from the current position on.
#[derive(Debug)]
pub(super) struct Events<R> {
    stream: R,
    /// Bytes before the current position.
    position: u64,
    /// Length of the stream (bytes) when it was opened; more may be appended meanwhile.
    len: u64,
    pub(super) skipped: u64,
    /// Start of an event that extends beyond the end, known once the end was reached.
    pub(super) cut: Option<u64>,
}

/// A defect of one event, or of the stream.
#[derive(Debug)]
pub(super) enum Trouble {
    /// This event is unreadable; reading continues with the next.
    Event(String),
    Io(io::Error),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Kind of bytes at a position.
enum Found {
    Event(Header),
    /// The start of an event that extends beyond the end.
    Cut,
    Garbage,
    /// A possible event that is not followed by another one.
    Doubtful,
}

impl<R: BufRead + Seek> Events<R> {
    pub(super) fn new(mut stream: R) -> io::Result<Self> {
        let len = stream.seek(SeekFrom::End(0))?;
        stream.seek(SeekFrom::Start(0))?;
        Ok(Self {
            stream,
            position: 0,
            len,
            skipped: 0,
            cut: None,
        })
    }
    pub(super) fn position(&self) -> u64 {
        self.position
    }
    pub(super) fn len(&self) -> u64 {
        self.len
    }
    /// The header of the next event, without passing it: the position becomes its start. None at
    /// the end.
    pub(super) fn peek(&mut self) -> io::Result<Option<Header>> {
        self.peek_before(self.len, false)
    }
    /// Passes the event returned by `peek`.
    pub(super) fn pass(&mut self, header: &Header) -> io::Result<()> {
        self.advance_to(self.position + header.event_len())
    }
    /// The next event; None at the end.
    pub(super) fn next(&mut self) -> Result<Option<LogEvent>, Trouble> {
        let Some(header) = self.peek()? else {
            return Ok(None);
        };
        let start = self.position;
        if header.data > MAX_MESSAGE {
            self.pass(&header)?;
            return Err(Trouble::Event(format!(
                "the event at byte {start} must have at most {MAX_MESSAGE} bytes, got {}; it is left out",
                header.data
            )));
        }
        self.advance_to(start + HEADER as u64)?;
        let mut channel = [0; MAX_CHANNEL];
        let channel = &mut channel[..header.channel];
        self.stream.read_exact(channel)?;
        let mut data = vec![0; header.data];
        self.stream.read_exact(&mut data)?;
        self.position = start + header.event_len();
        let Ok(channel) = std::str::from_utf8(channel) else {
            return Err(Trouble::Event(format!(
                "the channel of the event at byte {start} is not UTF-8; it is left out"
            )));
        };
        Ok(Some(LogEvent {
            number: header.number,
            timestamp: header.timestamp,
            channel: channel.into(),
            data,
        }))
    }
    /// Finds the first event that starts within `from..end`, whose channel is text, and that is
    /// followed by another event or by the end of the stream: in the middle of a log, a few bytes
    /// of data may look like an event.
    pub(super) fn find(&mut self, from: u64, end: u64) -> io::Result<Option<Header>> {
        self.advance_to(from)?;
        let told = (self.skipped, self.cut);
        let found = self.peek_before(end, true);
        (self.skipped, self.cut) = told;
        found
    }
    pub(super) fn advance_to(&mut self, position: u64) -> io::Result<()> {
        let far = || {
            io::Error::new(
                ErrorKind::InvalidData,
                "the position is beyond the largest file offset",
            )
        };
        match i64::try_from(position.abs_diff(self.position)) {
            Ok(ahead) if position >= self.position => self.stream.seek_relative(ahead)?,
            Ok(back) => self.stream.seek_relative(-back)?,
            Err(_) => return Err(far()),
        }
        self.position = position;
        Ok(())
    }
    fn peek_before(&mut self, end: u64, strict: bool) -> io::Result<Option<Header>> {
        let start = self.position;
        // Start of the first event that the end of the stream may have cut off.
        let mut cut = None;
        // The number of checks for a following event is limited: a crafted file could make them
        // take too long.
        let mut doubts = 1000;
        while self.position < end {
            match self.look(strict && doubts > 0)? {
                Found::Event(header) => {
                    self.skipped += self.position - start;
                    return Ok(Some(header));
                }
                Found::Doubtful => doubts -= 1,
                Found::Cut => cut = cut.or(Some(self.position)),
                Found::Garbage => {}
            }
            self.skip_to_sync(end)?;
        }
        // Bytes after the start of a cut event belong to it, and are not garbage.
        let garbage_end = cut.unwrap_or(self.len).max(start);
        self.skipped += garbage_end - start;
        self.cut = self.cut.or(cut);
        Ok(None)
    }
    /// Classifies what is at the position, without moving it.
    fn look(&mut self, strict: bool) -> io::Result<Found> {
        let mut bytes = [0; HEADER];
        let rest = self.len - self.position;
        let whole = rest.min(HEADER as u64) as usize;
        let read = self.fill(&mut bytes[..whole])?;
        let start = self.position;
        if read < HEADER {
            let sync = SYNC.to_be_bytes();
            let head = &bytes[..read.min(4)];
            return Ok(if read > 0 && sync.starts_with(head) {
                Found::Cut
            } else {
                Found::Garbage
            });
        }
        let Some(header) = Header::from_bytes(&bytes) else {
            return Ok(Found::Garbage);
        };
        if header.event_len() > rest {
            return Ok(Found::Cut);
        }
        let next = start + header.event_len();
        if !strict || next == self.len {
            return Ok(Found::Event(header));
        }
        self.advance_to(start + HEADER as u64)?;
        let mut channel = [0; MAX_CHANNEL];
        let channel = &mut channel[..header.channel];
        self.fill(channel)?;
        if channel.contains(&0) || std::str::from_utf8(channel).is_err() {
            self.advance_to(start)?;
            return Ok(Found::Garbage);
        }
        self.advance_to(next)?;
        let mut sync = [0; 4];
        let read = self.fill(&mut sync)?;
        self.advance_to(start)?;
        // The event after it may be cut off by the end of the stream.
        let good = SYNC.to_be_bytes().starts_with(&sync[..read]);
        Ok(if good {
            Found::Event(header)
        } else {
            Found::Doubtful
        })
    }
    /// Reads as many bytes as there are, up to the length of `bytes`, and goes back.
    fn fill(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let mut read = 0;
        while read < bytes.len() {
            match self.stream.read(&mut bytes[read..]) {
                Ok(0) => break,
                Ok(more) => read += more,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.stream.seek_relative(-(read as i64))?;
        Ok(read)
    }
    /// Advances by at least one byte to the next sync word, or to its beginning at the end of the
    /// stream; not much further than `end`.
    fn skip_to_sync(&mut self, end: u64) -> io::Result<()> {
        let sync = SYNC.to_be_bytes();
        self.stream.seek_relative(1)?;
        self.position += 1;
        while self.position < end {
            let buffered = self.stream.fill_buf()?;
            if buffered.is_empty() {
                self.position = self.position.max(self.len);
                return Ok(());
            }
            let candidate = buffered.iter().position(|byte| *byte == sync[0]);
            let step = candidate.unwrap_or(buffered.len());
            self.stream.consume(step);
            self.position += step as u64;
            if candidate.is_some() {
                let mut bytes = [0; 4];
                let read = self.fill(&mut bytes)?;
                if sync.starts_with(&bytes[..read]) {
                    return Ok(());
                }
                self.stream.consume(1);
                self.position += 1;
            }
        }
        Ok(())
    }
}
