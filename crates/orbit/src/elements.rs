//! Two-line elements as text.

use crate::tle_faults::{COLUMNS, LineFault, checksum, fault_of};
use sgp4::Elements;

/// A set that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultySet {
    /// The line, from 1, that is wrong.
    pub line: usize,
    /// Fault of the line.
    pub fault: LineFault,
    /// The line for its name; empty without one.
    pub name: String,
    /// Its catalogue number, where the line has one in its columns; empty otherwise.
    pub number: String,
}

/// Column of the ephemeris type in the first line, from 0.
const EPHEMERIS_TYPE: usize = 62;
/// Columns of the catalogue number in either line.
const NUMBER: std::ops::Range<usize> = 2..7;

/// The line of a set's first line, from 1, and the set.
pub type ReadSet = (usize, Elements);

/// The contents of a text of two-line elements.
#[derive(Clone, Debug, Default)]
pub struct TleText {
    /// The sets that can be used.
    pub sets: Vec<ReadSet>,
    /// The others.
    pub faulty: Vec<FaultySet>,
    /// Planes and satellites in each, where the first line counts them, as that of Hypatia's
    /// `tles.txt` does.
    pub planes: Option<[u32; 2]>,
    /// Lines, from 1, that have more after their 69 columns.
    pub longer: Vec<usize>,
    /// Lines of sets that have no checksum.
    pub unsummed: Vec<usize>,
    /// Lines that belong to no set.
    pub unused: Vec<usize>,
}

/// Reads element sets of two lines, each with a line for its name before it or without.
///
/// Lines that belong to no set are passed over, so that a bulletin is read as it comes: its text, the
/// key to its columns (AMSAT), whose catalogue number is one letter five times, and lines that begin
/// with `#`. A line without its last column, the checksum, is taken as it is; a checksum that is wrong
/// is a fault. What stands after the 69 columns and a blank, such as the times of the verification
/// cases of AIAA 2006-6753, is left aside.
///
/// Source of the form: Hoots and Roehrich, Spacetrack Report 3, 1980; satellite numbers above 99 999
/// in Alpha-5.
pub fn read_tle(text: &str) -> TleText {
    let lines = text
        .lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line.trim()))
        .filter(|(_, line)| !line.is_empty());
    let mut read = TleText::default();
    let mut name = String::new();
    let mut name_line = None;
    let mut rest = lines.peekable();
    if let Some((_, line)) = rest.peek() {
        read.planes = counts(line);
        if read.planes.is_some() {
            rest.next();
        }
    }
    while let Some((number, line)) = rest.next() {
        if is_line(line, b'2') {
            let fault = missing(true, "a first line of elements before this one");
            read.refuse(number, line, &mut name, fault);
        } else if !is_line(line, b'1') {
            read.unused.extend(name_line.replace(number));
            name = line.strip_prefix("0 ").unwrap_or(line).trim().to_owned();
            if is_key(line) || line.starts_with('#') {
                name.clear();
                read.unused.extend(name_line.take());
            }
            continue;
        } else if let Some((second_number, second)) = rest.next_if(|(_, next)| is_line(next, b'2'))
        {
            let own = Some(name.clone()).filter(|name| !name.is_empty());
            match elements(own, [line, second]) {
                Ok(elements) => {
                    name.clear();
                    for (number, line) in [(number, line), (second_number, second)] {
                        read.longer.extend((line.len() > COLUMNS).then_some(number));
                        read.unsummed
                            .extend((line.len() < COLUMNS).then_some(number));
                    }
                    read.sets.push((number, elements));
                }
                Err(fault) => {
                    let wrong = if fault.is_second {
                        second_number
                    } else {
                        number
                    };
                    read.refuse(wrong, line, &mut name, fault);
                }
            }
        } else {
            let fault = missing(false, "a second line of elements after this one");
            read.refuse(number, line, &mut name, fault);
        }
        name_line = None;
    }
    read.unused.extend(name_line);
    read
}

/// The elements of two lines.
fn elements(name: Option<String>, lines: [&str; 2]) -> Result<Elements, LineFault> {
    if let Some(number) = lines.iter().position(|line| !line.is_ascii()) {
        return Err(missing(
            number == 1,
            "digits, signs, letters and blanks of ASCII",
        ));
    }
    let [first, second] = lines.map(whole);
    Elements::from_tle(name, &first, &second).map_err(|error| fault_of(&error.to_string(), lines))
}

/// The fault of a line as a whole.
fn missing(is_second: bool, allowed: &str) -> LineFault {
    LineFault {
        is_second,
        columns: None,
        allowed: allowed.to_owned(),
        meaning: "a line of two-line elements",
    }
}

