//! Faults of a line of two-line elements: the columns, the allowed values, the meaning.

use std::ops::Range;

/// Columns of a line; what stands after them belongs to no element set (Spacetrack Report 3).
pub const COLUMNS: usize = 69;

/// A fault of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineFault {
    /// True if it is the second line of its set.
    pub is_second: bool,
    /// Its columns, from 0; none for the whole line.
    pub columns: Option<Range<usize>>,
    /// Allowed values.
    pub allowed: String,
    /// Meaning of the columns.
    pub meaning: &'static str,
}

/// Columns from 0 of the first line and what they mean (Hoots and Roehrich, Spacetrack Report 3, 1980).
const FIRST: [(Range<usize>, &str); 11] = [
    (2..7, "catalogue number"),
    (7..8, "classification"),
    (9..17, "international designator"),
    (18..20, "year of the epoch"),
    (20..32, "day of the epoch"),
    (33..43, "half of the first derivative of the mean motion"),
    (
        44..52,
        "a sixth of the second derivative of the mean motion",
    ),
    (53..61, "drag term B*"),
    (62..63, "ephemeris type"),
    (64..68, "number of the element set"),
    (68..69, "checksum"),
];
/// The same of the second line.
const SECOND: [(Range<usize>, &str); 9] = [
    (2..7, "catalogue number"),
    (8..16, "inclination, degrees"),
    (17..25, "right ascension of the ascending node, degrees"),
    (26..33, "eccentricity, digits after the point"),
    (34..42, "argument of perigee, degrees"),
    (43..51, "mean anomaly, degrees"),
    (52..63, "mean motion, revolutions per day"),
    (63..68, "revolutions at the epoch"),
    (68..69, "checksum"),
];

/// The description of a line if no field of it is known.
const LINE: &str = "a line of two-line elements";
/// The contents of fields with a power of ten.
const POWER: &str = "a number such as 28098-4, which means 0.28098e-4";

/// The parser's messages about a line, and the allowed values for each.
const ALLOWED: [(&str, &str); 10] = [
    (
        "Bad line length",
        "69 columns, or 68 without the checksum; more only after a blank",
    ),
    ("Tried to parse a float", POWER),
    ("Parsing a float field failed", "a number"),
    ("Parsing an integer field failed", "a whole number"),
    (
        "Parsing an Alpha-5 field failed",
        "a number of five digits, or a letter and four digits",
    ),
    (
        "Found a non-space character between fields",
        "a blank between two fields",
    ),
    ("NORAD mismatch", "the same catalogue number in both lines"),
    ("Unknown classification", "U, C or S"),
    (
        "Date generation failed due to an error in the year",
        "a day from 1 to 366 that the year has",
    ),
    ("Date generation failed", "a part of a day below 1"),
];

/// Returns the fault that a message of the crate `sgp4` means for two lines; its errors show
/// nothing but their text.
pub fn fault_of(message: &str, lines: [&str; 2]) -> LineFault {
    let is_second = message.contains("on TLE line 2");
    let line = lines[usize::from(is_second)];
    let what = message.strip_prefix("TLE parse error: ").unwrap_or(message);
    if what.starts_with("Bad line checksum") {
        return LineFault {
            is_second,
            columns: Some(68..69),
            allowed: format!(
                "{}, the last digit of the sum of the line's digits, a minus counting as 1",
                checksum(line)
            ),
            meaning: "checksum",
        };
    }
    let known = ALLOWED.iter().find(|(begin, _)| what.starts_with(begin));
    let fields: &[(Range<usize>, &'static str)] = if is_second { &SECOND } else { &FIRST };
    let start = start_of(message).filter(|_| !what.starts_with("Bad line length"));
    let field = start.and_then(|start| fields.iter().find(|(columns, _)| columns.contains(&start)));
    let columns = field
        .map(|(columns, _)| columns.clone())
        .or(start.map(|start| start..start + 1));
    let has_power = !is_second && matches!(columns, Some(Range { start: 44 | 53, .. }));
    let allowed = match known {
        Some(_) if has_power => POWER,
        Some((_, allowed)) => allowed,
        None => LINE,
    };
    LineFault {
        is_second,
        columns,
        allowed: allowed.into(),
        meaning: field.map_or(LINE, |(_, meaning)| meaning),
    }
}

/// The first column that the end of a message names, from 0.
fn start_of(message: &str) -> Option<usize> {
    let (_, ends) = message.rsplit_once(" between characters ")?;
    ends.split_once(" and ")?.0.parse().ok()
}

/// The checksum of a line, of its first 68 columns.
pub fn checksum(line: &str) -> u32 {
    let octets = line.bytes().take(COLUMNS - 1);
    let sum: u32 = octets
        .map(|sign| match sign {
            b'0'..=b'9' => u32::from(sign - b'0'),
            b'-' => 1,
            _ => 0,
        })
        .sum();
    sum % 10
}
