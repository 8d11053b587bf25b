//! Applications of today: what each user of a group does.

use crate::check::{range, structure, validate_distribution};
use crate::check_classes::refused;
use crate::web::PageInterval;
use crate::{DistributionSpec, SpecError, Times};
use serde::{Deserialize, Serialize};
use serde_json::json;
use skycell_declare::types::{
    BitRate, CountLimit, FileCount, FromZeroToOne, Impairment, Interval, OriginCount, PacketOctets,
    PartOfOne, Repetitions, RequestOctets, SegmentCount, Share, TransferOctets, unchecked,
};
use skycell_declare::{Context, Declare, Rule};

/// The application of a group's users.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum AppSpec {
    /// Requests and answers in datagrams.
    Asks(AsksSpec),
    /// Downloads one after the other.
    Bulk(BulkSpec),
    /// Calls: packets at equal times both ways.
    Call(CallSpec),
    /// Pages of the web as browsers load them.
    Pages(PagesSpec),
    /// Videos in segments, each at a rate of a ladder.
    Video(VideoSpec),
}

impl AppSpec {
    /// Connections that a user may have open at once.
    pub fn slots(&self) -> u32 {
        match self {
            AppSpec::Pages(_) => MOST_CONNECTIONS,
            _ => 1,
        }
    }

    /// Octets of the longest IP packet that a datagram of it may be; 0 where it sends none.
    pub fn longest_datagram(&self) -> u64 {
        let most = |size: &SizeSpec| match *size {
            SizeSpec::Constant { octets } => octets,
            SizeSpec::Extreme { .. } => 65_535,
        };
        let longest = match self {
            AppSpec::Asks(asks) => most(&asks.ask).max(most(&asks.answer)),
            AppSpec::Call(call) => call.packet_octets,
            AppSpec::Pages(pages) => pages.dns_ask_octets.max(pages.dns_answer_octets),
            AppSpec::Bulk(_) | AppSpec::Video(_) => 0,
        };
        longest.into()
    }

    /// Refuses what cannot be simulated; `at` is where the spec stands.
    pub(crate) fn validate(&self, at: &str) -> Result<(), SpecError> {
        let checked = match self {
            AppSpec::Asks(asks) => asks.check(&Context::default()),
            AppSpec::Bulk(bulk) => bulk.check(&Context::default()),
            AppSpec::Call(call) => call.check(&Context::default()),
            AppSpec::Pages(pages) => pages.check(&Context::default()),
            AppSpec::Video(video) => video.check(&Context::default()),
        };
        checked.map_err(|refusal| refused(refusal, at))?;
        let times: &[(&str, &Times)] = match self {
            AppSpec::Asks(asks) => &[("interval", &asks.interval)],
            AppSpec::Bulk(bulk) => &[("pause", &bulk.pause)],
            AppSpec::Call(call) => &[("length", &call.length), ("pause", &call.pause)],
            AppSpec::Pages(pages) => &[
                ("page_wait", &pages.page_wait),
                ("file_wait", &pages.file_wait),
                ("reading", &pages.reading),
            ],
            AppSpec::Video(video) => &[("length", &video.length), ("pause", &video.pause)],
        };
        for (key, times) in times {
            validate_distribution(times, &format!("{at}.{key}"))?;
        }
        match self {
            AppSpec::Bulk(_) | AppSpec::Call(_) => Ok(()),
            AppSpec::Asks(asks) => asks.validate(at),
            AppSpec::Pages(pages) => pages.validate(at),
            AppSpec::Video(video) => video.validate(at),
        }
    }
}

/// Most connections that a user has at once, those that close included.
const MOST_CONNECTIONS: u32 = 256;