impl TleText {
    fn refuse(&mut self, number: usize, line: &str, name: &mut String, fault: LineFault) {
        self.faulty.push(FaultySet {
            line: number,
            fault,
            name: std::mem::take(name),
            number: line.get(NUMBER).unwrap_or_default().trim().to_owned(),
        });
    }
}

/// Two whole numbers above 0 and nothing else.
fn counts(line: &str) -> Option<[u32; 2]> {
    let mut words = line
        .split_whitespace()
        .map(|word| word.parse().ok().filter(|&n: &u32| n > 0));
    match (words.next(), words.next(), words.next()) {
        (Some(Some(planes)), Some(Some(each)), None) => Some([planes, each]),
        _ => None,
    }
}

/// Returns whether a line belongs to a set: its number, a blank, and a catalogue number, perhaps in
/// Alpha-5.
fn is_line(line: &str, number: u8) -> bool {
    let octets = line.as_bytes();
    octets.starts_with(&[number, b' ']) && {
        let columns = octets.get(NUMBER).unwrap_or_default();
        let digits = columns.iter().skip(1);
        columns
            .first()
            .is_some_and(|sign| sign.is_ascii_alphanumeric() || *sign == b' ')
            && digits
                .clone()
                .all(|sign| sign.is_ascii_digit() || *sign == b' ')
            && digits.last().is_some_and(u8::is_ascii_digit)
    }
}

/// Returns whether a line is the key to the columns of a bulletin: `1 AAAAAU 00 …`.
fn is_key(line: &str) -> bool {
    let octets = line.as_bytes();
    octets.get(NUMBER).is_some_and(|signs| {
        signs[0].is_ascii_uppercase() && signs.iter().all(|sign| *sign == signs[0])
    })
}

