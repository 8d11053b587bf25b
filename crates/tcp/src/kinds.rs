//! Generates, from lists of kinds, the spec of a rule of any of them and the state of one.

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

/// `spec Family { Kind(Spec), ... }` as [`kinds!`], with the module `specs` that publishes them beside
/// the `types` of their parameters; `state Any { State, ... }`: the states of the kinds that keep one.
///
/// `of_spec!(spec, rule => ...)` and `of_any!(state, rule => ...)` ask the rule, whichever it is.
macro_rules! kinds_with_states {
    (
        $(#[$doc:meta])*
        spec $family:ident { $($kind:ident($spec:ident),)* }
        types { $($type:ident,)* }
        $(#[$state_doc:meta])*
        state $any:ident { $($state:ident,)* }
    ) => {
        kinds! {
            $(#[$doc])*
            $family {
                $(#[doc = concat!("See [`", stringify!($spec), "`].")] $kind($spec),)*
            }
        }

        /// The specs of all kinds.
        pub mod specs {
            pub use super::{$family, $($spec,)* $($type,)*};
        }

        #[allow(unused_macros)]
        macro_rules! of_spec {
            ($asker:expr, $rule:ident => $asked:expr) => {
                match $asker {
                    $($family::$kind($rule) => $asked,)*
                }
            };
        }

        $(#[$state_doc])*
        #[derive(Clone, Debug)]
        pub(crate) enum $any {
            $($state($state),)*
        }

        macro_rules! of_any {
            ($asker:expr, $rule:ident => $asked:expr) => {
                match $asker {
                    $($any::$state($rule) => $asked,)*
                }
            };
        }
    };
}

pub(crate) use {kinds, kinds_with_states};