/// Requests and answers in datagrams, at times of the client's own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct AsksSpec {
    /// Time from one request to the next, whether or not it has been answered.
    #[param(check = unchecked, default = "40 ms", source = "NGMN, Radio access performance evaluation methodology, 2008: games")]
    pub interval: PageInterval,
    /// Octets of the IP packet of a request.
    #[param(
        check = unchecked,
        key = "ask_size",
        default = json!({"kind": "extreme", "mode": 45, "scale": 5.7}),
        source = "NGMN, Radio access performance evaluation methodology, 2008: games"
    )]
    pub ask: Sizes,
    /// Octets of the IP packet of an answer, which the server sends at once.
    #[param(
        check = unchecked,
        key = "answer_size",
        default = json!({"kind": "extreme", "mode": 120, "scale": 36}),
        source = "NGMN, Radio access performance evaluation methodology, 2008: games, whose updates have times of their own"
    )]
    pub answer: Sizes,
    /// Time after which a request without an answer is sent again, twice as long each time.
    #[param(check = unchecked, key = "again", optional, source = "never")]
    pub again_ps: Option<Interval>,
    /// Times that a request is sent again at most.
    #[param(default = 3, source = "choice")]
    pub repeats: SegmentCount,
}

/// Calls: packets at equal times both ways, and a playout buffer at each end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct CallSpec {
    /// Octets of an IP packet.
    #[param(
        key = "packet_size",
        default = "200 B",
        source = "G.711: 160 octets each 20 ms, 40 of RTP, UDP and IP"
    )]
    pub packet_octets: PacketOctets,
    /// Time from one packet to the next, which a packet has of speech.
    #[param(key = "interval", default = "20 ms", source = "RFC 3551, 4.2")]
    pub interval_ps: Interval,
    /// Time that the receiver waits for packets beyond the least delay that it has seen.
    #[param(key = "playout", default = "60 ms", source = "choice")]
    pub playout_ps: Interval,
    /// Equipment impairment factor.
    #[param(default = 0.0, symbol = "Ie", source = "G.113 appendix I: G.711")]
    pub ie: Impairment,
    /// Packet-loss robustness factor.
    #[param(
        default = 25.1,
        symbol = "Bpl",
        source = "G.113 appendix I: G.711 with concealment of losses; 4.3 without"
    )]
    pub bpl: Impairment,
    /// Duration of a call.
    #[param(check = unchecked, default = json!({"kind": "exponential", "mean": "120 s"}), source = "choice")]
    pub length: Times,
    /// Time from the end of a call to the next.
    #[param(check = unchecked, default = "10 s", source = "choice")]
    pub pause: Times,
    /// Number of calls; without it as many as the run has time for.
    #[param(check = unchecked, optional, source = "no end")]
    pub count: Option<Repetitions>,
}

