//! Buffer policies with thresholds that tiny buffers cross, drawn from what the policies declare.

use super::{Builder, MICROSECOND, MILLISECOND};
use serde_json::{Map, Value, json};
use skycell_declare::{Form, Forms, Kind, Param, Relation, Shape, Type};
use skycell_spec::*;

/// VCs that a policy is told of.
const FIRST_VCS: usize = 8;

impl Builder<'_> {
    /// One that any port can have.
    pub(super) fn policy(&mut self, capacity: u32) -> PolicySpec {
        self.policy_of_kinds(false, capacity)
    }

    /// One that only a port of packets can have.
    pub(super) fn policy_of_packets(&mut self, capacity: u32) -> PolicySpec {
        self.policy_of_kinds(true, capacity)
    }

    fn policy_of_kinds(&mut self, of_packets: bool, capacity: u32) -> PolicySpec {
        let mut forms = Forms::default();
        PolicySpec::form(&mut forms);
        let Some(Shape::Kinds(kinds)) = forms.item("PolicySpec").map(|item| &item.shape) else {
            panic!("a policy is of some kind");
        };
        let needs_packets = |kind: &&Kind| {
            let Some(Type::Named(name)) = &kind.of else {
                return false;
            };
            let item = forms.item(name);
            item.is_some_and(|item| item.facts.get("needs") == Some(&json!("packets")))
        };
        let kinds: Vec<&Kind> = kinds
            .iter()
            .filter(|kind| needs_packets(kind) == of_packets)
            .collect();
        // Tail drop, the first, as often again.
        let drawn = self.dice.below(kinds.len() as u64 + 1) as usize;
        let Kind { kind, of, .. } = kinds[drawn.saturating_sub(1)];
        let mut policy = self.parameters(of.as_ref(), &forms, capacity);
        policy.insert("kind".to_owned(), json!(kind));
        serde_json::from_value(policy.into()).expect("a drawn policy reads back")
    }

    /// A value for each parameter of a declared rule.
    fn parameters(
        &mut self,
        rule: Option<&Type>,
        forms: &Forms,
        capacity: u32,
    ) -> Map<String, Value> {
        let Some(Type::Named(name)) = rule else {
            panic!("a kind of policy has a struct that declares it");
        };
        let Some(Shape::Fields(fields)) = forms.item(name).map(|item| &item.shape) else {
            panic!("{name} has fields");
        };
        let mut drawn = Map::new();
        for field in fields {
            let param = field.param.as_ref().expect("every field is a parameter");
            let value = match &param.ty {
                Some(ty) if param.is_list => self.list_of(ty, param.is_ascending, capacity),
                Some(ty) => self.value_of(ty, capacity),
                None => self.parameters(Some(&field.ty), forms, capacity).into(),
            };
            drawn.insert(field.name.clone(), value);
        }
        for field in fields {
            if let Some(Param {
                relation: Some(relation),
                ..
            }) = &field.param
            {
                put_in_order(&mut drawn, &field.name, relation, capacity);
            }
        }
        drawn
    }

    /// One to three values of a type.
    fn list_of(&mut self, ty: &str, ascends: bool, capacity: u32) -> Value {
        let count = 1 + self.dice.below(3);
        let mut values: Vec<_> = (0..count).map(|_| self.value_of(ty, capacity)).collect();
        if ascends {
            values.sort_by_key(Value::as_u64);
        }
        values.into()
    }

    /// A value of a type of `skycell_declare::types`, or of one that a single policy has.
    fn value_of(&mut self, ty: &str, capacity: u32) -> Value {
        let capacity = u64::from(capacity);
        match ty {
            "Flag" => json!(!self.dice.one_in(3)),
            "Threshold" => json!(self.dice.below(capacity + 1) / self.dice.pick(&[1, 1, 2])),
            "ThresholdBelowCapacity" => json!(self.dice.below(capacity)),
            "AverageThreshold" => json!(self.dice.below(2 * capacity)),
            "CellCount" => json!(self.dice.below(20)),
            "CellsOfFrames" => json!(self.dice.below(60)),
            "UpToEqualShare" => json!(self.dice.pick(&[0.8, 1.0, 0.3])),
            "PartOfOne" => json!(self.dice.pick(&[0.002, 0.02, 0.1, 1.0])),
            "FromZeroToOne" => json!(self.dice.pick(&[0.5, 0.0, 1.0])),
            "Interval" => {
                json!(
                    self.dice
                        .pick(&[MILLISECOND, 100 * MICROSECOND, 10 * MICROSECOND])
                )
            }
            "TimeOrNone" => json!(self.dice.pick(&[0, MILLISECOND, 100 * MICROSECOND])),
            "PerSecond" => json!(self.dice.pick(&[0.16, 3.2, 100.0])),
            "PacketOctets" => json!(self.dice.pick(&[1_514, 300, 40])),
            "QueueCount" => json!(self.dice.pick(&[0, 1, 3, 1_024])),
            "Coupling" => json!(1 + self.dice.below(3)),
            "VcThresholds" => self.of_first_vcs(|dice| match dice.one_in(3) {
                true => Value::Null,
                false => json!(1 + dice.below(80)),
            }),
            "VcLevels" => self.of_first_vcs(|dice| json!(1 + dice.below(3))),
            "VcAllowances" => self.of_first_vcs(|dice| json!(dice.below(60))),
            "McrByVc" => {
                self.of_first_vcs(|dice| json!(dice.pick(&[0, 20_000_000, 40_000_000, 40_000_000])))
            }
            "FrameTime" => json!(self.cell_time * 12),
            "FrameCells" => json!(1 + self.dice.below(30)),
            "DfbaZ" => self.dice.pick(&[
                json!({"kind": "fixed", "value": 1.0}),
                json!({"kind": "complement"}),
                json!({"kind": "complement_squared"}),
                json!({"kind": "by_vc", "values": [0.2, 1.0, 0.7, 0.0]}),
            ]),
            "DfbaDropFunction" => json!(self.dice.pick(&["linear", "red"])),
            _ => panic!(
                "say here how a parameter of type {ty} is drawn, so that engines are compared on it"
            ),
        }
    }

    /// A list by VC; longer than any other.
    fn of_first_vcs(&mut self, mut one: impl FnMut(&mut super::Dice) -> Value) -> Value {
        (0..FIRST_VCS).map(|_| one(self.dice)).collect()
    }
}

