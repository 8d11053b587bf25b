//! Writes what is declared, as JSON: `{"spec": [item, ...], "other": [item, ...], "rules": {family: [[kind, type],
//! ...]}, "tables": {table: type}, "types": [[type, how it is written], ...], "traces": [[trace, [[column,
//! documentation], ...]], ...]}`. `make generate` reads it.

use serde_json::{Value, json};
use skycell_declare::{Form, Forms, Kind, Shape, Type, types};
use skycell_framing::FramingSpec;
use skycell_records::Traces;
use skycell_spec::{
    AbrSpec, AccessImpairments, AccessSpec, AppSpec, ChannelSpec, DelayVariationSpec, NetworkSpec,
    PacketPolicerSpec, PolicySpec, RateAlgorithmSpec, SchedulerSpec, TcpSpec, TokenBucketSpec,
    TrafficSpec, VsVdSpec, Web,
};
use skycell_switch::scheduler::VcWeightedRoundRobin;

fn main() {
    let mut forms = Forms::default();
    NetworkSpec::form(&mut forms);
    let policies = kinds::<PolicySpec>(&mut forms);
    let mut schedulers = kinds::<SchedulerSpec>(&mut forms);
    let rate_algorithms = kinds::<RateAlgorithmSpec>(&mut forms);
    let channels = kinds::<ChannelSpec>(&mut forms);
    let delays = kinds::<DelayVariationSpec>(&mut forms);
    let access = kinds::<AccessSpec>(&mut forms);
    let applications = kinds::<AppSpec>(&mut forms);
    let mut traffic = kinds::<TrafficSpec>(&mut forms);
    let spec_items = forms.items().len();
    for kind in traffic.iter_mut().filter(|kind| kind[0] == "web") {
        kind[1] = json!(Web::form(&mut forms));
    }
    let framings = kinds::<FramingSpec>(&mut forms);
    schedulers.push(json!([
        "vc_weighted_round_robin",
        VcWeightedRoundRobin::form(&mut forms)
    ]));
    let rules = json!({
        "policies": policies, "schedulers": schedulers, "rate_algorithms": rate_algorithms,
        "channels": channels,
        "delays": delays,
        "access": access,
        "framings": framings,
        "traffic": traffic,
        "applications": applications,
    });
    let (spec, other) = forms.items().split_at(spec_items);
    let tables = json!({
        "tcp": TcpSpec::form(&mut Forms::default()),
        "abr": AbrSpec::form(&mut Forms::default()),
        "shaper": TokenBucketSpec::form(&mut Forms::default()),
        "policer": PacketPolicerSpec::form(&mut Forms::default()),
        "impairments": AccessImpairments::form(&mut Forms::default()),
        "vs_vd": VsVdSpec::form(&mut Forms::default()),
    });
    let traces: Vec<_> = Traces::FORMS
        .iter()
        .map(|form| json!([form.kind, form.columns]))
        .collect();
    let all = json!({
        "spec": spec, "other": other, "rules": rules, "tables": tables, "types": types::written(),
        "traces": traces,
    });
    println!(
        "{}",
        serde_json::to_string_pretty(&all).expect("declarations are plain data")
    );
}

/// The kinds of a family of rules, each with the type that declares it, or with its own declaration.
fn kinds<Family: Form>(forms: &mut Forms) -> Vec<Value> {
    let Type::Named(name) = Family::form(forms) else {
        panic!("a family of rules has a name");
    };
    let Some(Shape::Kinds(kinds)) = forms.item(&name).map(|item| &item.shape) else {
        panic!("{name} is one of several kinds");
    };
    let family = name.trim_end_matches("Spec");
    let declared = |kind: &Kind| match &kind.of {
        Some(of) => json!(of),
        None => json!({"own": {
            "name": format!("{family}{}", kind.variant), "doc": kind.doc, "facts": {},
            "shape": {"fields": kind.fields},
        }}),
    };
    kinds
        .iter()
        .map(|kind| json!([kind.kind, declared(kind)]))
        .collect()
}
