// The workbench's page. What it shows comes from this machine; nothing is asked of another.
const token = new URLSearchParams(location.search).get("token") ?? "";
const $ = id => document.getElementById(id);

async function ask(path, options = {}) {
  const headers = { "X-Lab-Token": token, ...(options.body ? { "Content-Type": "application/json" } : {}) };
  const answer = await fetch(path, { ...options, headers });
  const body = await answer.json().catch(() => ({}));
  return { ok: answer.ok, status: answer.status, body };
}
const post = (path, body, method = "POST") => ask(path, { method, body: JSON.stringify(body) });

const state = { keys: [], exercises: [], exercise: null, runs: new Map(), chosen: [], going: null, wanted: false, title: "run", answers: [] };

// --- The text, its faults and its help ---------------------------------------------------------

const text = $("text");
let lines = new Set();

function drawLines() {
  const count = text.value.split("\n").length;
  $("lines").innerHTML = Array.from({ length: count }, (_, i) =>
    `<span class="${lines.has(i + 1) ? "bad" : ""}">${i + 1}</span>`).join("\n");
  spaceLines();
  $("lines").scrollTop = text.scrollTop;
}

// Where lines of the text wrap, each number stands at the beginning of its line: a copy of the text measures them.
function spaceLines() {
  const wraps = getComputedStyle(text).whiteSpace !== "pre";
  $("lines").classList.toggle("wrapped", wraps);
  if (!wraps) return;
  const style = getComputedStyle(text);
  $("mirror").style.width = `${text.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)}px`;
  $("mirror").replaceChildren(...text.value.split("\n").map(line =>
    Object.assign(document.createElement("div"), { textContent: line || " " })));
  const heights = [...$("mirror").children].map(line => line.getBoundingClientRect().height);
  [...$("lines").children].forEach((number, i) => { number.style.height = `${heights[i]}px`; });
}

function goTo(line) {
  const before = text.value.split("\n").slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  text.focus();
  text.setSelectionRange(before, before);
}

function showFaults(found) {
  const box = $("faults");
  box.replaceChildren();
  lines = new Set(found.faults.map(fault => fault.line).filter(Boolean));
  for (const fault of found.faults) {
    const item = document.createElement("button");
    item.type = "button";
    const where = [fault.line ? `line ${fault.line}` : "", fault.path].filter(Boolean).join(", ");
    item.textContent = `${where}: got ${fault.got}; allowed: ${fault.allowed}`;
    item.title = fault.meaning ?? "";
    if (fault.line) item.onclick = () => goTo(fault.line);
    box.append(item);
  }
  if (!found.faults.length) {
    const fine = document.createElement("span");
    fine.className = "fine";
    fine.textContent = ["The scenario can be run.", ...found.notes].join(" ");
    box.append(fine);
  }
  drawLines();
}

let checking = 0;
async function check() {
  const own = ++checking;
  const { ok, body } = await post("/api/check", { text: text.value });
  if (own !== checking) return false;
  const found = ok ? body : { faults: [{ got: body.detail ?? "no answer", allowed: "see there", path: "" }], notes: [] };
  showFaults(found);
  return !found.faults.length;
}

function help() {
  const upTo = text.value.slice(0, text.selectionStart).split("\n");
  const line = text.value.split("\n")[upTo.length - 1] ?? "";
  const word = (line.match(/[A-Za-z_]\w*/g) ?? []).filter(w => state.keys.some(k => k.key === w)).at(-1);
  const heading = upTo.map(l => l.match(/^\s*\[+([\w.]+)\]+/)?.[1]).filter(Boolean).at(-1) ?? "";
  const known = state.keys.filter(k => k.key === word);
  const best = known.find(k => k.table.startsWith(heading) && heading) ?? known[0];
  $("help").textContent = best ? `${best.table ? best.table + "." : ""}${best.key}: ${best.meaning}. Allowed: ${best.allowed}. Default: ${best.default}.` : "";
}

// --- Sliders: the numbers with a unit that the text has ----------------------------------------

const INLINE = /(\w+)\s*=\s*(?:"(\d+(?:\.\d+)?)\s+([A-Za-z/]+)"|(\d+(?:\.\d+)?))(?=[\s,}\n]|$)/g;

