//! TCP parameters, words and flags drawn from what `TcpSpec` declares, each from a stream of its own: one that is new
//! changes no other.

use super::{Builder, Dice, MICROSECOND, MILLISECOND};
use serde_json::{Map, Value, json};
use skycell_declare::{Field, Form, Forms, Kind, Shape, Type};
use skycell_des::Stream;
use skycell_spec::*;

impl Builder<'_> {
    pub(super) fn tcp(&mut self) -> TcpSpec {
        let mut forms = Forms::default();
        TcpSpec::form(&mut forms);
        let mss = self.dice.pick(&[1, 40, 512, 512, 1_024, 1_460, 9_180]);
        let rwnd = (mss * (1 + self.dice.below(64))).max(2_000).max(mss);
        let draws = Draws {
            forms: &forms,
            seed: self.dice.below(1 << 40),
            mss,
            rwnd,
        };
        let mut drawn = draws.fields("", "TcpSpec");
        let is_timed = drawn["recovery"]["kind"] == "rack_tlp";
        if drawn["advertised_window"] != "auto_tuned" {
            drawn.insert("initial_rwnd".to_owned(), json!(0));
        }
        if is_timed {
            drawn.insert("limited_transmit".to_owned(), json!(false));
        }
        let has_model =
            |congestion: &Value| congestion["kind"] == "bbr" || congestion["kind"] == "bbr3";
        if !is_timed && has_model(&drawn["congestion"]) {
            drawn.insert(
                "congestion".to_owned(),
                json!({"kind": "linux_cubic",
                "fast_convergence": true, "tcp_friendliness": true}),
            );
        }
        if has_model(&drawn["congestion"]) {
            drawn.insert("cwnd_validation".to_owned(), json!("off"));
        }
        if !is_timed || has_model(&drawn["congestion"]) {
            drawn.insert("pacing".to_owned(), json!({"kind": "off"}));
        }
        let is_hystart = ["hystart_plus_plus", "hystart"]
            .map(Value::from)
            .contains(&drawn["slow_start"]["kind"]);
        if (is_hystart || drawn["congestion"]["kind"] == "vegas") && !is_timed {
            drawn.insert("timestamps".to_owned(), json!(true));
        }
        let is_scalable = ["dctcp", "prague"]
            .map(Value::from)
            .contains(&drawn["congestion"]["kind"]);
        if drawn["congestion"]["kind"] == "bbr3" {
            drawn.insert("ecn".to_owned(), json!("off"));
        } else if is_scalable || drawn["ecn"] == "accurate" {
            let ecn = if is_scalable { "accurate" } else { "classic" };
            drawn.insert("ecn".to_owned(), json!(ecn));
        }
        serde_json::from_value(drawn.into()).expect("drawn parameters read back")
    }
}

/// The values that the parameters of a connection are drawn from.
struct Draws<'a> {
    forms: &'a Forms,
    seed: u64,
    mss: u64,
    rwnd: u64,
}

impl Draws<'_> {
    /// Values of the fields of a declared type, which stands at `path`.
    fn fields(&self, path: &str, name: &str) -> Map<String, Value> {
        let Some(Shape::Fields(fields)) = self.forms.item(name).map(|item| &item.shape) else {
            panic!("{name} has parameters");
        };
        let value = |field: &Field| {
            let drawn = self.value(&format!("{path}/{}", field.name), field);
            (field.name.clone(), drawn)
        };
        fields.iter().map(value).collect()
    }

    /// A rule of any kind.
    fn kind(&self, path: &str, kinds: &[Kind], dice: &mut Dice) -> Value {
        let kind = &kinds[dice.below(kinds.len() as u64) as usize];
        let Some(Type::Named(name)) = &kind.of else {
            panic!("{} is a rule", kind.kind);
        };
        let mut rule = self.fields(path, name);
        rule.insert("kind".to_owned(), json!(kind.kind));
        rule.into()
    }

    fn value(&self, path: &str, field: &Field) -> Value {
        let dice = &mut Dice(Stream::new(self.seed, path));
        let Draws {
            forms, mss, rwnd, ..
        } = *self;
        match (&field.ty, field.name.as_str()) {
            (_, "window_scaling") => json!(true),
            (_, "sws_avoidance") if mss < 500 => json!(true),
            (Type::Bool, _) => json!(dice.one_in(3)),
            (_, "mss") => json!(mss),
            (_, "rwnd" | "max_cwnd") => json!(rwnd),
            (_, "initial_rwnd") => json!(mss * (1 + dice.below(rwnd / mss))),
            (_, "initial_cwnd") => json!(mss * (1 + dice.below(4))),
            (_, "initial_ssthresh") => json!(mss * (1 + dice.below(64))),
            (_, "dup_ack_threshold") => json!(dice.pick(&[1, 2, 3, 3, 3])),
            (_, "max_ssthresh") => json!(dice.pick(&[2, 8, 100])),
            (_, "low_window") => json!(dice.pick(&[1, 4, 16])),
            (_, "slow_start_ratio" | "avoidance_ratio") => json!(dice.pick(&[1.0, 1.2, 2.0])),
            (_, "unpaced_segments") => json!(dice.pick(&[1, 10])),
            (_, "burst_segments") => json!(dice.pick(&[1, 2, 2, 5])),
            (_, "burst_time_ps") => json!(dice.pick(&[0, MILLISECOND, 20 * MILLISECOND])),
            (_, "alpha" | "gamma") => json!(1 + dice.below(2)),
            (_, "beta") => json!(2 + dice.below(4)),
            (_, "gain") => json!(dice.pick(&[0.0625, 0.5, 1.0])),
            (_, "limit") => json!(dice.pick(&[1, 2, 8])),
            (_, "c") => json!(dice.pick(&[0.4, 0.4, 4.0])),
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
            (_, "retransmit_delay") => dice.pick(&[
                json!({"kind": "none"}),
                json!({"kind": "none"}),
                json!({"kind": "segments", "count": 2}),
            ]),
            (_, "max_blocks") => json!(1 + dice.below(3)),
            (_, "delayed_ack") if dice.one_in(4) => {
                let quick = dice.pick(&[0, 0, 5]);
                let (wait, most) = dice.pick(&[(0, 0), (MILLISECOND, 44), (20 * MICROSECOND, 2)]);
                let longest = dice.pick(&[0, 0, 5 * MILLISECOND]);
                json!({"timeout_ps": MILLISECOND, "max_timeout_ps": longest, "every_segments": 2, "quick_segments": quick,
                    "sack_timeout_ps": wait, "sack_segments": most})
            }
            (_, "delayed_ack") => Value::Null,
            (Type::Named(name), _) => match forms.item(name).map(|item| &item.shape) {
                Some(Shape::Words(words)) => {
                    let drawn = dice.below(words.len() as u64) as usize;
                    json!(words[drawn].word)
                }
                Some(Shape::Kinds(kinds)) => self.kind(path, kinds, dice),
                _ => panic!("say here how {} is drawn", field.name),
            },
            (_, name) => {
                panic!("say here how {name} is drawn, so that engines are compared on it")
            }
        }
    }
}
