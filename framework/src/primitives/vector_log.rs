//! Samples of a signal over time.

use crate::counted::counted;
use crate::{Error, Result, Scalar};
use nalgebra::DMatrixView;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io;
use std::sync::Arc;

/// Approximate size (bytes) of the pieces in which text is written.
const PIECE: usize = 1 << 16;

/// Recorded samples: times and one vector per time (Drake's `VectorLog`).
///
/// Samples lie one after the other in one array, so a sample costs no allocation of its own.
///
/// ```
/// use tarragon_framework::primitives::VectorLog;
/// let mut log = VectorLog::new(2);
/// log.add_data(0.0, &[1.0, 2.0])?;
/// log.add_data(0.5, &[3.0, 4.0])?;
/// assert_eq!(log.sample_times(), [0.0, 0.5]);
/// assert_eq!(log.data()[(1, 0)], 2.0); // row: element, column: sample
/// assert_eq!(log.to_csv("x"), "time,x[0],x[1]\n0.0,1.0,2.0\n0.5,3.0,4.0\n");
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct VectorLog<T> {
    size: usize,
    /// Names of the elements; empty if they have none.
    names: Arc<[String]>,
    times: Vec<T>,
    data: Vec<T>,
}

impl<T: Scalar> VectorLog<T> {
    /// Creates an empty log of vectors of `size` elements.
    pub fn new(size: usize) -> Self {
        Self {
            size,
            names: Arc::default(),
            times: vec![],
            data: vec![],
        }
    }

    /// Creates an empty log of vectors with one element per name.
    ///
    /// ```
    /// use tarragon_framework::primitives::VectorLog;
    /// let mut log = VectorLog::with_element_names(["angle", "rate"]);
    /// log.add_data(0.0, &[1.0, 2.0])?;
    /// assert_eq!(log.to_csv("pendulum"), "time,angle,rate\n0.0,1.0,2.0\n");
    /// # Ok::<(), tarragon_framework::Error>(())
    /// ```
    pub fn with_element_names(names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let names: Arc<[String]> = names.into_iter().map(Into::into).collect();
        Self {
            names: names.clone(),
            ..Self::new(names.len())
        }
    }

    /// Returns the number of elements of every sample (Drake's `get_input_size`).
    pub fn size(&self) -> usize {
        self.size
    }
    /// Returns the names of the elements; empty if they have none.
    pub fn element_names(&self) -> &[String] {
        &self.names
    }
    /// Returns the number of samples.
    pub fn num_samples(&self) -> usize {
        self.times.len()
    }
    /// Returns the time of each sample (s).
    pub fn sample_times(&self) -> &[T] {
        &self.times
    }
    /// Returns all samples: one row per element, one column per sample.
    pub fn data(&self) -> DMatrixView<'_, T> {
        DMatrixView::from_slice(&self.data, self.size, self.num_samples())
    }
    /// Returns all samples, one after the other.
    pub fn as_slice(&self) -> &[T] {
        &self.data
    }
    /// Returns each sample with its time (s), in order of recording.
    pub fn samples(&self) -> impl ExactSizeIterator<Item = (T, &[T])> + '_ {
        let row = |(i, t): (usize, &T)| (*t, &self.data[i * self.size..][..self.size]);
        self.times.iter().enumerate().map(row)
    }

    /// Adds a sample.
    ///
    /// # Errors
    /// Returns an error if it does not have [`VectorLog::size`] elements; in that case nothing is
    /// added.
    pub fn add_data(&mut self, time: T, sample: &[T]) -> Result<()> {
        if sample.len() != self.size {
            return Err(Error::invalid(format!(
                "VectorLog: the sample at {:?} s must have {}, as given to `VectorLog::new`, got {}",
                time.re(),
                counted(self.size, "element"),
                sample.len()
            )));
        }
        self.times.push(time);
        self.data.extend_from_slice(sample);
        Ok(())
    }

    /// Removes all samples; the memory is kept for new ones.
    pub fn clear(&mut self) {
        self.times.clear();
        self.data.clear();
    }

    /// Formats the log as comma-separated values: a header, then one line per sample.
    ///
    /// The header is `time` and the names of the elements, or `time,<name>[0],<name>[1],...` if
    /// they have none. Names are quoted as in RFC 4180 where necessary. Numbers read back to the
    /// same bits; derivatives are left out. Lines end with a single line feed.
    pub fn to_csv(&self, name: &str) -> String {
        let mut text = self.header(name);
        for (time, sample) in self.samples() {
            add_line(&mut text, time, sample);
        }
        text
    }

    /// Writes the text of [`VectorLog::to_csv`], piece by piece.
    ///
    /// # Errors
    /// Returns any error of `out`.
    pub fn write_csv(&self, name: &str, out: &mut impl io::Write) -> io::Result<()> {
        let mut text = self.header(name);
        for (time, sample) in self.samples() {
            add_line(&mut text, time, sample);
            if text.len() >= PIECE {
                out.write_all(text.as_bytes())?;
                text.clear();
            }
        }
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    fn header(&self, name: &str) -> String {
        let mut header = String::from("time");
        for i in 0..self.size {
            header.push(',');
            match self.names.get(i) {
                Some(name) => header += &quoted(name),
                None => header += &quoted(&format!("{name}[{i}]")),
            }
        }
        header.push('\n');
        header
    }
}

/// Quotes a cell as in RFC 4180 if it needs quotes.
fn quoted(cell: &str) -> Cow<'_, str> {
    if cell.contains([',', '"', '\r', '\n']) {
        format!("\"{}\"", cell.replace('"', "\"\"")).into()
    } else {
        cell.into()
    }
}

/// Appends one line. `{:?}` of a number is the shortest text that reads back to the same bits, with
/// an exponent where the number is very large or small.
fn add_line<T: Scalar>(text: &mut String, time: T, sample: &[T]) {
    let mut add = |separator: &str, x: f64| {
        write!(text, "{separator}{x:?}").expect("writing to a string does not fail");
    };
    add("", time.re());
    for x in sample {
        add(",", x.re());
    }
    text.push('\n');
}
