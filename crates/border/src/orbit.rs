//! Constellations for Python: positions, one moment, and paths over time.

use crate::apart::apart;
use crate::errors::orbit_error;
use crate::run::{Watch, array, array_of};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};
use skycell_orbit::accuracy::Interval;
use skycell_orbit::links::Obstacle;
use skycell_orbit::motion::is_left_out;
use skycell_orbit::passes::{Event, Pass};
use skycell_orbit::series::NO_PATH_PS;
use skycell_orbit::station::Look;
use skycell_orbit::{
    Absent, Change, Fleet, Hidden, Judged, LeftOut, OrbitSpec, Series, SeriesRequest, World,
};
use skycell_records::Column;

/// Longest series in steps of all pairs together; the border between hours and a slip of the pen.
pub const MOST_VALUES: usize = 200_000_000;

/// Makes the world of a spec, for moments between two.
pub fn world(py: Python<'_>, spec_json: String, between_ps: [u64; 2]) -> PyResult<World> {
    in_world(py, spec_json, between_ps, |world| world)
}

/// Runs a search in a world that is made for it.
fn in_world<T: Send + 'static>(
    py: Python<'_>,
    spec_json: String,
    between_ps: [u64; 2],
    find: impl FnOnce(World) -> T + Send + 'static,
) -> PyResult<T> {
    apart(py, move || {
        let spec = OrbitSpec::from_json(&spec_json)?;
        Ok(find(World::new(spec, between_ps)?))
    })?
    .map_err(orbit_error)
}

fn fleet(py: Python<'_>, spec_json: String, between_ps: [u64; 2]) -> PyResult<Fleet> {
    apart(py, move || {
        let spec = OrbitSpec::from_json(&spec_json)?;
        Fleet::new(&spec, between_ps.map(skycell_orbit::sky::seconds))
    })?
    .map_err(orbit_error)
}

/// The satellites of elements that are left out at some of the moments between two, as JSON.
#[pyfunction]
pub fn orbit_left_out(
    py: Python<'_>,
    spec_json: String,
    first_ps: u64,
    last_ps: u64,
) -> PyResult<String> {
    let rows = fleet(py, spec_json, [first_ps, last_ps])?;
    let reported = |row: &LeftOut| json!([row.satellite, row.minutes, row.limit.to_string()]);
    Ok(Value::from_iter(rows.left_out().iter().map(reported)).to_string())
}

/// How good the positions of ephemerides are between two moments, as JSON: a list for each satellite
/// of the intervals that are inside the earth or too far off, and of the worst one of the others.
#[pyfunction]
pub fn orbit_judged(
    py: Python<'_>,
    spec_json: String,
    first_ps: u64,
    last_ps: u64,
) -> PyResult<String> {
    let fleet = fleet(py, spec_json, [first_ps, last_ps])?;
    let by_satellite = fleet.judged().chunk_by(|x, y| x.satellite == y.satellite);
    let rows = by_satellite.flat_map(|all| {
        let bad = all.iter().filter(|own| !own.is_good);
        let good = all.iter().filter(|own| own.is_good);
        let measures: [fn(&&Judged) -> f64; 2] =
            [|own| own.interval.error_km, |own| own.interval.apart_km];
        let worst = measures.map(|of| good.clone().max_by(|x, y| of(x).total_cmp(&of(y))));
        bad.chain(worst.into_iter().flatten())
    });
    let row = |own: &Judged| {
        let Interval {
            between_s: [from_s, to_s],
            error_km,
            apart_km,
            inside_km,
        } = own.interval;
        json!([
            own.satellite,
            own.is_good,
            from_s,
            to_s,
            error_km,
            apart_km,
            inside_km
        ])
    };
    Ok(Value::from_iter(rows.map(row)).to_string())
}

/// The links that the rules ask for and that do not exist at some moments between two, as JSON:
/// `looks`, `asked_for`, and `links` of both ends, looks, looks without it, what it breaks, and km.
#[pyfunction]
pub fn orbit_absent_links(
    py: Python<'_>,
    spec_json: String,
    first_ps: u64,
    last_ps: u64,
) -> PyResult<String> {
    let between_ps = [first_ps, last_ps];
    let found = in_world(py, spec_json, between_ps, move |world| {
        world.absences(between_ps)
    })?;
    let row = |link: &Absent| {
        let [a, b] = link.ends;
        let (what, km) = match link.obstacle {
            Obstacle::Earth(height_km) => ("earth", height_km),
            Obstacle::Length(length_km) => ("length", length_km),
        };
        json!([a, b, link.looks, link.absent, what, km])
    };
    let links = Value::from_iter(found.links.iter().map(row));
    Ok(json!({"looks": found.looks, "asked_for": found.asked_for, "links": links}).to_string())
}

