//! Generates, from the list of kinds, the spec of a policy of any kind, and the policy.

macro_rules! policies {
    ($($kind:ident($spec:ident),)*) => {
        /// A buffer policy with its thresholds resolved to cells.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
        #[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
        pub enum PolicySpec {
            $(#[doc = concat!("See [`", stringify!($spec), "`].")] $kind($spec),)*
        }

        /// The specs of a policy.
        pub mod specs {
            pub use super::{DfbaDropFunction, DfbaZ, PolicySpec, $($spec),*};
        }

        impl PolicySpec {
            /// Returns whether a cell lost to a full buffer takes the rest of its frame with it.
            pub fn has_partial_discard(&self) -> bool {
                match self {
                    $(PolicySpec::$kind(spec) => spec.has_partial_discard(),)*
                }
            }

            /// Returns whether it may discard a frame that finds the buffer empty.
            pub fn discards_when_empty(&self) -> bool {
                match self {
                    $(PolicySpec::$kind(spec) => spec.discards_when_empty(),)*
                }
            }

            /// Returns the inputs that it needs.
            pub fn needs(&self) -> Needs {
                match self {
                    $(PolicySpec::$kind(_) => <$spec as PolicyRule>::Policy::NEEDS,)*
                }
            }

            /// See [`PolicyRule::order`].
            pub fn order(&self) -> Option<QueueOrder> {
                match self {
                    $(PolicySpec::$kind(spec) => spec.order(),)*
                }
            }

            /// See [`PolicyRule::pushes_out`].
            pub fn pushes_out(&self) -> bool {
                match self {
                    $(PolicySpec::$kind(spec) => spec.pushes_out(),)*
                }
            }

            /// Returns whether it accepts every frame.
            pub fn takes_all(&self) -> bool {
                match self {
                    $(PolicySpec::$kind(_) => <$spec as PolicyRule>::TAKES_ALL,)*
                }
            }
        }

        impl Rule for PolicySpec {
            fn check(&self, context: &Context) -> Result<(), Refusal> {
                match self {
                    $(PolicySpec::$kind(spec) => spec.check(context),)*
                }
            }
        }

        #[derive(Debug)]
        enum PolicyKind {
            $($kind(<$spec as PolicyRule>::Policy),)*
        }

        impl PolicyKind {
            fn of(spec: &PolicySpec, draws: &Draws) -> Self {
                match spec {
                    $(PolicySpec::$kind(spec) => PolicyKind::$kind(spec.policy(draws)),)*
                }
            }
        }

        impl Policy {
            /// Returns whether it accepts every frame, so that it need not be asked.
            pub fn takes_all(&self) -> bool {
                match &self.kind {
                    $(PolicyKind::$kind(_) => <$spec as PolicyRule>::TAKES_ALL,)*
                }
            }

            /// See [`BufferPolicy::looks_at_vcs`].
            pub fn looks_at_vcs(&self, queued: u32) -> bool {
                match &self.kind {
                    $(PolicyKind::$kind(policy) => policy.looks_at_vcs(queued),)*
                }
            }

            /// Returns the inputs that it needs.
            pub fn needs(&self) -> Needs {
                match &self.kind {
                    $(PolicyKind::$kind(_) => <$spec as PolicyRule>::Policy::NEEDS,)*
                }
            }

            /// See [`BufferPolicy::on_accepted`].
            #[inline]
            pub fn on_accepted(&mut self, vc: u32, cells: u32) {
                match &mut self.kind {
                    $(PolicyKind::$kind(policy) => policy.on_accepted(vc, cells),)*
                }
            }

            /// See [`BufferPolicy::weight`].
            pub fn weight(&self, vc: u32) -> u64 {
                match &self.kind {
                    $(PolicyKind::$kind(policy) => policy.weight(vc),)*
                }
            }

            /// See [`BufferPolicy::keeps_last_cells`].
            pub fn keeps_last_cells(&self) -> bool {
                match &self.kind {
                    $(PolicyKind::$kind(policy) => policy.keeps_last_cells(),)*
                }
            }

            /// See [`BufferPolicy::on_enqueue`].
            pub fn on_enqueue(&mut self, vc: u32, view: &BufferView) -> Decision {
                match &mut self.kind {
                    $(PolicyKind::$kind(policy) => policy.on_enqueue(vc, view),)*
                }
            }

            /// See [`BufferPolicy::queue_of`].
            pub fn queue_of(&self, flow: u32, ecn: Ecn) -> u32 {
                match &self.kind {
                    $(PolicyKind::$kind(policy) => policy.queue_of(flow, ecn),)*
                }
            }

            /// See [`BufferPolicy::on_dequeue`].
            pub fn on_dequeue(&mut self, vc: u32, view: &BufferView) -> Decision {
                match &mut self.kind {
                    $(PolicyKind::$kind(policy) => policy.on_dequeue(vc, view),)*
                }
            }
        }
    };
}