/// Pages of the web as browsers load them.
///
/// Names, handshakes of TCP and TLS 1.3, files in waves from several servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct PagesSpec {
    /// Requests of 10, 25, 50, 75 and 90 % of pages at most.
    #[param(default = json!([27, 46, 77, 122, 185]), source = "HTTP Archive, Web Almanac 2025, Page weight: desktop")]
    pub requests: Vec<FileCount>,
    /// Octets of all files of as many pages at most; a page with more requests has more octets.
    #[param(
        key = "page_size",
        default = json!(["607 KiB", "1275 KiB", "2412 KiB", "4570 KiB", "9179 KiB"]),
        source = "HTTP Archive, Web Almanac 2025, Page weight: desktop; the same rank for both: choice"
    )]
    pub page_octets: Vec<TransferOctets>,
    /// Files by type: the first are the page and its frames.
    #[param(
        table,
        key = "file_type",
        default = json!([
            {"requests": 3, "size": 22, "sigma": 1, "wave": 1, "urgency": 1},
            {"requests": 8, "size": 82, "sigma": 1, "wave": 1, "urgency": 2},
            {"requests": 23, "size": 697, "sigma": 2.2, "wave": 1, "urgency": 3},
            {"requests": 4, "size": 139, "sigma": 1, "wave": 2, "urgency": 2},
            {"requests": 17, "size": 1058, "sigma": 2.5, "wave": 2, "urgency": 4},
        ]),
        source = "HTTP Archive, Web Almanac 2025, Page weight: medians of HTML, CSS, scripts, fonts, images; waves and urgency: choice"
    )]
    pub parts: Vec<FilePartSpec>,
    /// Servers from which a page has files.
    #[param(
        default = 17,
        source = "HTTP Archive, Web Almanac 2025, Third parties: one and 16"
    )]
    pub origins: OriginCount,
    /// Part of the files that the first server has; the others have the rest alike.
    #[param(default = 0.33, source = "choice")]
    pub first_part: FromZeroToOne,
    /// HTTP/1.1, HTTP/2, or one of them for each server.
    #[param(
        word,
        default = "by_origin",
        source = "HTTP Archive, Web Almanac 2024, HTTP"
    )]
    pub protocol: Protocol,
    /// Part of the servers with HTTP/1.1.
    #[param(default = 0.15, source = "HTTP Archive, Web Almanac 2024, HTTP", when(protocol = ["by_origin"]))]
    pub http1_part: FromZeroToOne,
    /// Connections to a server with HTTP/1.1, each with one request at a time; to one with HTTP/2 there is one.
    #[param(default = 6, source = "Chrome and Firefox")]
    pub connections: OriginCount,
    /// Who answers for names: the host of the servers (server), or nobody, as all are known (none).
    #[param(word, default = "server", source = "choice")]
    pub dns: Dns,
    /// Octets of the IP packet that asks for a name.
    #[param(key = "dns_ask_size", default = "60 B", source = "choice", when(dns = ["server"]))]
    pub dns_ask_octets: PacketOctets,
    /// Octets of the IP packet of the answer.
    #[param(key = "dns_answer_size", default = "200 B", source = "choice", when(dns = ["server"]))]
    pub dns_answer_octets: PacketOctets,
    /// Time after which a name is asked for again.
    #[param(key = "dns_again", default = "5 s", source = "choice", when(dns = ["server"]))]
    pub dns_again_ps: Interval,
    /// Octets of the client's first flight of TLS.
    #[param(key = "hello_size", default = "500 B", source = "choice")]
    pub hello_octets: RequestOctets,
    /// Octets of the server's flight with its certificates.
    #[param(
        key = "flight_size",
        default = "4 kB",
        source = "choice: chains have 1.5 to 5 kB"
    )]
    pub flight_octets: RequestOctets,
    /// Octets of the server's flight where a session is resumed.
    #[param(key = "resumed_size", default = "300 B", source = "choice")]
    pub resumed_octets: RequestOctets,
    /// Octets of the client's last flight, which goes with its first request.
    #[param(key = "finished_size", default = "100 B", source = "choice")]
    pub finished_octets: RequestOctets,
    /// Part of the connections that resume a session.
    #[param(default = 0.4, source = "choice")]
    pub resumed_part: FromZeroToOne,
    /// Part of those that send requests with the first flight (0-RTT).
    #[param(default = 0.0, source = "choice")]
    pub early_part: FromZeroToOne,
    /// Octets of a request.
    #[param(key = "request_size", default = "500 B", source = "choice")]
    pub request_octets: RequestOctets,
    /// Time that a server takes for the page.
    #[param(check = unchecked, default = json!({"kind": "exponential", "mean": "50 ms"}), source = "choice")]
    pub page_wait: Times,
    /// Time that it takes for another file.
    #[param(check = unchecked, default = json!({"kind": "exponential", "mean": "5 ms"}), source = "choice")]
    pub file_wait: Times,
    /// Time from a page's last octet to the next page.
    #[param(
        check = unchecked,
        default = json!({"kind": "exponential", "mean": "30 s"}),
        source = "3GPP R1-070674, table A.2.1.3-1: reading time"
    )]
    pub reading: Times,
    /// Number of pages; without it as many as the run has time for.
    #[param(check = unchecked, optional, source = "no end")]
    pub count: Option<Repetitions>,
}

/// Files of a type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct FilePartSpec {
    /// Requests, in proportion to those of the other types.
    #[param]
    pub requests: Share,
    /// Octets of all, in proportion to those of the other types.
    #[param(key = "size")]
    pub octets: Share,
    /// Standard deviation of the logarithm of a file's octets.
    #[param(default = 1.0, source = "choice")]
    pub sigma: Impairment,
    /// Wave in which they are asked for, each when all of the waves before have come; the page itself is wave 0.
    #[param(default = 1, source = "choice")]
    pub wave: CountLimit,
    /// Rank among files that a server has to send; 1 goes first.
    #[param(default = 1, source = "choice")]
    pub urgency: CountLimit,
}

/// A version of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// HTTP/1.1: several connections to a server, each with one request at a time.
    Http1,
    /// HTTP/2: one connection to a server, with all requests.
    Http2,
    /// Drawn for each server of a page.
    ByOrigin,
}

