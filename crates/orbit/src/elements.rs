//! Two-line elements as text.

use sgp4::Elements;

/// One thing that is wrong with a text: its line, from 1, and what it is.
pub type TextError = (usize, String);

/// Column of the ephemeris type in the first line, from 0.
const EPHEMERIS_TYPE: usize = 62;

/// The line of a set's first line, from 1, and the set.
pub type ReadSet = (usize, Elements);

/// Reads element sets of two lines, each with a line for its name before it or without.
///
/// Empty lines are passed over. All errors of the text are told together.
///
/// Source of the form: Hoots and Roehrich, Spacetrack Report 3, 1980; satellite numbers above 99 999
/// in Alpha-5.
pub fn read_tle(text: &str) -> Result<Vec<ReadSet>, Vec<TextError>> {
    let lines: Vec<(usize, &str)> = text
        .lines()
        .enumerate()
        .map(|(place, line)| (place + 1, line.trim_end()))
        .filter(|(_, line)| !line.is_empty())
        .collect();
    let (mut read, mut errors) = (Vec::new(), Vec::new());
    let mut name: Option<&str> = None;
    let mut rest = lines.into_iter().peekable();
    while let Some((number, line)) = rest.next() {
        if !line.starts_with("1 ") {
            if name.is_some() || line.starts_with("2 ") {
                errors.push((number, "no first line of elements before this one".into()));
            }
            name = Some(line.strip_prefix("0 ").unwrap_or(line).trim());
            if line.starts_with("2 ") {
                name = None;
            }
            continue;
        }
        let Some((second_number, second)) = rest.next_if(|(_, next)| next.starts_with("2 ")) else {
            errors.push((number, "no second line of elements after this one".into()));
            name = None;
            continue;
        };
        let mut first = line.as_bytes().to_vec();
        // Older sets leave the ephemeris type blank; a 0 means the same and leaves the checksum.
        if first.get(EPHEMERIS_TYPE) == Some(&b' ') {
            first[EPHEMERIS_TYPE] = b'0';
        }
        let name = name.take().map(str::to_owned);
        match Elements::from_tle(name, &first, second.as_bytes()) {
            Ok(elements) => read.push((number, elements)),
            Err(error) => {
                // sgp4 tells the line in its words only.
                let what = error.to_string();
                let is_second = what.contains("on TLE line 2");
                errors.push((if is_second { second_number } else { number }, what));
            }
        }
    }
    if name.is_some() {
        errors.push((text.lines().count(), "no elements after this name".into()));
    }
    if errors.is_empty() {
        Ok(read)
    } else {
        Err(errors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Hoots and Roehrich, Spacetrack Report 3, as corrected in AIAA 2006-6753.
    const FIRST: &str = "1 00005U 58002B   00179.78495062  .00000023  00000-0  28098-4 0  4753";
    const SECOND: &str = "2 00005  34.2682 348.7242 1859667 331.7664  19.3264 10.82419157413667";

    #[test]
    fn names_are_optional_and_empty_lines_are_passed_over() {
        let text = format!("VANGUARD 1\n{FIRST}\n{SECOND}\n\n{FIRST}\r\n{SECOND}\n");
        let read = read_tle(&text).unwrap();
        assert_eq!(read[0].1.object_name.as_deref(), Some("VANGUARD 1"));
        assert_eq!(read[1].1.object_name, None);
        assert_eq!(read[1].1.inclination, 34.2682);
        assert_eq!((read[0].0, read[1].0), (2, 5));
    }

    #[test]
    fn a_blank_ephemeris_type_is_that_of_sgp4() {
        let blank = FIRST.replace("28098-4 0 ", "28098-4   ");
        let read = read_tle(&format!("{blank}\n{SECOND}")).unwrap();
        assert_eq!(read[0].1.ephemeris_type, 0);
    }

    #[test]
    fn every_error_of_a_text_is_told_with_its_line() {
        let broken = SECOND.replace("34.2682", "34.2683"); // the checksum knows
        let text = format!("A\nB\n{FIRST}\n{broken}\n{SECOND}\n{FIRST}\nC\n");
        let errors = read_tle(&text).unwrap_err();
        let lines: Vec<usize> = errors.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [2, 4, 5, 6, 7], "{errors:?}");
        assert!(errors[1].1.contains("checksum"), "{errors:?}");
    }
}
