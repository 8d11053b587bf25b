//! The server's end of a connection: answers whole and in the order of requests, as HTTP/1.1 has it, or in parts by urgency,
//! as HTTP/2 has it.

use crate::{Ask, Part};
use skycell_units::{Octets, SimTime};

/// Octets of a part: SETTINGS_MAX_FRAME_SIZE at first (RFC 9113, 6.5.2).
const PART_OCTETS: Octets = 16_384;

/// An answer that is not written yet, or not all of it.
#[derive(Clone, Copy, Debug)]
struct Answer {
    ask: Ask,
    ready: SimTime,
    written: Octets,
}

/// Octets that the server hands over, with the letters pinned to the first and the last of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// The request that they answer.
    pub stream: u32,
    /// How many.
    pub octets: Octets,
    /// True if they are the first of the answer.
    pub is_first: bool,
    /// Letter pinned to the last of them.
    pub part: Part,
}

/// Answers of one connection.
#[derive(Clone, Debug, Default)]
pub struct Server {
    /// True if answers are written in parts.
    in_parts: bool,
    /// In the order of requests.
    answers: Vec<Answer>,
}

impl Server {
    /// A server that has nothing to answer.
    pub fn new(in_parts: bool) -> Self {
        Server {
            in_parts,
            answers: Vec::new(),
        }
    }

    /// Returns whether it writes answers in parts, each as there is room for it.
    pub fn is_in_parts(&self) -> bool {
        self.in_parts
    }

    /// Returns whether all answers are written.
    pub fn is_idle(&self) -> bool {
        self.answers.is_empty()
    }

    /// A request has come whole.
    pub fn on_ask(&mut self, now: SimTime, ask: Ask) {
        self.answers.push(Answer {
            ask,
            ready: now + ask.wait,
            written: 0,
        });
    }

    /// When the next answer is ready that is not at `now`; [`SimTime::NEVER`] for none.
    pub fn due(&self, now: SimTime) -> SimTime {
        let awaited = match self.in_parts {
            true => &self.answers[..],
            // Only the first can be next.
            false => &self.answers[..self.answers.len().min(1)],
        };
        let times = awaited.iter().map(|answer| answer.ready);
        times
            .filter(|&ready| ready > now)
            .min()
            .unwrap_or(SimTime::NEVER)
    }

    /// Takes what the server writes next; none while no answer is ready.
    pub fn write(&mut self, now: SimTime) -> Option<Written> {
        let at = match self.in_parts {
            false => self
                .answers
                .first()
                .filter(|answer| answer.ready <= now)
                .map(|_| 0)?,
            true => {
                let ready = self.answers.iter().enumerate();
                let ready = ready.filter(|(_, answer)| answer.ready <= now);
                // The earliest of those that are equally urgent.
                ready.min_by_key(|(_, answer)| answer.ask.urgency)?.0
            }
        };
        let answer = &mut self.answers[at];
        let left = answer.ask.octets - answer.written;
        let octets = if self.in_parts {
            left.min(PART_OCTETS)
        } else {
            left
        };
        let is_first = answer.written == 0;
        answer.written += octets;
        let stream = answer.ask.stream;
        let part = if octets == left {
            Part::Last
        } else {
            Part::Middle
        };
        if part == Part::Last {
            self.answers.remove(at);
        }
        Some(Written {
            stream,
            octets,
            is_first,
            part,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(stream: u32, octets: Octets, wait: u64, urgency: u8) -> Ask {
        Ask {
            stream,
            octets,
            wait: SimTime(wait),
            urgency,
        }
    }

    fn written(server: &mut Server, now: u64) -> Vec<(u32, Octets, Part)> {
        std::iter::from_fn(|| server.write(SimTime(now)))
            .map(|one| (one.stream, one.octets, one.part))
            .collect()
    }

    #[test]
    fn answers_in_order_wait_for_the_first() {
        let mut server = Server::new(false);
        server.on_ask(SimTime(0), ask(1, 50_000, 10, 0));
        server.on_ask(SimTime(0), ask(2, 7, 5, 0));
        assert_eq!(written(&mut server, 5), []);
        assert_eq!(server.due(SimTime(5)), SimTime(10));
        let whole = [(1, 50_000, Part::Last), (2, 7, Part::Last)];
        assert_eq!(written(&mut server, 10), whole);
        assert!(server.is_idle());
    }

    #[test]
    fn a_more_urgent_answer_goes_between_the_parts_of_another() {
        let mut server = Server::new(true);
        server.on_ask(SimTime(0), ask(1, 40_000, 0, 3));
        let first = server.write(SimTime(0)).expect("it is ready");
        assert_eq!(
            (first.octets, first.is_first, first.part),
            (16_384, true, Part::Middle)
        );
        server.on_ask(SimTime(1), ask(2, 100, 4, 1));
        assert_eq!(server.due(SimTime(1)), SimTime(5));
        let rest = [
            (2, 100, Part::Last),
            (1, 16_384, Part::Middle),
            (1, 7_232, Part::Last),
        ];
        assert_eq!(written(&mut server, 5), rest);
    }
}
