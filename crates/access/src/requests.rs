//! Requests of a terminal, and the slots that it counts on.
//!
//! Source: the categories are those of ETSI EN 301 790; what a terminal makes of its queue the standard leaves to it, and is
//! said with each here.

use crate::controller::Request;
use serde::{Deserialize, Serialize};
use skycell_declare::Declare;

/// By which category terminals ask for slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum RequestCategory {
    /// They do not ask: constant (CRA) and free capacity (FCA) only.
    None,
    /// RBDC: the slots a frame that carry what has arrived since the last request, or that would empty the queue in as
    /// many frames as lie between two requests, if that is more.
    Rate,
    /// VBDC: what waits and has neither been asked for nor granted.
    Volume,
    /// AVBDC: what waits and is not granted in the frame under way, in place of what was asked for before. Nothing is
    /// lost with a request, but slots are granted twice while a request is under way.
    AbsoluteVolume,
}

/// A terminal's memory of its requests.
#[derive(Clone, Copy, Debug, Default)]
pub struct Requester {
    /// Slots asked for by volume and not yet granted, as far as it knows.
    pub asked: u32,
    /// Slots granted in the frame under way and not yet used.
    pub granted: u32,
    /// Slots' worth that has arrived since its last request for a rate.
    pub arrived: u32,
    /// Frame of its last request for a rate.
    last_frame: u64,
    /// Rate asked for last.
    rate: u32,
}

impl Requester {
    /// A chance to ask, in frame `frame`, while `waiting` slots' worth waits; none if there is no need.
    pub fn request(
        &mut self,
        category: RequestCategory,
        frame: u64,
        waiting: u32,
    ) -> Option<Request> {
        match category {
            RequestCategory::None => None,
            RequestCategory::Rate => {
                let frames = (frame - self.last_frame).max(1);
                let most = u64::from(self.arrived.max(waiting));
                let rate = most.div_ceil(frames) as u32;
                // A rate of nothing is asked for once: then there is none to end.
                if rate == 0 && self.rate == 0 {
                    return None;
                }
                (self.rate, self.arrived, self.last_frame) = (rate, 0, frame);
                Some(Request::Rate(rate))
            }
            RequestCategory::Volume => {
                let more = waiting.saturating_sub(self.asked + self.granted);
                self.asked += more;
                (more > 0).then_some(Request::Volume(more))
            }
            RequestCategory::AbsoluteVolume => {
                let volume = waiting.saturating_sub(self.granted);
                let is_news = volume > 0 || self.asked > 0;
                self.asked = volume;
                is_news.then_some(Request::AbsoluteVolume(volume))
            }
        }
    }

    /// A frame begins in which `granted` slots are the terminal's, `by_volume` of them because it asked for a volume.
    pub fn on_frame(&mut self, granted: u32, by_volume: u32) {
        self.asked = self.asked.saturating_sub(by_volume);
        self.granted = granted;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Request::{AbsoluteVolume, Rate, Volume};

    #[test]
    fn a_volume_is_asked_for_once() {
        let mut own = Requester::default();
        let category = RequestCategory::Volume;
        assert_eq!(own.request(category, 0, 5), Some(Volume(5)));
        assert_eq!(own.request(category, 1, 5), None);
        assert_eq!(own.request(category, 2, 7), Some(Volume(2)));
        own.on_frame(4, 4);
        // 7 wait, 4 are granted now and 3 asked for.
        assert_eq!(own.request(category, 3, 7), None);
    }

    #[test]
    fn an_absolute_volume_says_all_that_waits_and_takes_back_what_does_not() {
        let mut own = Requester::default();
        let category = RequestCategory::AbsoluteVolume;
        assert_eq!(own.request(category, 0, 5), Some(AbsoluteVolume(5)));
        assert_eq!(own.request(category, 1, 5), Some(AbsoluteVolume(5)));
        own.on_frame(3, 3);
        assert_eq!(own.request(category, 2, 5), Some(AbsoluteVolume(2)));
        own.on_frame(0, 0);
        assert_eq!(own.request(category, 3, 0), Some(AbsoluteVolume(0)));
        assert_eq!(own.request(category, 4, 0), None);
    }

    #[test]
    fn a_rate_carries_what_has_arrived_or_empties_the_queue() {
        let mut own = Requester::default();
        let category = RequestCategory::Rate;
        own.arrived = 9;
        assert_eq!(own.request(category, 4, 2), Some(Rate(3))); // 9 in 4 frames
        own.arrived = 1;
        assert_eq!(own.request(category, 6, 7), Some(Rate(4))); // 7 in 2 frames
        assert_eq!(own.request(category, 8, 0), Some(Rate(0)));
        assert_eq!(own.request(category, 10, 0), None);
    }
}
