//! Where tables of two runs differ.

use skycell_records::{Columns, RunRecords, SkyRecord, Traces};

/// Names the first row in which two traces differ.
pub fn first_trace_difference(reference: &RunRecords, fast: &RunRecords) -> String {
    let kinds: Vec<_> = Traces::FORMS.iter().map(|form| form.kind).collect();
    let tables = |records: &RunRecords| records.traces.clone().into_tables(&kinds);
    for ((name, a), (_, b)) in tables(reference).iter().zip(&tables(fast)) {
        let (a, b) = (rows(a), rows(b));
        if a != b {
            let row = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
            let (a, b) = (a.get(row), b.get(row));
            return format!("{name} row {row}: reference {a:?}, fast {b:?}");
        }
    }
    "equal after all".into()
}

/// Names the first row of the sky's tables in which two runs differ.
pub fn first_sky_difference(reference: &RunRecords, fast: &RunRecords) -> String {
    let tables = |records: &RunRecords| records.sky.clone().map(SkyRecord::into_tables);
    let (Some(one), Some(other)) = (tables(reference), tables(fast)) else {
        return "one of the runs has no sky".into();
    };
    for ((name, a), (_, b)) in one.iter().zip(&other) {
        let (a, b) = (rows(a), rows(b));
        if a != b {
            let row = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
            let (a, b) = (a.get(row), b.get(row));
            return format!("{name} row {row}: reference {a:?}, fast {b:?}");
        }
    }
    "equal after all".into()
}

/// The rows of a trace, each as a text with the names of its columns.
fn rows(columns: &Columns) -> Vec<String> {
    let (_, first) = &columns[0];
    let row = |i| {
        let values = columns
            .iter()
            .map(|(name, column)| format!("{name} {}", column.shown(i)));
        values.collect::<Vec<_>>().join(", ")
    };
    (0..first.len()).map(row).collect()
}