/// The satellites above the masks of places that the earth hides at some moments between two, as JSON:
/// number of the place, how many satellites, and moments looked at.
#[pyfunction]
pub fn orbit_hidden(
    py: Python<'_>,
    spec_json: String,
    first_ps: u64,
    last_ps: u64,
) -> PyResult<String> {
    let between_ps = [first_ps, last_ps];
    let found = in_world(py, spec_json, between_ps, move |world| {
        world.hidden(between_ps)
    })?;
    let row = |own: &Hidden| json!([own.station, own.satellites, own.looks]);
    Ok(Value::from_iter(found.iter().map(row)).to_string())
}

/// Earth-fixed positions in km, moment after moment, satellite after satellite.
#[pyfunction]
pub fn orbit_positions<'py>(
    py: Python<'py>,
    spec_json: String,
    times_ps: Vec<u64>,
) -> PyResult<Bound<'py, PyAny>> {
    let first_ps = times_ps.iter().copied().min().unwrap_or(0);
    let last_ps = times_ps.iter().copied().max().unwrap_or(0);
    let flat = in_world(py, spec_json, [first_ps, last_ps], move |world| {
        let mut sky = world.sky(first_ps);
        let mut flat: Vec<f64> = Vec::with_capacity(times_ps.len() * world.fleet.len() * 3);
        for at_ps in times_ps {
            sky.turn_to(at_ps);
            flat.extend(sky.positions_km().iter().flatten().copied());
        }
        flat
    })?;
    array_of(py, flat)
}

/// One moment as JSON: links, what stations see and use, and the paths of the pairs.
#[pyfunction]
pub fn orbit_moment(py: Python<'_>, spec_json: String, at_ps: u64) -> PyResult<String> {
    in_world(py, spec_json, [at_ps, at_ps], move |world| {
        moment(&world, at_ps).to_string()
    })
}

fn moment(world: &World, at_ps: u64) -> Value {
    let mut sky = world.sky(at_ps);
    sky.find_links();
    let stations = 0..world.stations.len() as u32;
    let used = world.used(&sky, at_ps);
    let highest: Vec<Value> = stations
        .clone()
        .map(|station| {
            (0..world.fleet.len() as u32)
                .filter(|&satellite| !is_left_out(sky.positions_km()[satellite as usize]))
                .map(|satellite| (satellite, sky.look(station, satellite)))
                .max_by(|x, y| x.1.elevation_deg.total_cmp(&y.1.elevation_deg))
                .map_or(Value::Null, |(satellite, look)| sight(satellite, &look))
        })
        .collect();
    let visible: Vec<Vec<Value>> = stations
        .map(|station| {
            sky.visible(station)
                .map(|satellite| sight(satellite, &sky.look(station, satellite)))
                .collect()
        })
        .collect();
    let mut paths = Vec::new();
    for &pair in &world.spec.pairs {
        let ends = pair.map(|station| used[station as usize]);
        paths.push(match sky.path(pair, ends) {
            Ok(path) => json!(path),
            Err(reason) => json!(reason),
        });
    }
    let links = sky.links();
    json!({
        "links": links,
        "visible": visible,
        "highest": highest,
        "used": used,
        "paths": paths,
    })
}

fn sight(satellite: u32, look: &Look) -> Value {
    json!([
        satellite,
        look.azimuth_deg,
        look.elevation_deg,
        look.slant_range_km
    ])
}

/// Azimuth, elevation (degrees) and distance (km) of some satellites above each place: moment after
/// moment, place after place, satellite after satellite.
#[pyfunction]
pub fn orbit_sights<'py>(
    py: Python<'py>,
    spec_json: String,
    times_ps: Vec<u64>,
    satellites: Vec<u32>,
) -> PyResult<Bound<'py, PyAny>> {
    let first_ps = times_ps.iter().copied().min().unwrap_or(0);
    let last_ps = times_ps.iter().copied().max().unwrap_or(0);
    let flat = in_world(py, spec_json, [first_ps, last_ps], move |world| {
        if satellites.iter().any(|&s| s as usize >= world.fleet.len()) {
            return None;
        }
        let mut flat = Vec::new();
        for at_ps in times_ps {
            let at_s = skycell_orbit::sky::seconds(at_ps);
            let positions: Vec<_> = satellites
                .iter()
                .map(|&s| world.fleet.position_km(s, at_s))
                .collect();
            for station in &world.stations {
                for position in &positions {
                    let look = station.look(*position);
                    flat.extend([look.azimuth_deg, look.elevation_deg, look.slant_range_km]);
                }
            }
        }
        Some(flat)
    })?;
    let flat = flat.ok_or_else(|| PyValueError::new_err("a satellite that there is not"))?;
    array_of(py, flat)
}