function numbers() {
  const found = [];
  let offset = 0, table = "";
  for (const line of text.value.split("\n")) {
    table = line.match(/^\s*\[+([\w.]+)\]+/)?.[1] ?? table;
    if (!line.trim().startsWith("#")) for (const match of line.matchAll(INLINE)) {
      const value = match[2] ?? match[4];
      // The inline table that the key stands in, if its brace is still open.
      const inner = [...line.slice(0, match.index).matchAll(/(\w+)\s*=\s*\{[^{}]*$/g)].at(-1)?.[1] ?? "";
      const from = offset + match.index + match[0].indexOf(value, match[1].length);
      if (Number(value) > 0) found.push({ key: match[1], table: [table, inner].filter(Boolean).join("."), value: Number(value), unit: match[3] ?? "", from, to: from + value.length });
    }
    offset += line.length + 1;
  }
  return found.slice(0, 10);
}

function drawSliders() {
  const box = $("sliders");
  const keep = box.querySelector("legend");
  box.replaceChildren(keep);
  numbers().forEach((number, index) => {
    const label = document.createElement("label");
    const name = document.createElement("span");
    name.textContent = [number.table, number.key].filter(Boolean).join(".").split(".").slice(-2).join(".");
    const slider = Object.assign(document.createElement("input"), { type: "range", min: -1, max: 1, step: 0.02, value: 0 });
    slider.setAttribute("aria-label", name.textContent);
    const shown = document.createElement("output");
    const whole = Number.isInteger(number.value) && !number.unit;
    const show = value => { shown.textContent = `${value} ${number.unit}`; };
    show(number.value);
    const start = number.value;
    slider.oninput = () => {
      const raw = start * 10 ** Number(slider.value);
      const value = whole ? Math.max(1, Math.round(raw)) : Number(raw.toPrecision(3));
      const now = numbers()[index];
      if (!now) return;
      text.setRangeText(String(value), now.from, now.to, "end");
      show(value);
      drawLines();
      begin(true);
    };
    label.append(name, slider, shown);
    box.append(label);
  });
}

// --- Runs ------------------------------------------------------------------------------------

async function begin(fromSlider = false) {
  if (state.going) {
    state.wanted = true;           // the last move of a slider counts
    if (fromSlider) await ask(`/api/runs/${state.going}`, { method: "DELETE" });
    return;
  }
  const { ok, body } = await post("/api/runs", { text: text.value, title: title() });
  if (!ok) { showFaults(body.faults ? body : { faults: [{ got: body.detail, allowed: "see there", path: "" }], notes: [] }); return; }
  showFaults({ faults: [], notes: body.notes ?? [] });
  state.going = body.number;
  $("stop").disabled = false;
  follow(body.number, fromSlider);
}

function title() {
  return ($("name").value.replace(/\.toml$/, "") || "run").slice(0, 40);
}

function follow(number, replaces) {
  const source = new EventSource(`/api/runs/${number}/progress?token=${encodeURIComponent(token)}`);
  source.onmessage = message => {
    const run = JSON.parse(message.data);
    $("progress").value = run.share;
    $("state").textContent = run.state === "running" ? `${Math.round(run.share * 100)} %` : run.reason ? `failed: ${run.reason}` : run.state;
    if (run.state === "running") return;
    source.close();
    state.going = null;
    $("stop").disabled = true;
    if (run.state === "done") {
      const last = state.chosen.at(-1);
      state.runs.set(number, run);
      if (replaces && last !== undefined && state.runs.get(last)?.moved) { state.runs.delete(last); state.chosen.pop(); }
      state.runs.get(number).moved = replaces;
      state.chosen = [...state.chosen.slice(replaces ? -3 : 0), number].slice(-1);
      look();
    }
    if (state.wanted) { state.wanted = false; begin(true); }
  };
  source.onerror = () => { source.close(); if (state.going === number) { state.going = null; $("stop").disabled = true; } };
}

let looks = 0;
async function look() {
  const own = ++looks;
  drawTable();
  drawMaps();
  if (!state.chosen.length) { $("picture").replaceChildren(); return; }
  const width = Math.max(200, $("picture").clientWidth - 90);
  const { ok, body } = await ask(`/api/compare?numbers=${state.chosen.join(",")}&width=${width}`);
  if (own !== looks) return;  // another picture was asked for meanwhile
  if (!ok) { $("state").textContent = body.detail ?? "no picture"; return; }
  for (const row of body.rows) state.runs.get(row.number).values = row.values;
  drawTable();
  $("notes").replaceChildren(...body.notes.map(note => Object.assign(document.createElement("li"), { textContent: note })));
  await window.vegaEmbed("#picture", body.picture, { renderer: "svg", actions: { export: true, source: false, compiled: false, editor: false } });
  document.body.dataset.drawn = state.chosen.join(",");
}

// The maps of the runs that are shown and went over a constellation, side by side; all show the same second.
async function drawMaps() {
  const chosen = state.chosen.join(",");
  const box = $("maps");
  if (box.dataset.runs === chosen) return;
  const answers = await Promise.all(state.chosen.map(number => ask(`/api/runs/${number}/map`)));
  if (chosen !== state.chosen.join(",")) return;
  box.dataset.runs = chosen;
  const maps = state.chosen.map((number, i) => [number, answers[i]]).filter(([, answer]) => answer.ok && answer.body.html);
  box.replaceChildren(...maps.map(([number, answer]) => {
    const map = document.createElement("div");
    map.className = "map";
    map.innerHTML = answer.body.html;
    if (maps.length > 1) map.prepend(Object.assign(document.createElement("h2"), { textContent: `${number}: ${state.runs.get(number).title}` }));
    return map;
  }));
  for (const figure of box.querySelectorAll("figure.frames")) figure.dispatchEvent(new Event("frames", { bubbles: true }));
  box.querySelector("input[type=range]")?.dispatchEvent(new Event("input", { bubbles: true }));
}

let moving = false;
function moveMaps(event) {
  if (moving || event.target.type !== "range") return;
  moving = true;
  for (const other of $("maps").querySelectorAll("input[type=range]")) if (other !== event.target) {
    other.value = event.target.value;
    other.dispatchEvent(new Event("input", { bubbles: true }));
  }
  moving = false;
}

function drawTable() {
  const rows = [...state.runs.values()].filter(run => run.state === "done");
  const names = [...new Set(rows.flatMap(run => Object.keys(run.values ?? {})))];
  const head = document.createElement("tr");
  for (const name of ["", "run", ...names, ""]) head.append(Object.assign(document.createElement("th"), { textContent: name, scope: "col" }));
  $("runs").tHead.replaceChildren(head);
  $("runs").tBodies[0].replaceChildren(...rows.map(run => {
    const row = document.createElement("tr");
    const tick = Object.assign(document.createElement("input"), { type: "checkbox", checked: state.chosen.includes(run.number) });
    tick.setAttribute("aria-label", `show run ${run.number}`);
    tick.onchange = () => {
      state.chosen = tick.checked ? [...state.chosen, run.number].slice(-4) : state.chosen.filter(n => n !== run.number);
      look();
    };
    const cells = [tick, `${run.number}: ${run.title}`, ...names.map(name => number(run.values?.[name])), links(run)];
    cells.forEach((cell, i) => {
      const td = document.createElement("td");
      td.dataset.name = ["", "run", ...names, ""][i];
      td.append(cell);
      row.append(td);
    });
    return row;
  }));
}

const number = value => value === null || value === undefined ? "–" : Number(value.toPrecision(4)).toString();

function links(run) {
  const link = Object.assign(document.createElement("a"), {
    href: `/api/runs/${run.number}/bundle?token=${encodeURIComponent(token)}`, textContent: "bundle", download: "" });
  link.title = "scenario, spec, records and traces in one file";
  return link;
}

// --- Exercises --------------------------------------------------------------------------------

function openExercise(exercise) {
  state.exercise = exercise;
  const box = $("exercise");
  box.hidden = false;
  box.replaceChildren(Object.assign(document.createElement("h2"), { textContent: exercise.title }),
    Object.assign(document.createElement("p"), { textContent: exercise.text.trim() }));
  text.value = exercise.scenario.trim() + "\n";
  $("name").value = `${exercise.id}.toml`;
  const questions = exercise.questions.map((question, index) => {
    const item = document.createElement("form");
    item.className = "question";
    const label = document.createElement("label");
    label.append(`${index + 1}. ${question.text} `);
    const field = question.kind === "which" ? document.createElement("select") : Object.assign(document.createElement("input"), { size: 8, inputMode: "decimal" });
    for (const choice of question.kind === "which" ? ["", ...question.choices] : []) field.append(new Option(choice, choice));
    label.append(field);
    const verdict = Object.assign(document.createElement("p"), {});
    verdict.setAttribute("role", "status");
    const send = Object.assign(document.createElement("button"), { textContent: "Answer" });
    item.append(label, " ", send, verdict);
    item.onsubmit = async event => {
      event.preventDefault();
      verdict.textContent = "The runs decide …";
      const { ok, body } = await post(`/api/exercises/${exercise.id}/${index}`, { answer: field.value });
      if (!ok) { verdict.textContent = "no answer"; return; }
      state.answers = state.answers.filter(a => a.exercise !== body.exercise || a.question !== body.question).concat(body);
      verdict.className = body.right ? "right" : "wrong";
      const all = Object.entries(body.values).map(([name, value]) => `${name} ${number(value)}`).join(", ");
      verdict.textContent = `${body.right ? "Right." : `Not quite: ${body.answer}.`} ${body.why} (${all})`;
    };
    return item;
  });
  const keep = Object.assign(document.createElement("button"), { type: "button", textContent: "Download the answers" });
  keep.onclick = () => {
    const blob = new Blob([JSON.stringify(state.answers, null, 2)], { type: "application/json" });
    const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: "answers.json" });
    link.click();
  };
  $("questions").replaceChildren(Object.assign(document.createElement("h2"), { textContent: "Questions" }), ...questions, keep);
  changed();
}

