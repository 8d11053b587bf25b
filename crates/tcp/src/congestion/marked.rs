//! The part of octets that were marked, smoothed: DCTCP.Alpha (RFC 8257 section 3.3).

use super::Marks;
use skycell_units::Octets;

/// DCTCP.Alpha of a connection.
#[derive(Clone, Debug)]
pub(super) struct MarkedPart {
    /// DCTCP.Alpha.
    smoothed: f64,
    /// g.
    gain: f64,
    /// DCTCP.BytesAcked and DCTCP.BytesMarked.
    acked: Octets,
    marked: Octets,
    /// DCTCP.WindowEnd.
    window_end: u64,
}

impl MarkedPart {
    /// 1 until something is known.
    pub(super) fn new(gain: f64) -> Self {
        MarkedPart {
            smoothed: 1.0,
            gain,
            acked: 0,
            marked: 0,
            window_end: 0,
        }
    }

    /// An ACK has come; once a window of data it counts: M = marked / acked, alpha = alpha (1 - g) + g M.
    pub(super) fn note(&mut self, marks: &Marks) {
        self.acked += marks.octets;
        if marks.are_marked {
            self.marked += marks.octets;
        }
        if marks.reached <= self.window_end {
            return;
        }
        let part = self.marked as f64 / self.acked as f64;
        self.smoothed = self.smoothed * (1.0 - self.gain) + self.gain * part;
        self.restart(marks);
    }

    /// Forgets what this window has brought.
    pub(super) fn restart(&mut self, marks: &Marks) {
        (self.acked, self.marked) = (0, 0);
        self.window_end = marks.next;
    }

    /// Returns the part of cwnd that a mark leaves: 1 - alpha / 2.
    pub(super) fn left(&self) -> f64 {
        1.0 - self.smoothed / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alpha_follows_the_part_of_each_window() {
        let mut part = MarkedPart::new(1.0 / 16.0);
        let mut note = |octets, are_marked, reached, next| {
            part.note(&Marks {
                octets,
                are_marked,
                reached,
                next,
            });
            part.smoothed
        };
        // The first ACK ends the first window, which is empty: 15/16 of 1.
        assert_eq!(note(1_000, false, 1_000, 9_000), 0.9375);
        // A window of eight segments, three of them marked: its last ACK is the first beyond 9 000.
        for k in 2..=8 {
            assert_eq!(note(1_000, k <= 3, k * 1_000, 9_000 + k * 1_000), 0.9375);
        }
        assert_eq!(note(1_000, true, 9_000, 18_000), 0.9375);
        let part = 3.0 / 9.0;
        let alpha = 0.9375 * 15.0 / 16.0 + part / 16.0;
        assert!((note(1_000, false, 10_000, 19_000) - alpha).abs() < 1e-15);
        assert!(
            (MarkedPart {
                smoothed: 0.25,
                ..MarkedPart::new(1.0)
            }
            .left()
                - 0.875)
                .abs()
                < 1e-15
        );
    }
}
