//! The file of columns: a mark, then for each column its number of rows and its numbers.
//!
//! All numbers have their lowest octet first, and each column fills whole groups of 8 octets. The
//! digest of a file is the SHA-256 of its octets, so two networks that are alike have the same digest.

use crate::columns::{Columns, ColumnsError};
use sha2::{Digest, Sha256};

/// What a file begins with; the last octet is the version.
const MARK: &[u8; 16] = b"skycell columns\x02";
const GROUP: usize = 8;

/// Takes columns one after another.
pub(crate) trait Sink {
    fn put<T: Copy, const N: usize>(&mut self, column: &[T], octets: impl Fn(T) -> [u8; N]);
}

impl Sink for Vec<u8> {
    fn put<T: Copy, const N: usize>(&mut self, column: &[T], octets: impl Fn(T) -> [u8; N]) {
        self.extend((column.len() as u64).to_le_bytes());
        self.reserve(column.len() * N + GROUP);
        column.iter().for_each(|&value| self.extend(octets(value)));
        self.resize(self.len().next_multiple_of(GROUP), 0);
    }
}

/// Gives columns one after another.
pub(crate) struct Source<'a> {
    left: &'a [u8],
}

impl Source<'_> {
    pub(crate) fn take<T, const N: usize>(
        &mut self,
        column: &'static str,
        number: impl Fn([u8; N]) -> T,
    ) -> Result<Vec<T>, ColumnsError> {
        let cut = |left: &[u8], allowed: u64| ColumnsError::Length {
            column,
            found: left.len() as u64,
            allowed,
        };
        let Some((count, rest)) = self.left.split_first_chunk() else {
            return Err(cut(self.left, GROUP as u64));
        };
        let octets = u64::from_le_bytes(*count).saturating_mul(N as u64);
        let whole = octets.saturating_add(GROUP as u64 - 1) / GROUP as u64 * GROUP as u64;
        if (rest.len() as u64) < whole {
            return Err(cut(rest, whole));
        }
        let (own, rest) = rest.split_at(whole as usize);
        self.left = rest;
        let numbers = own[..octets as usize].as_chunks().0;
        Ok(numbers.iter().map(|&octets| number(octets)).collect())
    }
}

impl Columns {
    /// The file of the columns.
    pub fn to_octets(&self) -> Vec<u8> {
        let mut octets = MARK.to_vec();
        self.put_into(&mut octets);
        octets
    }

    /// Reads a file of columns, and refuses one without a meaning.
    pub fn from_octets(octets: &[u8]) -> Result<Self, ColumnsError> {
        let left = octets.strip_prefix(MARK).ok_or(ColumnsError::NoMark)?;
        let mut source = Source { left };
        let columns = Columns::taken_from(&mut source)?;
        if !source.left.is_empty() {
            return Err(ColumnsError::Length {
                column: "after the last",
                found: source.left.len() as u64,
                allowed: 0,
            });
        }
        columns.check()?;
        Ok(columns)
    }
}

/// SHA-256 of a file of columns, in hexadecimal digits.
pub fn digest(octets: &[u8]) -> String {
    let sum = Sha256::digest(octets);
    sum.iter().map(|octet| format!("{octet:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::tests::chain;
    use proptest::prelude::*;

    #[test]
    fn a_file_reads_as_it_was_written_and_ends_where_its_columns_do() {
        let octets = chain().to_octets();
        assert_eq!(Columns::from_octets(&octets), Ok(chain()));
        for length in 0..octets.len() {
            assert!(Columns::from_octets(&octets[..length]).is_err(), "{length}");
        }
        let more = [octets.as_slice(), &[0]].concat();
        assert!(Columns::from_octets(&more).is_err());
    }

    #[test]
    fn a_digest_is_sha_256() {
        // FIPS 180-4: the digest of "abc".
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest(b"abc"), abc);
    }

    proptest! {
        #[test]
        fn a_spoilt_file_is_refused_or_has_a_meaning(index in 0usize..600, octet: u8) {
            let mut octets = chain().to_octets();
            let index = index % octets.len();
            octets[index] = octet;
            if let Ok(columns) = Columns::from_octets(&octets) {
                prop_assert_eq!(columns.check(), Ok(()));
                columns.route_without_link();
            }
        }
    }
}
