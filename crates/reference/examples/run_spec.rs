//! Runs the `NetworkSpec` on standard input and writes its records to standard output, both as JSON:
//! `cargo run --release -p skycell-reference --example run_spec < spec.json`.

use skycell_spec::NetworkSpec;
use std::io::Read;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut text = String::new();
    if let Err(error) = std::io::stdin().read_to_string(&mut text) {
        eprintln!("standard input: {error}");
        return ExitCode::from(2);
    }
    let spec = match NetworkSpec::from_json(&text) {
        Ok(spec) => spec,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    match skycell_reference::run(&spec, &mut |_| true) {
        Ok(records) => {
            println!("{}", records.to_json());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
