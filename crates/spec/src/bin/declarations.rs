//! Writes what is declared, as JSON: `{"items": [...], "rules": {family: [[kind, type], ...]}, "tables":
//! {table: type}}`.
//! `make generate` reads it.

use serde_json::{Value, json};
use skycell_declare::{Form, Forms, Shape, Type};
use skycell_spec::{
    AbrSpec, NetworkSpec, PolicySpec, RateAlgorithmSpec, SchedulerSpec, TcpSpec, VsVdSpec,
};
use skycell_switch::scheduler::VcWeightedRoundRobin;

fn main() {
    let mut forms = Forms::default();
    NetworkSpec::form(&mut forms);
    let policies = kinds::<PolicySpec>(&mut forms);
    let mut schedulers = kinds::<SchedulerSpec>(&mut forms);
    let rate_algorithms = kinds::<RateAlgorithmSpec>(&mut forms);
    let spec_items = forms.items().len();
    schedulers.push(json!([
        "vc_weighted_round_robin",
        VcWeightedRoundRobin::form(&mut forms)
    ]));
    let rules = json!({
        "policies": policies, "schedulers": schedulers, "rate_algorithms": rate_algorithms,
    });
    let (spec, other) = forms.items().split_at(spec_items);
    let tables = json!({
        "tcp": TcpSpec::form(&mut Forms::default()),
        "abr": AbrSpec::form(&mut Forms::default()),
        "vs_vd": VsVdSpec::form(&mut Forms::default()),
    });
    let all = json!({"spec": spec, "other": other, "rules": rules, "tables": tables});
    println!(
        "{}",
        serde_json::to_string_pretty(&all).expect("declarations are plain data")
    );
}

/// The kinds of a family of rules, each with the type that declares it.
fn kinds<Family: Form>(forms: &mut Forms) -> Vec<Value> {
    let Type::Named(name) = Family::form(forms) else {
        panic!("a family of rules has a name");
    };
    let Some(Shape::Kinds(kinds)) = forms.item(&name).map(|item| &item.shape) else {
        panic!("{name} is one of several kinds");
    };
    kinds
        .iter()
        .map(|kind| json!([kind.kind, kind.of]))
        .collect()
}
