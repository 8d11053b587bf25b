//! TCP parameters, words and flags drawn from what `TcpSpec` declares.

use super::{Builder, MILLISECOND};
use serde_json::{Map, Value, json};
use skycell_declare::{Form, Forms, Shape, Type};
use skycell_spec::*;

impl Builder<'_> {
    pub(super) fn tcp(&mut self) -> TcpSpec {
        let mut forms = Forms::default();
        TcpSpec::form(&mut forms);
        let Some(Shape::Fields(fields)) = forms.item("TcpSpec").map(|item| &item.shape) else {
            panic!("TCP has parameters");
        };
        let dice = &mut self.dice;
        let mss = dice.pick(&[1, 40, 512, 512, 1_024, 1_460, 9_180]);
        let rwnd = (mss * (1 + dice.below(64))).max(2_000).max(mss);
        let mut drawn = Map::new();
        for field in fields {
            let value = match (&field.ty, field.name.as_str()) {
                (_, "variant") => {
                    json!(dice.pick(&["vanilla", "reno", "new_reno", "sack", "sack"]))
                }
                (_, "window_scaling") => json!(true),
                (_, "sws_avoidance") if mss < 500 => json!(true),
                (Type::Bool, _) => json!(dice.one_in(3)),
                (_, "mss") => json!(mss),
                (_, "rwnd" | "max_cwnd") => json!(rwnd),
                (_, "initial_cwnd") => json!(mss * (1 + dice.below(4))),
                (_, "initial_ssthresh") => json!(mss * (1 + dice.below(64))),
                (_, "dup_ack_threshold") => json!(dice.pick(&[1, 2, 3, 3, 3])),
                (_, "tick_ps") => {
                    let ms = MILLISECOND;
                    json!(dice.pick(&[ms, ms, 10 * ms, 100_000]))
                }
                (_, "tick_phase") => dice.pick(&[
                    json!({"kind": "drawn"}),
                    json!({"kind": "at", "offset_ps": 0}),
                ]),
                (_, "rto_min_ticks") => json!(1 + dice.below(3)),
                (_, "rto_initial_ticks") => json!(3 + dice.below(10)),
                (_, "rto_max_ticks" | "rto_max_backoff") => json!(64),
                (_, "sack_retransmit_delay") => dice.pick(&[
                    json!({"kind": "none"}),
                    json!({"kind": "none"}),
                    json!({"kind": "segments", "count": 2}),
                ]),
                (_, "sack_max_blocks") => json!(1 + dice.below(3)),
                (_, "delayed_ack") if dice.one_in(4) => {
                    json!({"timeout_ps": MILLISECOND, "every_segments": 2})
                }
                (_, "delayed_ack") => Value::Null,
                (Type::Named(name), _) => match forms.item(name).map(|item| &item.shape) {
                    Some(Shape::Words(words)) => {
                        // The default, where older specs have no such key, as often again.
                        match field.is_left_out && dice.one_in(3) {
                            true => field.default.clone(),
                            false => {
                                let drawn = dice.below(words.len() as u64) as usize;
                                json!(words[drawn].word)
                            }
                        }
                    }
                    _ => panic!("say here how {} is drawn", field.name),
                },
                (_, name) => {
                    panic!("say here how {name} is drawn, so that engines are compared on it")
                }
            };
            drawn.insert(field.name.clone(), value);
        }
        serde_json::from_value(drawn.into()).expect("drawn parameters read back")
    }
}
