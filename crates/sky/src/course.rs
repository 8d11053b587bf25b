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
}

/// The courses of all links at epochs, which go forward only.
pub struct Courses<'a> {
    columns: &'a Columns,
    cursors: Vec<Cursor>,
}

impl<'a> Courses<'a> {
    /// Courses at the first epoch.
    pub fn new(columns: &'a Columns) -> Self {
        let firsts = &columns.course_interval[..columns.course_interval.len().max(1) - 1];
        let mut courses = Courses {
            columns,
            cursors: Vec::with_capacity(firsts.len()),
        };
        for (course, &first) in firsts.iter().enumerate() {
            courses.cursors.push(Cursor {
                interval: first,
                difference: 0,
                delay_ps: 0,
            });
            courses.enter(course);
        }
        courses
    }

    /// Has a cursor begin with its interval.
    fn enter(&mut self, course: usize) {
        let cursor = &mut self.cursors[course];
        let interval = cursor.interval as usize;
        if interval < self.columns.interval_epoch.len() {
            cursor.difference = self.columns.interval_diff[interval];
            cursor.delay_ps = self.columns.interval_first_ps[interval];
        }
    }

    /// Delay of a link at an epoch, not before one asked for of its course; none where the link does
    /// not exist.
    pub fn delay_ps(&mut self, link: u32, epoch: u32) -> Option<u64> {
        let course = self.columns.link_course[link as usize] as usize;
        let end = self.columns.course_interval[course + 1];
        loop {
            let interval = self.cursors[course].interval;
            if interval >= end {
                return None;
            }
            let epochs = self.columns.interval_epochs(interval as usize);
            if epoch >= epochs.end {
                self.cursors[course].interval += 1;
                self.enter(course);
                continue;
            }
            if epoch < epochs.start {
                return None;
            }
            let cursor = &mut self.cursors[course];
            let until = self.columns.interval_diff[interval as usize] + (epoch - epochs.start);
            while cursor.difference < until {
                let difference = i64::from(self.columns.diff_ps[cursor.difference as usize]);
                cursor.delay_ps = cursor.delay_ps.wrapping_add_signed(difference);
                cursor.difference += 1;
            }
            return Some(cursor.delay_ps + self.columns.link_extra_ps[link as usize]);
        }
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
    fn epochs_may_be_left_out() {
        let columns = chain();
        let mut courses = Courses::new(&columns);
        assert_eq!(courses.delay_ps(1, 3), Some(1047));
        assert_eq!(courses.delay_ps(3, 3), Some(61));
    }
}