/// Who answers for names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum Dns {
    /// The host of the servers.
    Server,
    /// Nobody: names are known.
    None,
}

/// Sizes as a parameter of applications.
pub type Sizes = SizeSpec;

/// A named distribution of sizes, octets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum SizeSpec {
    /// Always the same.
    Constant {
        /// Octets.
        octets: u32,
    },
    /// Largest extreme value (Gumbel).
    Extreme {
        /// Mode, octets.
        mode: f64,
        /// Scale, octets.
        scale: f64,
    },
}

impl AsksSpec {
    fn validate(&self, at: &str) -> Result<(), SpecError> {
        if self.interval == (DistributionSpec::Constant { value_ps: 0 }) {
            return Err(range(format!("{at}.interval.value_ps"), 0, "above 0"));
        }
        if self.again_ps == Some(0) {
            return Err(range(format!("{at}.again_ps"), 0, "above 0"));
        }
        for (key, sizes) in [("ask", &self.ask), ("answer", &self.answer)] {
            let is_fine = match *sizes {
                SizeSpec::Constant { octets } => (1..=65_535).contains(&octets),
                SizeSpec::Extreme { mode, scale } => {
                    mode > 0.0 && mode <= 65_535.0 && scale > 0.0 && scale <= 65_535.0
                }
            };
            if !is_fine {
                let (got, allowed) = (format!("{sizes:?}"), "sizes above 0, up to 65535");
                return Err(range(format!("{at}.{key}"), got, allowed));
            }
        }
        Ok(())
    }
}

impl PagesSpec {
    fn validate(&self, at: &str) -> Result<(), SpecError> {
        for (key, values) in [
            ("requests", self.requests.clone()),
            ("page_octets", self.page_octets.clone()),
        ] {
            if values.len() != 5 || values.windows(2).any(|pair| pair[0] > pair[1]) {
                let (got, allowed) = (format!("{values:?}"), "five values that do not descend");
                return Err(range(format!("{at}.{key}"), got, allowed));
            }
        }
        if self.parts.is_empty() {
            return Err(structure(format!("{at}.parts"), "needs a type of files"));
        }
        for (i, part) in self.parts.iter().enumerate() {
            let refusal = part.check(&Context::default());
            refusal.map_err(|refusal| refused(refusal, &format!("{at}.parts[{i}]")))?;
        }
        Ok(())
    }
}

/// Downloads one after the other, each over a connection of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct BulkSpec {
    /// Octets of a download.
    #[param(key = "size", default = "100 MB", source = "choice")]
    pub size_octets: TransferOctets,
    /// Number of downloads; without it as many as the run has time for.
    #[param(check = unchecked, optional, source = "no end")]
    pub count: Option<Repetitions>,
    /// Time from the end of a download to the next.
    #[param(check = unchecked, default = "0 s", source = "choice: back to back")]
    pub pause: Times,
    /// Octets of the request for a download.
    #[param(key = "request_size", default = "500 B", source = "choice")]
    pub request_octets: RequestOctets,
}

