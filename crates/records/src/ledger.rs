//! The ledger: what went in, where it came out, and the proof that nothing was lost count of.

use serde::Serialize;

/// One line of the ledger: `put_in` must equal the sum of `found`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Account {
    /// What is counted, such as `cells of vc flow1.forward`.
    pub name: String,
    /// What went in.
    pub put_in: u64,
    /// Where it was found at the end of the run.
    pub found: Vec<(&'static str, u64)>,
}

impl Account {
    /// Whether everything was found.
    pub fn is_balanced(&self) -> bool {
        self.put_in == self.found.iter().map(|(_, n)| n).sum::<u64>()
    }
}

/// All accounts of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Ledger {
    /// One line per port, per VC and per flow and layer.
    pub accounts: Vec<Account>,
}

impl Ledger {
    /// Adds a line.
    pub fn add(&mut self, name: String, put_in: u64, found: Vec<(&'static str, u64)>) {
        self.accounts.push(Account {
            name,
            put_in,
            found,
        });
    }

    /// The first line that does not balance; a run that has one has failed.
    pub fn first_unbalanced(&self) -> Option<&Account> {
        self.accounts.iter().find(|account| !account.is_balanced())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_that_is_nowhere_unbalances_the_ledger() {
        let mut ledger = Ledger::default();
        ledger.add("cells".into(), 3, vec![("departed", 2), ("queued", 1)]);
        assert_eq!(ledger.first_unbalanced(), None);
        ledger.add("cells".into(), 3, vec![("departed", 2)]);
        assert!(ledger.first_unbalanced().is_some());
    }
}