// --- All together -------------------------------------------------------------------------------

let waiting;
function changed() {
  drawLines();
  clearTimeout(waiting);
  waiting = setTimeout(() => { check(); drawSliders(); }, 250);
}

async function listFiles() {
  const { body } = await ask("/api/files");
  $("files").replaceChildren(new Option("open …", ""), ...body.map(name => new Option(name, name)));
}

async function start() {
  const about = await ask("/api/about");
  if (!about.ok) { $("about").textContent = about.body.detail ?? "no answer"; return; }
  $("about").textContent = `skycell ${about.body.version}, ${about.body.folder}`;
  state.keys = (await ask("/api/schema")).body;
  state.exercises = (await ask("/api/exercises")).body;
  $("exercises").replaceChildren(new Option("choose …", ""), ...state.exercises.map(e => new Option(e.title, e.id)));
  await listFiles();
  $("exercises").onchange = event => { const found = state.exercises.find(e => e.id === event.target.value); if (found) openExercise(found); };
  $("files").onchange = async event => {
    if (!event.target.value) return;
    const { ok, body } = await ask(`/api/files/${encodeURIComponent(event.target.value)}`);
    if (!ok) return;
    $("exercise").hidden = true;
    $("questions").replaceChildren();
    text.value = body.text;
    $("name").value = body.name;
    changed();
  };
  $("save").onclick = async () => {
    const { ok, body } = await post(`/api/files/${encodeURIComponent($("name").value)}`, { text: text.value }, "PUT");
    $("state").textContent = ok ? `saved ${body.name}` : body.detail ?? "not saved";
    if (ok) listFiles();
  };
  text.oninput = changed;
  text.onscroll = () => { $("lines").scrollTop = text.scrollTop; };
  text.onkeyup = text.onclick = help;
  text.onkeydown = event => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); begin(); } };
  $("run").onclick = () => begin();
  $("stop").onclick = () => state.going && ask(`/api/runs/${state.going}`, { method: "DELETE" });
  text.value = Object.values(about.body.templates)[2] ?? "";
  changed();
  await begin();
}
window.addEventListener("resize", () => { clearTimeout(resizing); resizing = setTimeout(() => { drawLines(); look(); }, 200); });
for (const name of ["input", "played"]) $("maps").addEventListener(name, moveMaps);
let resizing;
start();
