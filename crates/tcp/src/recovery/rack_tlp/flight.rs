//! The segments under way, and what has become of each (Linux's retransmission queue: tcp_rtx_queue, TCPCB_*).

use std::collections::VecDeque;

const SACKED: u8 = 1;
/// Thought lost; stays while its repetition is under way.
const LOST: u8 = 2;
/// A repetition is under way.
const RESENT: u8 = 4;
/// It has been repeated.
const REPEATED: u8 = 8;
/// Found lost by its time, and looked at no more (off the list tsorted_sent_queue).
const TIMED_OUT: u8 = 16;

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Octet after its last.
    end: u64,
    /// When it was sent last, ticks.
    ticks: u64,
    /// That sending, counted.
    turn: u32,
    marks: u8,
}

impl Entry {
    fn sent_at(&self) -> SentAt {
        (self.ticks, self.turn)
    }

    fn is(&self, marks: u8) -> bool {
        self.marks & marks != 0
    }

    /// Returns whether its repetition may be under way, which it is not for a segment that is lost
    /// and not resent.
    fn may_be_lost_again(&self) -> bool {
        !self.is(SACKED) && !self.is_to_resend()
    }

    /// Returns whether it is lost and no repetition is under way.
    fn is_to_resend(&self) -> bool {
        self.marks & (SACKED | LOST | RESENT) == LOST
    }
}

/// A segment that an acknowledgement covers, by number or by block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Covered {
    /// Which segment of the connection.
    pub(super) index: u64,
    pub(super) start: u64,
    /// When it was sent last.
    pub(super) sent_at: SentAt,
    pub(super) is_repeated: bool,
    /// True if a block had covered it before.
    pub(super) was_sacked: bool,
}

/// A time of sending, ticks, and which sending it was: of two in a tick RFC 8985 takes the higher sequence number for
/// the later, which a clock of microseconds needs not.
pub(super) type SentAt = (u64, u32);

/// The inputs of a search for losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Losses {
    /// Segments, or repetitions, found lost.
    pub(super) count: u32,
    /// Of these, repetitions.
    pub(super) repetitions: u32,
    /// Ticks until the last of those that may be late only is lost; 0 where there are none.
    pub(super) wait: u64,
}

/// Segments from `snd_una` to `snd_max`, by sequence number. Those before the first are counted, so that a segment
/// keeps its index.
#[derive(Clone, Debug, Default)]
pub(super) struct Flight {
    entries: VecDeque<Entry>,
    /// First octet of the first.
    start: u64,
    /// Segments before the first.
    gone: u64,
    /// Sendings so far.
    turns: u32,
    sacked: u32,
    lost: u32,
    resent: u32,
    to_resend: u32,
    ever_lost: u64,
    /// No index below is to be resent.
    resend_from: u64,
    /// Every index below has been found lost, repeated or covered: originals are sent in this order.
    search_from: u64,
    /// Repetitions, index and sending, as they were sent; some are no longer under way.
    repetitions: VecDeque<(u64, SentAt)>,
    /// Segments found lost that were not taken yet, where somebody asks for them.
    found_lost: Option<Vec<u64>>,
}

impl Flight {
    /// From now on segments that are found lost are kept until they are taken.
    pub(super) fn keep_lost(&mut self) {
        self.found_lost = Some(Vec::new());
    }

    /// Takes the segments found lost since the last time, as they were found.
    pub(super) fn take_lost(&mut self) -> Vec<u64> {
        match &mut self.found_lost {
            Some(found) if !found.is_empty() => std::mem::take(found),
            _ => Vec::new(),
        }
    }

    /// Segments before the first.
    pub(super) fn gone(&self) -> u64 {
        self.gone
    }

    /// Segments that were ever found lost, repetitions too (tp->lost).
    pub(super) fn ever_lost(&self) -> u64 {
        self.ever_lost
    }

