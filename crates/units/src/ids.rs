//! Names of things in a run: an index each, of a separate type for each kind.

use std::fmt;

/// Declares an id: a number from 0 on, as wide as a `u32`.
macro_rules! ids {
    ($($(#[doc = $doc:literal])+ $name:ident),+ $(,)?) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// None of them.
            pub const NONE: Self = $name(u32::MAX);

            /// Where it stands in a list of all of its kind.
            #[inline(always)]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// All of its kind, in order.
            pub fn all() -> impl DoubleEndedIterator<Item = Self> + Clone {
                (0..u32::MAX).map($name)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )+};
}

ids! {
    /// A VC at a port: which of those that cross it, in the order in which they were let to. At another port the same VC has
    /// another.
    PortVc,
    /// A connection of a run: its index in the spec. Not the number of one of its directions.
    FlowId,
    /// An input of a port: which of those that it has, by link; a link may have several.
    InputId,
    /// A frame that is under way: where it is kept until then, and another after it.
    FrameId,
}