/// Videos in segments: a client with a buffer chooses the rate of each from a ladder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct VideoSpec {
    /// Bit rates of the video, from the lowest. A segment has its rate times its duration, whatever it shows.
    #[param(
        key = "ladder",
        default = json!([
            "145 kbit/s", "365 kbit/s", "730 kbit/s", "1.1 Mbit/s", "2 Mbit/s", "3 Mbit/s", "4.5 Mbit/s", "6 Mbit/s",
            "7.8 Mbit/s",
        ]),
        source = "Apple, HLS Authoring Specification, 2025: H.264, 16:9"
    )]
    pub ladder_millibps: Vec<BitRate>,
    /// Duration of a segment.
    #[param(
        key = "segment",
        default = "6 s",
        source = "Apple, HLS Authoring Specification, 2025"
    )]
    pub segment_ps: Interval,
    /// How the rate of the next segment is chosen: by the rate at which the last segments came (rate), or by how
    /// long the buffer lasts (bola, bba).
    #[param(word, default = "bola", source = "choice")]
    pub choice: VideoChoice,
    /// Part of the harmonic mean of the last segments' rates up to which a rate is chosen.
    #[param(default = 0.9, source = "dash.js: bandwidthSafetyFactor", when(choice = ["rate"]))]
    pub rate_part: PartOfOne,
    /// Segments in that mean.
    #[param(default = 4, source = "dash.js: ThroughputHistory", when(choice = ["rate"]))]
    pub rate_segments: SegmentCount,
    /// Duration of buffered video below which BOLA's lowest rate is best; below buffer.
    #[param(
        key = "bola_least",
        default = "10 s",
        source = "dash.js: MINIMUM_BUFFER_S",
        when(choice = ["bola"])
    )]
    pub bola_least_ps: Interval,
    /// Duration of buffered video up to which the lowest rate is chosen.
    #[param(
        key = "bba_reservoir",
        default = "5 s",
        source = "Mao, Netravali and Alizadeh, Pensieve, SIGCOMM 2017, for short buffers; Huang and others, SIGCOMM 2014: 90 s",
        when(choice = ["bba"])
    )]
    pub bba_reservoir_ps: Interval,
    /// Further duration over which the chosen rate rises to the highest.
    #[param(
        key = "bba_cushion",
        default = "10 s",
        source = "Mao, Netravali and Alizadeh, Pensieve, SIGCOMM 2017, for short buffers; Huang and others, SIGCOMM 2014: 126 s",
        when(choice = ["bba"])
    )]
    pub bba_cushion_ps: Interval,
    /// Duration of buffered video from which no segment is asked for, and BOLA's target; at least two segments.
    #[param(key = "buffer", default = "30 s", source = "choice")]
    pub buffer_ps: Interval,
    /// Segments that a client has before it plays.
    #[param(default = 2, source = "choice")]
    pub start_segments: SegmentCount,
    /// Segments that it has before it plays on after a stall.
    #[param(default = 1, source = "choice")]
    pub resume_segments: SegmentCount,
    /// Duration of a video, in whole segments and at least one.
    #[param(check = unchecked, default = "600 s", source = "choice")]
    pub length: Times,
    /// Time from the end of a video to the next.
    #[param(check = unchecked, default = "10 s", source = "choice")]
    pub pause: Times,
    /// Number of videos; without it as many as the run has time for.
    #[param(check = unchecked, optional, source = "no end")]
    pub count: Option<Repetitions>,
    /// Octets of the request for a segment.
    #[param(key = "request_size", default = "500 B", source = "choice")]
    pub request_octets: RequestOctets,
}

/// A rule by which a video client chooses rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum VideoChoice {
    /// The highest below a part of the harmonic mean of the last segments' rates.
    Rate,
    /// BOLA (Spiteri, Urgaonkar and Sitaraman, 2016), as dash.js has it while video plays.
    Bola,
    /// BBA-0 (Huang and others, 2014): by a line between two lengths of the buffer.
    Bba,
}

impl VideoSpec {
    fn validate(&self, at: &str) -> Result<(), SpecError> {
        let path = |key: &str| format!("{at}.{key}");
        let ladder = &self.ladder_millibps;
        if ladder.is_empty() || ladder.windows(2).any(|pair| pair[0] >= pair[1]) {
            let (got, allowed) = (
                format!("{ladder:?}"),
                "at least one rate, each above the one before",
            );
            return Err(range(path("ladder_millibps"), got, allowed));
        }
        // A segment has an octet at least.
        let least = u128::from(ladder[0]) * u128::from(self.segment_ps) / 8_000_000_000_000_000;
        if least == 0 {
            return Err(range(
                path("segment_ps"),
                self.segment_ps,
                "an octet at the lowest rate",
            ));
        }
        let segments = self.start_segments.max(self.resume_segments).max(2);
        if self.buffer_ps < u64::from(segments) * self.segment_ps {
            let allowed = "at least two segments, and those before it plays";
            return Err(range(path("buffer_ps"), self.buffer_ps, allowed));
        }
        if self.choice == VideoChoice::Bola && self.bola_least_ps >= self.buffer_ps {
            return Err(range(
                path("bola_least_ps"),
                self.bola_least_ps,
                "below buffer_ps",
            ));
        }
        Ok(())
    }
}