    /// Segments, those SACKed included: packets_out.
    pub(super) fn len(&self) -> u64 {
        self.entries.len() as u64
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// sacked_out.
    pub(super) fn sacked(&self) -> u32 {
        self.sacked
    }

    /// lost_out.
    pub(super) fn lost(&self) -> u32 {
        self.lost
    }

    /// retrans_out.
    pub(super) fn resent(&self) -> u32 {
        self.resent
    }

    /// Segments that are lost and not yet sent again.
    pub(super) fn to_resend(&self) -> u32 {
        self.to_resend
    }

    /// Segments thought to be in the network (tcp_packets_in_flight): those not SACKed and not lost, and the
    /// repetitions under way.
    pub(super) fn pipe(&self) -> u64 {
        self.len() + u64::from(self.resent) - u64::from(self.sacked) - u64::from(self.lost)
    }

    /// When the first was sent last, ticks.
    pub(super) fn first_ticks(&self) -> Option<u64> {
        self.entries.front().map(|first| first.ticks)
    }

    /// New data up to `end` has been sent.
    pub(super) fn push(&mut self, end: u64, ticks: u64) {
        self.turns = self.turns.wrapping_add(1);
        self.entries.push_back(Entry {
            end,
            ticks,
            turn: self.turns,
            marks: 0,
        });
    }

    fn at(&self, index: u64) -> Option<&Entry> {
        self.entries.get(index.checked_sub(self.gone)? as usize)
    }

    fn start_of(&self, position: usize) -> u64 {
        match position {
            0 => self.start,
            _ => self.entries[position - 1].end,
        }
    }

    /// Takes off the counts what the marks of a segment stand for that is covered now.
    fn forget(&mut self, entry: Entry) {
        self.resent -= u32::from(entry.is(RESENT));
        self.lost -= u32::from(entry.is(LOST));
        self.to_resend -= u32::from(entry.is_to_resend());
    }

    /// Everything below `ack` has arrived (tcp_clean_rtx_queue).
    pub(super) fn acknowledge(&mut self, ack: u64, mut report: impl FnMut(Covered)) {
        while let Some(&entry) = self.entries.front()
            && entry.end <= ack
        {
            self.forget(entry);
            self.sacked -= u32::from(entry.is(SACKED));
            self.entries.pop_front();
            self.gone += 1;
            report(Covered {
                index: self.gone - 1,
                start: self.start,
                sent_at: entry.sent_at(),
                is_repeated: entry.is(REPEATED),
                was_sacked: entry.is(SACKED),
            });
            self.start = entry.end;
        }
        self.start = self.start.max(ack);
        if self.entries.is_empty() {
            self.repetitions.clear();
        }
    }

    /// A block has covered [start, end), of which nothing was before (tcp_sacktag_one).
    pub(super) fn sack(&mut self, start: u64, end: u64, mut report: impl FnMut(Covered)) {
        let mut position = self.entries.partition_point(|entry| entry.end <= start);
        while let Some(&entry) = self.entries.get(position)
            && entry.end <= end
        {
            let covered = Covered {
                index: self.gone + position as u64,
                start: self.start_of(position),
                sent_at: entry.sent_at(),
                is_repeated: entry.is(REPEATED),
                was_sacked: entry.is(SACKED),
            };
            if covered.start >= start && !covered.was_sacked {
                self.forget(entry);
                self.sacked += 1;
                self.entries[position].marks = SACKED | entry.marks & REPEATED;
                report(covered);
            }
            position += 1;
        }
    }

    /// tcp_mark_skb_lost.
    fn mark_lost(&mut self, position: usize, losses: &mut Losses) {
        let index = self.gone + position as u64;
        let entry = &mut self.entries[position];
        if entry.is(SACKED) {
            return;
        }
        if !entry.is(LOST) {
            entry.marks |= LOST;
            self.lost += 1;
            self.ever_lost += 1;
            losses.count += 1;
        } else if entry.is(RESENT) {
            entry.marks &= !RESENT;
            self.resent -= 1;
            self.ever_lost += 1;
            losses.count += 1;
            losses.repetitions += 1;
        } else {
            return;
        }
        if let Some(found) = &mut self.found_lost {
            found.push(index);
        }
        if self.entries[position].is_to_resend() {
            self.to_resend += 1;
            self.resend_from = self.resend_from.min(index);
        }
    }

    /// Marks lost what was sent before `latest`, which has arrived, and `patience` ticks or more before `now`
    /// (tcp_rack_detect_loss).
    pub(super) fn find_lost(&mut self, latest: SentAt, patience: u64, now: u64) -> Losses {
        let mut losses = Losses::default();
        self.search_from = self.search_from.max(self.gone);
        let mut position = (self.search_from - self.gone) as usize;
        let mut none_waits = true;
        while let Some(&entry) = self.entries.get(position) {
            if !entry.is(SACKED | LOST | REPEATED | TIMED_OUT) {
                if entry.sent_at() >= latest {
                    break;
                }
                match (entry.ticks + patience).checked_sub(now) {
                    None | Some(0) => {
                        self.mark_lost(position, &mut losses);
                        self.entries[position].marks |= TIMED_OUT;
                    }
                    Some(remaining) => {
                        losses.wait = losses.wait.max(remaining);
                        none_waits = false;
                    }
                }
            }
            position += 1;
            if none_waits {
                self.search_from = self.gone + position as u64;
            }
        }
        self.find_lost_repetitions(latest, patience, now, &mut losses);
        losses
    }

    fn find_lost_repetitions(
        &mut self,
        latest: SentAt,
        patience: u64,
        now: u64,
        losses: &mut Losses,
    ) {
        let mut next = 0;
        while let Some(&(index, sent_at)) = self.repetitions.get(next) {
            let entry = self.at(index);
            if !entry.is_some_and(|e| e.may_be_lost_again() && e.sent_at() == sent_at) {
                self.repetitions.remove(next);
                continue;
            }
            if sent_at >= latest {
                return;
            }
            match (sent_at.0 + patience).checked_sub(now) {
                None | Some(0) => {
                    self.mark_lost((index - self.gone) as usize, losses);
                    self.repetitions.remove(next);
                }
                Some(remaining) => {
                    losses.wait = losses.wait.max(remaining);
                    next += 1;
                }
            }
        }
    }

    /// The timer has run out: the first is lost, and all that were sent `rtt` ticks or more before `now`
    /// (tcp_timeout_mark_lost).
    pub(super) fn on_timeout(&mut self, rtt: u64, now: u64) {
        let mut losses = Losses::default();
        for position in 0..self.entries.len() {
            if position == 0 || self.entries[position].ticks + rtt <= now {
                self.mark_lost(position, &mut losses);
            }
        }
    }

    /// Forgets all losses, because the lost segments were late (tcp_undo_cwnd_reduction).
    pub(super) fn forget_losses(&mut self) {
        self.entries
            .iter_mut()
            .for_each(|entry| entry.marks &= !LOST);
        (self.lost, self.to_resend) = (0, 0);
        self.search_from = self.gone;
    }

    /// Returns whether a repetition is under way, or the first has been repeated
    /// (tcp_any_retrans_done).
    pub(super) fn has_repetition(&self) -> bool {
        self.resent > 0 || self.entries.front().is_some_and(|first| first.is(REPEATED))
    }

    /// Segments of [start, end) that have been repeated.
    pub(super) fn repeated_within(&self, start: u64, end: u64) -> u64 {
        let first = self.entries.partition_point(|entry| entry.end <= start);
        let within = self.entries.iter().skip(first).take_while(|e| e.end <= end);
        within.filter(|entry| entry.is(REPEATED)).count() as u64
    }

    /// The next segment to send again, its index and octets; none where none is.
    pub(super) fn next_to_resend(&mut self) -> Option<(u64, u64, u64)> {
        if self.to_resend == 0 {
            return None;
        }
        self.resend_from = self.resend_from.max(self.gone);
        loop {
            let position = (self.resend_from - self.gone) as usize;
            let entry = self.entries.get(position)?;
            if entry.is_to_resend() {
                return Some((self.resend_from, self.start_of(position), entry.end));
            }
            self.resend_from += 1;
        }
    }

    /// The first segment, and the last: index and octets.
    pub(super) fn first(&self) -> Option<(u64, u64, u64)> {
        let first = self.entries.front()?;
        Some((self.gone, self.start, first.end))
    }

    /// See [`Flight::first`].
    pub(super) fn last(&self) -> Option<(u64, u64, u64)> {
        let position = self.entries.len().checked_sub(1)?;
        let index = self.gone + position as u64;
        Some((index, self.start_of(position), self.entries[position].end))
    }

    /// The segment `index` has been sent again (tcp_retransmit_skb).
    pub(super) fn on_resent(&mut self, index: u64, ticks: u64) {
        let entry = &mut self.entries[(index - self.gone) as usize];
        self.to_resend -= u32::from(entry.is_to_resend());
        self.resent += u32::from(!entry.is(RESENT));
        entry.marks |= RESENT;
        self.on_probed(index, ticks);
    }

    /// The same as a probe, which does not count as under way (__tcp_retransmit_skb).
    pub(super) fn on_probed(&mut self, index: u64, ticks: u64) {
        let entry = &mut self.entries[(index - self.gone) as usize];
        self.turns = self.turns.wrapping_add(1);
        entry.marks |= REPEATED;
        (entry.ticks, entry.turn) = (ticks, self.turns);
        self.repetitions.push_back((index, entry.sent_at()));
    }
}
