//! Courses over time: whether a link exists, and what its delay is.

use crate::columns::Columns;

/// Where a course is followed.
#[derive(Clone, Copy, Debug)]
struct Cursor {
    /// Interval that the epoch is in, or that comes next.
    interval: u32,
    /// Difference that is added next.
    difference: u32,
    /// Delay before that difference.
    delay_ps: u64,
    /// Delay at the last epoch of the interval before; none where there was none.
    last_ps: Option<u64>,
}

/// The courses of all links at epochs, which go forward only.
pub struct Courses<'a> {
    columns: &'a Columns,
    /// By course, or by link.
    cursors: Vec<Cursor>,
    is_by_link: bool,
}

impl<'a> Courses<'a> {
    /// Courses at the first epoch.
    pub fn new(columns: &'a Columns) -> Self {
        let firsts = &columns.course_interval[..columns.course_interval.len().max(1) - 1];
        Courses::at_intervals(columns, firsts.iter().copied(), false)
    }

    /// Courses at the first epoch, of which each link goes forward by itself, however far the other
    /// direction has gone.
    pub fn by_link(columns: &'a Columns) -> Self {
        let courses = columns.link_course.iter();
        let firsts = courses.map(|&course| columns.course_interval[course as usize]);
        Courses::at_intervals(columns, firsts, true)
    }

    fn at_intervals(
        columns: &'a Columns,
        firsts: impl ExactSizeIterator<Item = u32>,
        is_by_link: bool,
    ) -> Self {
        let mut courses = Courses {
            columns,
            cursors: Vec::with_capacity(firsts.len()),
            is_by_link,
        };
        for (index, first) in firsts.enumerate() {
            courses.cursors.push(Cursor {
                interval: first,
                difference: 0,
                delay_ps: 0,
                last_ps: None,
            });
            courses.enter(index);
        }
        courses
    }

    /// The course of a link, and the index of the cursor that follows it.
    fn cursor_of(&self, link: u32) -> (usize, usize) {
        let course = self.columns.link_course[link as usize] as usize;
        (
            course,
            if self.is_by_link {
                link as usize
            } else {
                course
            },
        )
    }

    /// Has a cursor begin with its interval.
    fn enter(&mut self, index: usize) {
        let cursor = &mut self.cursors[index];
        let interval = cursor.interval as usize;
        if interval < self.columns.interval_epoch.len() {
            cursor.difference = self.columns.interval_diff[interval];
            cursor.delay_ps = self.columns.interval_first_ps[interval];
        }
    }

    /// Delay of a link at an epoch, not before one asked for of its course; none where the link does
    /// not exist.
    pub fn delay_ps(&mut self, link: u32, epoch: u32) -> Option<u64> {
        let (course, index) = self.cursor_of(link);
        let end = self.columns.course_interval[course + 1];
        loop {
            let interval = self.cursors[index].interval;
            if interval >= end {
                return None;
            }
            let epochs = self.columns.interval_epochs(interval as usize);
            if epoch >= epochs.end {
                let all = self.columns.interval_diff[interval as usize + 1];
                self.add_up(index, all);
                let cursor = &mut self.cursors[index];
                cursor.last_ps = Some(cursor.delay_ps);
                cursor.interval += 1;
                self.enter(index);
                continue;
            }
            if epoch < epochs.start {
                return None;
            }
            let until = self.columns.interval_diff[interval as usize] + (epoch - epochs.start);
            self.add_up(index, until);
            let extra_ps = self.columns.link_extra_ps[link as usize];
            return Some(self.cursors[index].delay_ps + extra_ps);
        }
    }

    /// Adds the differences of the cursor's interval before `until` to its delay.
    fn add_up(&mut self, index: usize, until: u32) {
        let cursor = &mut self.cursors[index];
        while cursor.difference < until {
            let difference = i64::from(self.columns.diff_ps[cursor.difference as usize]);
            cursor.delay_ps = cursor.delay_ps.wrapping_add_signed(difference);
            cursor.difference += 1;
        }
    }

    /// Delay of a link at an epoch as in [`Courses::delay_ps`]; where the link does not exist the last
    /// that it had, and where it never did, none.
    pub fn known_ps(&mut self, link: u32, epoch: u32) -> Option<u64> {
        if let Some(delay_ps) = self.delay_ps(link, epoch) {
            return Some(delay_ps);
        }
        let (_, index) = self.cursor_of(link);
        let extra_ps = self.columns.link_extra_ps[link as usize];
        self.cursors[index].last_ps.map(|last| last + extra_ps)
    }

    /// The first epoch at which a link does not exist any more that exists at `epoch`; `epoch` where
    /// it does not.
    pub fn exists_until(&mut self, link: u32, epoch: u32) -> u32 {
        if self.delay_ps(link, epoch).is_none() {
            return epoch;
        }
        let (course, index) = self.cursor_of(link);
        let last = self.columns.course_interval[course + 1];
        let interval = self.cursors[index].interval;
        let mut end = self.columns.interval_epochs(interval as usize).end;
        // An interval that follows at once differs in nothing but a leap of the delay.
        for next in interval + 1..last {
            let epochs = self.columns.interval_epochs(next as usize);
            if epochs.start != end {
                break;
            }
            end = epochs.end;
        }
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::tests::chain;

    #[test]
    fn a_delay_is_the_sum_of_its_differences_and_none_where_there_is_no_link() {
        let columns = chain();
        let mut courses = Courses::new(&columns);
        let mut of = |link: u32| [0, 1, 2, 3].map(|epoch| courses.delay_ps(link, epoch));
        // 1000, then -10, 20 and 30; 5 more over link 0.
        assert_eq!(of(0), [Some(1005), Some(995), Some(1015), Some(1045)]);
        assert_eq!(of(2), [Some(50), None, Some(60), Some(61)]);
    }

    #[test]
    fn a_link_that_is_gone_keeps_its_last_delay() {
        let columns = chain();
        let mut courses = Courses::new(&columns);
        let mut known = |link: u32| [0, 1, 2, 3].map(|epoch| courses.known_ps(link, epoch));
        assert_eq!(known(2), [Some(50), Some(50), Some(60), Some(61)]);
    }

    #[test]
    fn a_link_exists_until_the_end_of_its_intervals() {
        let columns = chain();
        let mut courses = Courses::new(&columns);
        let mut until = |link: u32, epoch: u32| courses.exists_until(link, epoch);
        assert_eq!([until(0, 0), until(0, 3)], [4, 4]);
        assert_eq!([until(2, 0), until(2, 1), until(2, 2)], [1, 1, 4]);
    }

    #[test]
    fn by_link_one_direction_goes_ahead_of_the_other() {
        let columns = chain();
        assert_eq!(columns.link_course[0], columns.link_course[1]);
        let mut courses = Courses::by_link(&columns);
        assert_eq!(courses.delay_ps(0, 3), Some(1045));
        let back = [0, 1, 2, 3].map(|epoch| courses.delay_ps(1, epoch));
        assert_eq!(back, [Some(1007), Some(997), Some(1017), Some(1047)]);
    }

    #[test]
    fn epochs_may_be_left_out() {
        let columns = chain();
        let mut courses = Courses::new(&columns);
        assert_eq!(courses.delay_ps(1, 3), Some(1047));
        assert_eq!(courses.delay_ps(3, 3), Some(61));
    }
}
