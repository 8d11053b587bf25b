//! The requests and responses of web users.

use crate::FlowRecord;
use serde::Serialize;

/// Times from a request to the last octet of what it asked for, or those that transfers took.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ResponseTimes {
    /// How many.
    pub count: u64,
    /// Mean, picoseconds; 0 without any.
    pub mean_ps: f64,
    /// Median, picoseconds; quantiles are nearest ranks, none without any.
    pub p50_ps: Option<u64>,
    /// 90th percentile.
    pub p90_ps: Option<u64>,
    /// 95th percentile.
    pub p95_ps: Option<u64>,
    /// 99th percentile.
    pub p99_ps: Option<u64>,
    /// Longest.
    pub max_ps: Option<u64>,
}

impl ResponseTimes {
    /// Of these times, picoseconds.
    pub fn of(mut times: Vec<u64>) -> Self {
        times.sort_unstable();
        let sum: u128 = times.iter().map(|&time| u128::from(time)).sum();
        // Nearest rank: the ceil(percent / 100 * count)-th smallest.
        let percentile = |percent: usize| {
            let rank = (times.len() * percent).div_ceil(100).max(1);
            times.get(rank - 1).copied()
        };
        ResponseTimes {
            count: times.len() as u64,
            mean_ps: if times.is_empty() {
                0.0
            } else {
                sum as f64 / times.len() as f64
            },
            p50_ps: percentile(50),
            p90_ps: percentile(90),
            p95_ps: percentile(95),
            p99_ps: percentile(99),
            max_ps: times.last().copied(),
        }
    }
}

/// The requests and responses of one client. Octets are TCP payload.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WebRecord {
    /// Pages begun.
    pub pages: u64,
    /// Requests handed to the client's TCP.
    pub requests: u64,
    /// Requests that have arrived at the server, which answers each at once.
    pub requests_answered: u64,
    /// Octets that the server has handed to its TCP.
    pub octets_scheduled: u64,
    /// From a request to the last octet of its file; of the files that came whole and in order.
    pub file_response: ResponseTimes,
    /// From a page's first request to the last octet of its last file; of the pages that are whole.
    pub page_response: ResponseTimes,
    /// The stream of requests, from the client to the server.
    pub request_stream: StreamRecord,
    /// Counters of requests at a proxy at the connection's end; the key is left out if there is
    /// none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relayed: Option<RelayedRequests>,
    /// Every file's response time, in the order of arrival.
    #[serde(skip)]
    pub file_times_ps: Vec<u64>,
    /// Every page's response time, in the order of arrival.
    #[serde(skip)]
    pub page_times_ps: Vec<u64>,
}

/// Requests at a proxy that passes them on, towards the server. Octets are TCP payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RelayedRequests {
    /// Octets that have come to it in order.
    pub octets_accepted: u64,
    /// Of those, octets that have not been sent.
    pub octets_unsent: u64,
}

/// The requests and responses of all clients of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WebTotals {
    /// See [`WebRecord::pages`].
    pub pages: u64,
    /// See [`WebRecord::requests`].
    pub requests: u64,
    /// See [`WebRecord::requests_answered`].
    pub requests_answered: u64,
    /// See [`WebRecord::octets_scheduled`].
    pub octets_scheduled: u64,
    /// See [`WebRecord::file_response`].
    pub file_response: ResponseTimes,
    /// See [`WebRecord::page_response`].
    pub page_response: ResponseTimes,
}

impl WebTotals {
    /// Over all flows with web traffic; none if there are none.
    pub fn of(flows: &[FlowRecord]) -> Option<Self> {
        let webs: Vec<&WebRecord> = flows.iter().filter_map(|flow| flow.web.as_ref()).collect();
        if webs.is_empty() {
            return None;
        }
        let sum = |count: fn(&WebRecord) -> u64| webs.iter().map(|web| count(web)).sum();
        let times = |of: fn(&WebRecord) -> &Vec<u64>| {
            ResponseTimes::of(webs.iter().flat_map(|web| of(web)).copied().collect())
        };
        Some(WebTotals {
            pages: sum(|web| web.pages),
            requests: sum(|web| web.requests),
            requests_answered: sum(|web| web.requests_answered),
            octets_scheduled: sum(|web| web.octets_scheduled),
            file_response: times(|web| &web.file_times_ps),
            page_response: times(|web| &web.page_times_ps),
        })
    }
}

/// The other half of a connection that carries data both ways; fields as in [`FlowRecord`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StreamRecord {
    /// Octets given to the network, repetitions included.
    pub octets_sent: u64,
    /// Of those, octets that had been sent before.
    pub octets_retransmitted: u64,
    /// Octets acknowledged.
    pub octets_acked: u64,
    /// Octets sent and not acknowledged at the end of the run.
    pub octets_outstanding: u64,
    /// Octets that reached the other application, in order.
    pub octets_delivered: u64,
    /// Different octets that arrived, in order or not.
    pub octets_received: u64,
    /// Octets that wait for earlier ones at the end of the run.
    pub octets_waiting: u64,
    /// Data segments given to the network.
    pub segments_sent: u64,
    /// Of those, segments that had been sent before.
    pub segments_retransmitted: u64,
    /// Acknowledgements sent by the receiver.
    pub acks_sent: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Entries into fast retransmit.
    pub fast_retransmits: u64,
    /// Segments without data that open the connection, both ways.
    pub control_segments: u64,
}

impl StreamRecord {
    /// Adds what other connections, or other ends of connections, carried.
    pub fn add_all(&mut self, others: &StreamRecord) {
        let StreamRecord {
            octets_sent,
            octets_retransmitted,
            octets_acked,
            octets_outstanding,
            octets_delivered,
            octets_received,
            octets_waiting,
            segments_sent,
            segments_retransmitted,
            acks_sent,
            timeouts,
            fast_retransmits,
            control_segments,
        } = others;
        self.octets_sent += octets_sent;
        self.octets_retransmitted += octets_retransmitted;
        self.octets_acked += octets_acked;
        self.octets_outstanding += octets_outstanding;
        self.octets_delivered += octets_delivered;
        self.octets_received += octets_received;
        self.octets_waiting += octets_waiting;
        self.segments_sent += segments_sent;
        self.segments_retransmitted += segments_retransmitted;
        self.acks_sent += acks_sent;
        self.timeouts += timeouts;
        self.fast_retransmits += fast_retransmits;
        self.control_segments += control_segments;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_nearest_ranks() {
        let times = ResponseTimes::of((1..=20).rev().collect());
        assert_eq!((times.count, times.mean_ps), (20, 10.5));
        assert_eq!((times.p50_ps, times.p90_ps), (Some(10), Some(18)));
        assert_eq!((times.p95_ps, times.p99_ps), (Some(19), Some(20)));
        assert_eq!(times.max_ps, Some(20));
        assert_eq!(ResponseTimes::of(Vec::new()), ResponseTimes::default());
    }

    #[test]
    fn totals_take_quantiles_over_all_clients() {
        let web = |times: Vec<u64>| FlowRecord {
            web: Some(WebRecord {
                pages: 1,
                file_times_ps: times,
                ..WebRecord::default()
            }),
            ..FlowRecord::default()
        };
        let flows = [web(vec![1, 2, 3]), FlowRecord::default(), web(vec![100])];
        let totals = WebTotals::of(&flows).expect("there are web users");
        assert_eq!((totals.pages, totals.file_response.count), (2, 4));
        assert_eq!(totals.file_response.p50_ps, Some(2));
        assert_eq!(totals.file_response.max_ps, Some(100));
        assert_eq!(WebTotals::of(&flows[1..2]), None);
    }
}
