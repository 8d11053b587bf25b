//! Satellites of elements against the verification states of SGP4 (AIAA 2006-6753).

use skycell_orbit::earth::Rotation;
use skycell_orbit::elements::read_tle;
use skycell_orbit::motion::Fleet;
use skycell_orbit::vector::{Vec3, distance, turned};
use skycell_orbit::{Elements, OrbitSpec};
use std::collections::HashMap;

const CASES: &str = include_str!("sgp4/SGP4-VER.TLE");
const STATES: &str = include_str!("sgp4/tcppver.out");

/// Printed with eight digits after the point; the bar that the project sets itself.
const TOLERANCE_KM: f64 = 1e-6;

/// Case whose perturbed eccentricity is far outside an ellipse's; the program prints a state beside
/// its error.
const NO_ORBIT: u64 = 33334;

/// Case whose perigee sun and moon bring into the earth long before its last states, and when the
/// program sgp4 2.27 first returns error 6 for it, in steps of 10 s; minutes.
const RE_ENTERS: u64 = 20413;
const RE_ENTERS_AT_MIN: f64 = 1_459_131.541;

/// Element sets by catalogue number; what stands after the 69th column is the program's business.
fn cases() -> HashMap<u64, Elements> {
    let lines: Vec<String> = CASES
        .lines()
        .filter(|line| line.starts_with("1 ") || line.starts_with("2 "))
        .map(|line| with_checksum(&line[..line.len().min(69)]))
        .collect();
    let read = read_tle(&lines.join("\n"));
    assert!(read.faulty.is_empty(), "{read:?}");
    read.sets
        .into_iter()
        .map(|(_, set)| (set.norad_id, set))
        .collect()
}

/// The line with the checksum that belongs to it; some of the cases were edited and not summed anew.
fn with_checksum(line: &str) -> String {
    let body = &line[..68];
    let sum: u32 = body
        .chars()
        .map(|sign| sign.to_digit(10).unwrap_or(u32::from(sign == '-')))
        .sum();
    format!("{body}{}", sum % 10)
}

/// (catalogue number, minutes from its epoch, position in TEME in km).
fn states() -> Vec<(u64, f64, Vec3)> {
    let mut number = 0;
    let mut states = Vec::new();
    for line in STATES.lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        match fields[..] {
            [satellite, "xx"] => number = satellite.parse().unwrap(),
            [minutes, x, y, z, ..] => {
                let position = [x, y, z].map(|text| text.parse().unwrap());
                states.push((number, minutes.parse().unwrap(), position));
            }
            _ => {}
        }
    }
    states
}

fn fleet(elements: &Elements, last_minutes: f64) -> (Fleet, Rotation) {
    let rotation = Rotation::Sidereal {
        start_unix_ns: elements.datetime.and_utc().timestamp_nanos_opt().unwrap(),
        ut1_minus_utc_s: 0.0,
    };
    let spec = serde_json::json!({
        "shells": [{"from": "elements", "elements": [elements], "links": {"kind": "none"}}],
        "rotation": rotation,
        "shape": "wgs84",
        "light_km_s": 299_792.458,
        "extra": {"satellite_ps": 0, "ground_ps": 0},
        "limits": {"max_length_km": null, "clearance_km": 0.0},
        "given_links": [],
        "stations": [],
        "pairs": [],
        "access": {"rule": "nearest", "hold": false},
        "route": "shortest",
    });
    let spec = OrbitSpec::from_json(&spec.to_string()).expect("the spec is sound");
    (
        Fleet::new(&spec, [0.0, last_minutes * 60.0]).expect("the elements are an orbit"),
        rotation,
    )
}

#[test]
fn every_verification_state_is_met_to_a_millimetre() {
    let cases = cases();
    let states = states();
    let last = |number| {
        let own = states.iter().filter(|state| state.0 == number);
        own.fold(0.0, |last: f64, state| last.max(state.1))
    };
    let fleets: HashMap<u64, _> = cases
        .iter()
        .map(|(&number, set)| (number, fleet(set, last(number))))
        .collect();
    let mut worst: f64 = 0.0;
    for (number, minutes, expected) in &states {
        if *number == NO_ORBIT {
            continue;
        }
        let (fleet, rotation) = &fleets[number];
        let seconds = minutes * 60.0;
        let fixed = fleet.position_km(0, seconds);
        if *number == RE_ENTERS && *minutes > RE_ENTERS_AT_MIN {
            assert!(fixed[0].is_nan(), "at {minutes} min");
            continue;
        }
        // Back from the earth's axes to those of SGP4.
        let (sine, cosine) = libm::sincos(rotation.angle_rad(seconds));
        let away = distance(turned(fixed, (-sine, cosine)), *expected);
        assert!(away < TOLERANCE_KM, "{number} at {minutes} min: {away} km");
        worst = worst.max(away);
    }
    assert!(
        states.len() > 600 && cases.len() > 30,
        "{} states",
        states.len()
    );
    assert!(worst > 0.0);
}

#[test]
fn a_perigee_that_sun_and_moon_bring_into_the_earth_is_found_when_the_official_program_finds_it() {
    let (fleet, _) = fleet(&cases()[&RE_ENTERS], 1_844_000.0);
    let found = fleet.left_out();
    assert!(
        (found[0].minutes - RE_ENTERS_AT_MIN).abs() < 0.001,
        "{found:?}"
    );
}

#[test]
fn what_is_no_orbit_is_left_out_by_its_number_and_error() {
    let (fleet, _) = fleet(&cases()[&NO_ORBIT], 0.0);
    let reported = fleet.left_out()[0].limit.to_string();
    assert_eq!(
        (fleet.left_out()[0].satellite, fleet.left_out()[0].minutes),
        (0, 0.0)
    );
    assert!(
        reported.starts_with("SGP4 error 3: perturbed eccentricity"),
        "{reported}"
    );
    assert!(fleet.position_km(0, 0.0)[0].is_nan());
}
