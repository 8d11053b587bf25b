//! TOML text to Python values, with the line and column of every one of them.

use crate::errors::{TextError, toml_error};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// Line and column of a value, both counted from 1, columns in characters.
type Position = (usize, usize);

/// Reads a TOML document.
///
/// Returns the document as a dict and the position of every value by its dotted path
/// (`links.0.rate`); a table's position is that of its header. Raises `TomlError` with every error
/// found.
#[pyfunction]
pub fn parse_toml<'py>(
    py: Python<'py>,
    text: &str,
) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyDict>)> {
    let (document, syntax_errors) = DeTable::parse_recoverable(text);
    let mut reader = Reader {
        py,
        lines: LineStarts::of(text),
        path: String::new(),
        values_read: 0,
        positions: PyDict::new(py),
        errors: Vec::new(),
    };
    for error in &syntax_errors {
        reader.report(
            error.span().unwrap_or(text.len()..text.len()),
            error.message().to_owned(),
        );
    }
    let values = reader.table(document.get_ref())?;
    if reader.errors.is_empty() {
        return Ok((values, reader.positions));
    }
    reader.errors.sort();
    reader.errors.dedup();
    Err(toml_error(py, reader.errors))
}

/// Values between two looks at what has been signalled to the process, such as Ctrl-C.
const LOOK_EVERY: usize = 4096;

/// Walks a document and collects what Python gets.
struct Reader<'py, 'text> {
    py: Python<'py>,
    lines: LineStarts<'text>,
    /// Dotted path of the value at hand; empty at the top.
    path: String,
    values_read: usize,
    /// The [`Position`] of each value by its dotted path, in the order of the text.
    positions: Bound<'py, PyDict>,
    errors: Vec<TextError>,
}

impl<'py> Reader<'py, '_> {
    fn table(&mut self, table: &DeTable<'_>) -> PyResult<Bound<'py, PyDict>> {
        let values = PyDict::new(self.py);
        for (key, value) in table.iter() {
            let value = self.at(key.get_ref(), value)?;
            values.set_item(key.get_ref().as_ref(), value)?;
        }
        Ok(values)
    }

    fn array(&mut self, array: &DeArray<'_>) -> PyResult<Bound<'py, PyList>> {
        let values = PyList::empty(self.py);
        for (index, value) in array.iter().enumerate() {
            values.append(self.at(&index.to_string(), value)?)?;
        }
        Ok(values)
    }

    /// The value one step down the path, with its position noted.
    fn at(&mut self, step: &str, value: &Spanned<DeValue<'_>>) -> PyResult<Bound<'py, PyAny>> {
        self.values_read += 1;
        if self.values_read.is_multiple_of(LOOK_EVERY) {
            self.py.check_signals()?;
        }
        let above = self.path.len();
        if above > 0 {
            self.path.push('.');
        }
        self.path.push_str(step);
        let position = self.lines.position(value.span().start);
        self.positions.set_item(&self.path, position)?;
        let object = self.value(value)?;
        self.path.truncate(above);
        Ok(object)
    }

    fn value(&mut self, value: &Spanned<DeValue<'_>>) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        Ok(match value.get_ref() {
            DeValue::String(text) => text.as_ref().into_pyobject(py)?.into_any(),
            DeValue::Boolean(truth) => truth.into_pyobject(py)?.to_owned().into_any(),
            DeValue::Integer(number) => {
                // TOML asks for signed 64 bits at least; a seed may have all of them unsigned.
                let range = i128::from(i64::MIN)..=i128::from(u64::MAX);
                match i128::from_str_radix(number.as_str(), number.radix()) {
                    Ok(number) if range.contains(&number) => number.into_pyobject(py)?.into_any(),
                    _ => {
                        self.refuse(value, "an integer beyond 64 bits");
                        py.None().into_bound(py)
                    }
                }
            }
            DeValue::Float(number) => match number.as_str().parse::<f64>() {
                // TOML 1.1: an infinite value is written as such, never reached by overflow.
                Ok(float) if float.is_finite() || number.as_str().ends_with(['f', 'n']) => {
                    float.into_pyobject(py)?.into_any()
                }
                _ => {
                    self.refuse(value, "a number too large for a 64-bit float");
                    py.None().into_bound(py)
                }
            },
            DeValue::Datetime(_) => {
                self.refuse(
                    value,
                    "a date or time has no meaning here; quote it to make it text",
                );
                py.None().into_bound(py)
            }
            DeValue::Array(array) => self.array(array)?.into_any(),
            DeValue::Table(table) => self.table(table)?.into_any(),
        })
    }

    fn refuse(&mut self, value: &Spanned<DeValue<'_>>, message: &str) {
        self.report(value.span(), message.to_owned());
    }

    fn report(&mut self, span: Range<usize>, message: String) {
        let (line, column) = self.lines.position(span.start);
        self.errors.push((line, column, message));
    }
}

/// Finds line and column of an octet of a text, in a time that does not grow with the line.
struct LineStarts<'text> {
    text: &'text str,
    /// Octet at which each line begins; the first is 0.
    starts: Vec<usize>,
    /// Characters that begin before each block of [`BLOCK`] octets.
    characters: Vec<usize>,
}

/// Octets in which the characters are counted anew for each position.
const BLOCK: usize = 64;

impl<'text> LineStarts<'text> {
    fn of(text: &'text str) -> Self {
        let after_newlines = text.match_indices('\n').map(|(at, _)| at + 1);
        let blocks = text.as_bytes().chunks(BLOCK);
        let mut before = 0;
        LineStarts {
            text,
            starts: std::iter::once(0).chain(after_newlines).collect(),
            characters: std::iter::once(0)
                .chain(blocks.map(|block| {
                    before += characters_in(block);
                    before
                }))
                .collect(),
        }
    }

    fn position(&self, octet: usize) -> Position {
        let line = self.starts.partition_point(|&start| start <= octet);
        let begin = self.starts[line - 1];
        (
            line,
            self.characters_before(octet) - self.characters_before(begin) + 1,
        )
    }

    fn characters_before(&self, octet: usize) -> usize {
        let octet = octet.min(self.text.len());
        let block = octet / BLOCK;
        self.characters[block] + characters_in(&self.text.as_bytes()[block * BLOCK..octet])
    }
}

/// Each character has one octet that does not continue another (10xxxxxx, RFC 3629 section 3).
fn characters_in(octets: &[u8]) -> usize {
    octets.iter().filter(|&&o| o & 0xC0 != 0x80).count()
}