/// A line as sgp4 wants it: of 69 columns, with an ephemeris type and a checksum.
fn whole(line: &str) -> Vec<u8> {
    let mut octets = line.as_bytes().to_vec();
    // Older sets leave the ephemeris type blank; a 0 means the same and leaves the checksum.
    if octets[0] == b'1' && octets.get(EPHEMERIS_TYPE) == Some(&b' ') {
        octets[EPHEMERIS_TYPE] = b'0';
    }
    if octets.get(COLUMNS) == Some(&b' ') {
        octets.truncate(COLUMNS);
    }
    if octets.len() == COLUMNS - 1 {
        octets.push(b'0' + checksum(line) as u8);
    }
    octets
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
        let read = read_tle(&text).sets;
        assert_eq!(read[0].1.object_name.as_deref(), Some("VANGUARD 1"));
        assert_eq!(read[1].1.object_name, None);
        assert_eq!(read[1].1.inclination, 34.2682);
        assert_eq!((read[0].0, read[1].0), (2, 5));
    }

    #[test]
    fn a_blank_ephemeris_type_is_that_of_sgp4() {
        let blank = FIRST.replace("28098-4 0 ", "28098-4   ");
        let read = read_tle(&format!("{blank}\n{SECOND}"));
        assert_eq!(read.sets[0].1.ephemeris_type, 0);
    }

    #[test]
    fn faulty_sets_are_told_with_line_name_and_number_and_leave_the_others() {
        let broken = SECOND.replace("34.2682", "34.2683"); // the checksum knows
        let text = format!(
            "A\n{FIRST}\n{broken}\n{SECOND}\n{FIRST}\nB\n{FIRST}\n{SECOND}\nC\n{}\n{SECOND}",
            &FIRST[..60]
        );
        let read = read_tle(&text);
        let reported: Vec<_> = read
            .faulty
            .iter()
            .map(|set| (set.line, set.name.as_str(), set.number.as_str()))
            .collect();
        let expected = [
            (3, "A", "00005"),
            (4, "", "00005"),
            (5, "", "00005"),
            (10, "C", "00005"),
        ];
        assert_eq!(reported, expected, "{read:?}");
        assert_eq!(read.faulty[0].fault.columns, Some(68..69), "{read:?}");
        assert!(read.faulty[0].fault.allowed.starts_with("8,"), "{read:?}");
        assert_eq!(read.sets.len(), 1);
        assert_eq!(read.sets[0].1.object_name.as_deref(), Some("B"));
    }

    #[test]
    fn a_line_without_its_checksum_is_read_as_one_with_it() {
        let text = format!("{}\n{}\n{FIRST}\n{SECOND}", &FIRST[..68], &SECOND[..68]);
        let read = read_tle(&text);
        assert_eq!((read.sets.len(), read.faulty.len()), (2, 0), "{read:?}");
        assert_eq!(read.sets[0].1, read.sets[1].1);
    }

    #[test]
    fn what_stands_after_the_columns_and_a_blank_is_left_aside() {
        // As the verification cases of AIAA 2006-6753 have it: start, stop and step in minutes.
        let text = format!(
            "#   DELTA 1 DEB  # near earth\n{FIRST}\n{SECOND}     0.00      4320.0        360.00\n"
        );
        let read = read_tle(&text);
        assert_eq!((read.sets.len(), read.faulty.len()), (1, 0), "{read:?}");
        assert_eq!((read.longer, read.unused), (vec![3], vec![1]));
        assert_eq!(read.sets[0].1.object_name, None);
        assert_eq!(
            read.sets[0].1,
            read_tle(&format!("{FIRST}\n{SECOND}")).sets[0].1
        );
        let shifted = read_tle(&format!("{FIRST}\n{SECOND}5"));
        assert_eq!(shifted.faulty[0].line, 2, "{shifted:?}");
    }

    #[test]
    fn a_fault_names_its_columns_and_what_is_allowed_there() {
        for (line, from, to, columns, begins) in [
            (1, "58002B", "58002é", None, "digits"),
            (1, ".78495062", ".784x5062", Some(20..32), "a number"),
            (1, "28098-4", "28098x4", Some(53..61), "a number such as"),
            (1, " 0  4753", " 0  4x53", Some(64..68), "a whole number"),
            (1, "00005U", "00005V", Some(7..8), "U, C or S"),
            (1, "179.7849", "479.7849", Some(18..20), "a day"),
            (2, " 34.2682", " 34.26x2", Some(8..16), "a number"),
            (2, "1859667", "18596x7", Some(26..33), "a number"),
            (
                2,
                "2 00005",
                "2 00006",
                Some(2..7),
                "the same catalogue number",
            ),
            (2, "413667", "413", None, "69 columns"),
        ] {
            let mut lines = [FIRST.to_owned(), SECOND.to_owned()];
            let changed = lines[line - 1].replacen(from, to, 1);
            let kept: String = changed.chars().take(68).collect();
            lines[line - 1] = if changed.len() < 68 || !changed.is_ascii() {
                changed
            } else {
                format!("{kept}{}", checksum(&kept))
            };
            let read = read_tle(&lines.join("\n"));
            let fault = &read
                .faulty
                .first()
                .unwrap_or_else(|| panic!("{to}: {read:?}"))
                .fault;
            assert!(fault.allowed.starts_with(begins), "{to}: {fault:?}");
            assert_eq!(fault.columns, columns, "{to}: {fault:?}");
            assert!(!fault.allowed.contains("TLE parse error"), "{fault:?}");
        }
    }

    #[test]
    fn a_bulletin_is_read_as_it_comes() {
        // The form of AMSAT's weekly bulletins: a header, the key to the columns, sets, an end.
        let text = format!(
            "SB KEPS @ AMSAT  $ORBS-06172.N\n2Line Orbital Elements 172.AMSAT\n\n\
             HR AMSAT ORBITAL ELEMENTS FOR AMATEUR SATELLITES IN NASA FORMAT\n\
             DECODE 2-LINE ELSETS WITH THE FOLLOWING KEY:\n\
             1 AAAAAU 00  0  0 BBBBB.BBBBBBBB  .CCCCCCCC  00000-0  00000-0 0  DDDZ\n\
             2 AAAAA EEE.EEEE FFF.FFFF GGGGGGG HHH.HHHH III.IIII JJ.JJJJJJJJKKKKKZ\n\
             KEY: A-CATALOGNUM B-EPOCHTIME C-DECAY D-ELSETNUM E-INCLINATION F-RAAN\n\n\
             TO ALL RADIO AMATEURS BT\n\nVG-1\n{FIRST}\n{SECOND}\n/EX\n"
        );
        let read = read_tle(&text);
        assert_eq!((read.sets.len(), read.faulty.len()), (1, 0), "{read:?}");
        assert_eq!(read.sets[0].1.object_name.as_deref(), Some("VG-1"));
    }

    #[test]
    fn a_first_line_of_two_counts_gives_the_planes() {
        let text =
            format!("1 2\nKuiper-630 0\n{FIRST}\n{SECOND}\nKuiper-630 1\n{FIRST}\n{SECOND}\n");
        let read = read_tle(&text);
        assert_eq!((read.planes, read.sets.len()), (Some([1, 2]), 2));
        assert_eq!(read_tle(&format!("{FIRST}\n{SECOND}")).planes, None);
    }
}
