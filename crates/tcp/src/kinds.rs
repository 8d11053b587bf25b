//! Generates, from a list of kinds, the spec of a rule of any of them.

/// `Family { Kind(Spec), ... }`: a table told apart by its `kind`, and the check of its parameters.
macro_rules! kinds {
    ($(#[$doc:meta])* $family:ident { $($(#[$kind_doc:meta])* $kind:ident($spec:ident),)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
        #[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
        pub enum $family {
            $($(#[$kind_doc])* $kind($spec),)*
        }

        impl Rule for $family {
            fn check(&self, context: &Context) -> Result<(), Refusal> {
                match self {
                    $($family::$kind(spec) => spec.check(context),)*
                }
            }
        }
    };
}

pub(crate) use kinds;