/// The passes over each place between two moments, as columns: `station`, `satellite`, and for each of
/// `rise`, `top` and `set` the moment (`NO_PATH_PS` where there is none), azimuth, elevation and
/// distance.
#[pyfunction]
#[pyo3(signature = (spec_json, first_ps, last_ps, threads, on_progress = None))]
pub fn orbit_passes<'py>(
    py: Python<'py>,
    spec_json: String,
    first_ps: u64,
    last_ps: u64,
    threads: usize,
    on_progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let world = world(py, spec_json, [first_ps, last_ps])?;
    let (outcome, failure) = py.detach(|| {
        let mut watch = Watch::new(on_progress);
        let outcome = world.passes([first_ps, last_ps], threads, &mut |part| {
            watch.goes_on(part)
        });
        (outcome, watch.failure)
    });
    if let Some(failure) = failure {
        return Err(failure);
    }
    let passes = outcome.map_err(orbit_error)?;
    let found = PyDict::new(py);
    let numbers = |number: fn(&Pass) -> u32| Column::U32(passes.iter().map(number).collect());
    found.set_item("station", array(py, numbers(|pass| pass.station))?)?;
    found.set_item("satellite", array(py, numbers(|pass| pass.satellite))?)?;
    type EventOf = fn(&Pass) -> Option<Event>;
    let events: [(&str, EventOf); 3] = [
        ("rise", |pass| pass.rise),
        ("top", |pass| Some(pass.top)),
        ("set", |pass| pass.set),
    ];
    for (name, event) in events {
        let moments = passes
            .iter()
            .map(|pass| event(pass).map_or(NO_PATH_PS, |own| own.at_ps));
        found.set_item(
            format!("{name}_ps"),
            array(py, Column::U64(moments.collect()))?,
        )?;
        type ValueOf = fn(&Look) -> f64;
        let values: [(&str, ValueOf); 3] = [
            ("azimuth_deg", |look| look.azimuth_deg),
            ("elevation_deg", |look| look.elevation_deg),
            ("range_km", |look| look.slant_range_km),
        ];
        for (what, value) in values {
            let own = passes
                .iter()
                .map(|pass| event(pass).map_or(f64::NAN, |own| value(&own.look)));
            found.set_item(
                format!("{name}_{what}"),
                array(py, Column::F64(own.collect()))?,
            )?;
        }
    }
    Ok(found)
}

/// Paths and delays of the pairs over time, as columns.
#[pyfunction]
#[pyo3(signature = (spec_json, start_ps, step_ps, steps, threads, with_links = false, on_progress = None, precision_ps = None))]
#[allow(clippy::too_many_arguments)] // the caller's keywords
pub fn orbit_series<'py>(
    py: Python<'py>,
    spec_json: String,
    start_ps: u64,
    step_ps: u64,
    steps: usize,
    threads: usize,
    with_links: bool,
    on_progress: Option<Py<PyAny>>,
    precision_ps: Option<u64>,
) -> PyResult<Bound<'py, PyDict>> {
    let last_ps = step_ps.saturating_mul((steps as u64).saturating_sub(1));
    let world = world(py, spec_json, [start_ps, start_ps.saturating_add(last_ps)])?;
    let pairs = world.spec.pairs.len().max(1);
    if precision_ps == Some(0) {
        let text = "a precision of 0 ps: allowed is 1 ps or more";
        return Err(PyValueError::new_err(text));
    }
    let values = steps.saturating_mul(pairs);
    if values > MOST_VALUES || threads == 0 {
        return Err(PyValueError::new_err(format!(
            "{values} delays at {steps} steps, threads: {threads}; allowed are {MOST_VALUES} \
             delays, and 1 thread or more"
        )));
    }
    let request = SeriesRequest {
        start_ps,
        step_ps,
        steps,
        threads,
        with_links,
        precision_ps,
    };
    let (outcome, failure) = py.detach(|| {
        let mut watch = Watch::new(on_progress);
        let outcome = world.series(&request, &mut |part| watch.goes_on(part));
        (outcome, watch.failure)
    });
    if let Some(failure) = failure {
        return Err(failure);
    }
    columns(py, outcome.map_err(orbit_error)?)
}