/// Moves a parameter, or what it is compared with, until it is in order.
fn put_in_order(drawn: &mut Map<String, Value>, field: &str, relation: &Relation, capacity: u32) {
    let least = |value: &Value| match value {
        Value::Array(values) => values.iter().filter_map(Value::as_u64).min(),
        _ => value.as_u64(),
    };
    let (Some(value), Some(limit)) = (least(&drawn[field]), least(&drawn[&relation.field])) else {
        return;
    };
    if value < limit || relation.may_equal && value == limit {
        return;
    }
    if drawn[&relation.field].is_array() {
        drawn.insert(field.to_owned(), json!(limit - 1));
        return;
    }
    let (mut low, mut high) = (limit, value);
    if low == high && high < u64::from(capacity) {
        high += 1;
    } else if low == high {
        low -= 1;
    }
    drawn.insert(field.to_owned(), json!(low));
    drawn.insert(relation.field.clone(), json!(high));
}

/// Repeats for all VCs what a policy is told of the first ones. MCR scheduling is told of the first only, since it
/// looks at each VC that it is told of every few microseconds.
pub(super) fn name_all_vcs(policy: &mut PolicySpec, vcs: usize) {
    if matches!(policy, PolicySpec::McrScheduling(_)) {
        return;
    }
    let mut whole = serde_json::to_value(&*policy).expect("a policy is plain data");
    for value in whole.as_object_mut().expect("it has keys").values_mut() {
        if let Some(values) = value
            .as_array_mut()
            .filter(|values| values.len() == FIRST_VCS)
        {
            *values = values.iter().cloned().cycle().take(vcs).collect();
        }
    }
    *policy = serde_json::from_value(whole).expect("it was one before");
}