fn columns(py: Python<'_>, series: Series) -> PyResult<Bound<'_, PyDict>> {
    let path_spans = series.path_spans.iter();
    let reasons: Vec<Value> = path_spans
        .clone()
        .map(|path_span| {
            path_span
                .route
                .as_ref()
                .err()
                .map_or(Value::Null, |reason| json!(reason))
        })
        .collect();
    let routes = path_spans
        .clone()
        .map(|path_span| path_span.route.as_deref());
    let columns = [
        (
            "pair",
            Column::U32(path_spans.clone().map(|s| s.pair).collect()),
        ),
        (
            "first_step",
            Column::U32(path_spans.clone().map(|s| s.first_step).collect()),
        ),
        ("steps", Column::U32(path_spans.map(|s| s.steps).collect())),
        (
            "satellites",
            Column::U32(
                routes
                    .clone()
                    .map(|route| route.map_or(0, <[u32]>::len) as u32)
                    .collect(),
            ),
        ),
        (
            "way",
            Column::U32(
                routes
                    .flat_map(|route| route.unwrap_or_default())
                    .copied()
                    .collect(),
            ),
        ),
        ("delays_ps", Column::U64(series.delays_ps)),
        ("links_ps", Column::U64(series.links_ps)),
    ];
    let found = PyDict::new(py);
    for (name, column) in columns.into_iter().chain(change_columns(&series.changes)) {
        found.set_item(name, array(py, column)?)?;
    }
    let missing = series.changes.iter().map(|change| {
        let reason = change.after.as_ref().err();
        reason.map_or(Value::Null, |reason| json!(reason))
    });
    found.set_item("change_reasons", Value::from_iter(missing).to_string())?;
    found.set_item("reasons", Value::from(reasons).to_string())?;
    Ok(found)
}

/// The changes of path, one row each; `change_way` and `change_links_ps` are those of the new paths
/// one after another.
fn change_columns(changes: &[Change]) -> [(&'static str, Column); 6] {
    let paths = || changes.iter().map(|change| change.after.as_ref().ok());
    let before = changes.iter().map(|change| change.before_ps);
    [
        (
            "change_pair",
            Column::U32(changes.iter().map(|change| change.pair).collect()),
        ),
        (
            "change_at_ps",
            Column::U64(changes.iter().map(|change| change.at_ps).collect()),
        ),
        (
            "change_before_ps",
            Column::U64(before.map(|delay| delay.unwrap_or(NO_PATH_PS)).collect()),
        ),
        (
            "change_satellites",
            Column::U32(
                paths()
                    .map(|path| path.map_or(0, |path| path.satellites.len() as u32))
                    .collect(),
            ),
        ),
        (
            "change_way",
            Column::U32(
                paths()
                    .flatten()
                    .flat_map(|path| path.satellites.iter().copied())
                    .collect(),
            ),
        ),
        (
            "change_links_ps",
            Column::U64(
                paths()
                    .flatten()
                    .flat_map(|path| path.links_ps.iter().copied())
                    .collect(),
            ),
        ),
    ]
}

/// Element sets of a text of two-line elements as JSON: `sets` of line and OMM; `faulty` sets of
/// line, columns from 0 or null, what is allowed, what it means, name and catalogue number; `planes`,
/// where the text counts them; lines that are `longer` than 69 columns, `unsummed` or `unused`.
#[pyfunction]
pub fn read_tle(py: Python<'_>, text: String) -> PyResult<String> {
    apart(py, move || tle_text(&text))
}

fn tle_text(text: &str) -> String {
    let read = skycell_orbit::elements::read_tle(text);
    let faulty = read.faulty.iter();
    json!({
        "sets": read.sets,
        "faulty": Value::from_iter(
            faulty.map(|set| {
                let columns = set.fault.columns.as_ref().map(|own| [own.start, own.end]);
                let (allowed, meaning) = (&set.fault.allowed, set.fault.meaning);
                json!([set.line, columns, allowed, meaning, set.name, set.number])
            })
        ),
        "planes": read.planes,
        "longer": read.longer,
        "unsummed": read.unsummed,
        "unused": read.unused,
    })
    .to_string()
}
