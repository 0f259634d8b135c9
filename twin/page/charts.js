// SPDX-License-Identifier: Apache-2.0
// Figures, critical path, roofline, bytes, use of pipes, hot lines.
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const t = data.timing;
const byId = (id) => document.getElementById(id);
const colours = ["#7f8794", "#2f81f7", "#c2571a", "#8a63d2", "#1f9254", "#0f8f9c", "#b08800", "#c43d7a"];  // by lane
const pipeLane = { S: 0, V: 1, M: 2, MTE1: 3, MTE2: 4, MTE3: 5, FIX: 6 };
const escapeHtml = (s) => s.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" }[c]));
const shortLine = (line) => line.slice(line.lastIndexOf("/") + 1);
const percent = (x, of) => (of > 0 ? (100 * x / of).toFixed(1) + " %" : "–");
const amount = (x) => (x >= 100 ? Math.round(x).toLocaleString("en") : x.toPrecision(3));
function si(x, unit) {
  for (const [size, letter] of [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (x >= size) return (x / size).toPrecision(3) + " " + letter + unit;
  }
  return x.toPrecision(3) + " " + unit;
}

function figures() {
  byId("kernel").textContent = t.kernel;
  byId("subtitle").textContent = `${t.blocks} block${t.blocks === 1 ? "" : "s"} on ${t.device} at ${t.mhz} MHz. ` +
    "Every time and rate on this page is modelled, none was measured; the launch itself is left out.";
  const reads = t.gm_read_bytes;
  const all = [[t.microseconds.toFixed(2) + " µs", "modelled time"], [Math.round(t.cycles).toLocaleString("en"), "cycles"],
    [percent(t.cube_utilisation, 1), "of the cube cores"], [percent(t.vector_utilisation, 1), "of the vector cores"],
    [percent(t.hbm_utilisation, 1), "of HBM's bandwidth"], [percent(t.l2_hit_bytes, reads), "of reads hit L2"],
    [si(reads, "B"), "read from GM"], [si(t.gm_write_bytes, "B"), "written to GM"], [si(t.hbm_bytes, "B"), "to and from HBM"]];
  byId("figures").innerHTML = all.map(([b, s]) => `<div class="figure"><b>${b}</b><span>${s}</span></div>`).join("");
}

function criticalPath() {
  const rows = t.critical_path.slice(0, 12).map((l) => {
    const at = l.line ? ` at <code>${escapeHtml(shortLine(l.line))}</code>` : "";
    const why = l.because_line ? ` (${escapeHtml(l.instruction)} at <code>${escapeHtml(shortLine(l.because_line))}</code>)`
      : l.instruction ? ` (${escapeHtml(l.instruction)})` : "";
    return `<tr><td class="n">${percent(l.cycles, t.cycles)}</td><td style="width:170px"><span class="bar" style="width:` +
      `${160 * l.cycles / t.cycles}px"></span></td><td>${escapeHtml(l.what)}${at}${why}</td></tr>`;
  });
  byId("path").innerHTML = rows.join("");
}

// Work over bytes against work a second, both logarithmic.
function roof(title, unit, work, peak) {
  const width = 480, height = 300, left = 62, bottom = 40, top = 14, right = 12;
  const rate = work / (t.microseconds * 1e-6);
  const points = [["HBM", t.hbm_bytes, "#1f9254"], ["GM, L2 included", t.gm_read_bytes + t.gm_write_bytes, "#2f81f7"]]
    .filter((p) => p[1] > 0);
  const intensities = points.map((p) => work / p[1]);
  const ridge = peak / t.peaks.hbm_bytes_per_second, ridgeL2 = peak / t.peaks.l2_bytes_per_second;
  const x0 = Math.log10(Math.min(...intensities, ridgeL2) / 4), x1 = Math.log10(Math.max(...intensities, ridge) * 4);
  const y1 = Math.log10(peak * 2), y0 = Math.min(Math.log10(rate / 3), y1 - 2.5);
  const x = (v) => left + (Math.log10(v) - x0) / (x1 - x0) * (width - left - right);
  const y = (v) => height - bottom - (Math.log10(v) - y0) / (y1 - y0) * (height - top - bottom);
  const clampY = (v) => Math.min(height - bottom, y(v));
  let s = `<svg viewBox="0 0 ${width} ${height}" width="${width}" style="max-width:100%" font-size="11" fill="#5d6877">`;
  for (let d = Math.ceil(x0); d <= x1; ++d) {
    s += `<line x1="${x(10 ** d)}" x2="${x(10 ** d)}" y1="${top}" y2="${height - bottom}" stroke="#eef1f5"/>` +
      `<text x="${x(10 ** d)}" y="${height - bottom + 14}" text-anchor="middle">${10 ** d}</text>`;
  }
  for (let d = Math.ceil(y0); d <= y1; ++d) {
    s += `<line x1="${left}" x2="${width - right}" y1="${y(10 ** d)}" y2="${y(10 ** d)}" stroke="#eef1f5"/>` +
      `<text x="${left - 5}" y="${y(10 ** d) + 4}" text-anchor="end">${si(10 ** d, "")}</text>`;
  }
  for (const [bandwidth, colour] of [[t.peaks.hbm_bytes_per_second, "#1f9254"], [t.peaks.l2_bytes_per_second, "#2f81f7"]]) {
    const from = Math.max(10 ** x0, 10 ** y0 / bandwidth), to = peak / bandwidth;
    if (from < to) s += `<line x1="${x(from)}" y1="${clampY(from * bandwidth)}" x2="${x(to)}" y2="${y(peak)}" stroke="${colour}" stroke-width="1.5"/>`;
  }
  s += `<line x1="${x(Math.max(ridgeL2, 10 ** x0))}" x2="${width - right}" y1="${y(peak)}" y2="${y(peak)}" stroke="#c2571a" stroke-width="1.5"/>` +
    `<text x="${width - right}" y="${y(peak) - 5}" text-anchor="end">peak ${si(peak, unit + "/s")}</text>` +
    `<text x="${(left + width) / 2}" y="${height - 6}" text-anchor="middle">${unit} a byte</text>` +
    `<text x="12" y="${height / 2}" transform="rotate(-90 12 ${height / 2})" text-anchor="middle">${unit}/s (modelled)</text>`;
  points.forEach((p, i) => {
    s += `<circle cx="${x(intensities[i])}" cy="${y(rate)}" r="5" fill="${p[2]}"><title>${p[0]}: ${amount(intensities[i])} ${unit} a byte, ` +
      `${si(rate, unit + "/s")} modelled</title></circle>`;
  });
  return s + `</svg><div class="note">${title}: ${si(rate, unit + "/s")} modelled, ${percent(rate, peak)} of the peak. ` +
    points.map((p, i) => `<span class="key" style="background:${p[2]}"></span>${p[0]}: ${amount(intensities[i])} ${unit} a byte`).join("") + "</div>";
}
function rooflines() {
  let s = "";
  if (t.cube_flops > 0) s += roof("Cube, as if all were half", "FLOP", t.cube_flops, t.peaks.cube_flops_per_second);
  if (t.vector_lanes > 0) s += roof("Vector, lanes of 32 bits", "lanes", t.vector_lanes, t.peaks.vector_lanes_per_second);
  byId("roofline").innerHTML = s || "no arithmetic";
}

function paths() {
  const most = Math.max(...t.paths.map((p) => p.bytes), 1);
  byId("paths").innerHTML = t.paths.map((p) => `<tr><td>${p.path}</td><td class="n">${si(p.bytes, "B")}</td><td class="n">` +
    `${si(p.bytes / (t.microseconds * 1e-6), "B/s")}</td><td style="width:150px"><span class="bar" style="background:#1f9254;width:` +
    `${140 * p.bytes / most}px"></span></td></tr>`).join("");
}

function heat() {
  const use = {};
  for (const p of t.pipes) (use[p.core] = use[p.core] || {})[p.pipe] = p.busy_cycles / t.cycles;
  let s = "";
  for (const kind of ["AIC", "AIV"]) {
    const cores = data.cores.filter((c) => c.startsWith(kind));
    if (!cores.length) continue;
    s += `<table><tr><td class="label">${kind}</td>${cores.map((c) => `<td>${c.slice(4)}</td>`).join("")}</tr>`;
    for (const [pipe, lane] of Object.entries(pipeLane)) {
      if (!cores.some((c) => use[c] && use[c][pipe])) continue;
      s += `<tr><td class="label">${data.lane_names[lane]}</td>` + cores.map((c) => {
        const share = use[c] && use[c][pipe] || 0;
        return `<td title="${c} ${data.lane_names[lane]}: ${percent(share, 1)}" style="background:rgba(209,36,47,${(share * 0.75).toFixed(3)})">` +
          `${share >= 0.005 ? Math.round(100 * share) : ""}</td>`;
      }).join("") + "</tr>";
    }
    s += "</table>";
  }
  byId("heat").innerHTML = s;
}

function hotLines() {
  const busy = {}, critical = {};
  for (const l of t.lines) {
    (busy[l.line] = busy[l.line] || []).push(l);
    critical[l.line] = (critical[l.line] || 0) + l.critical_cycles;
  }
  let s = "<table>";
  for (const [file, rows] of Object.entries(data.source)) {
    s += `<tr class="file"><td colspan="4">${escapeHtml(file)}</td></tr>`;
    let last = rows.length ? rows[0][0] - 1 : 0;
    for (const [number, text] of rows) {
      if (number !== last + 1) s += '<tr><td></td><td></td><td class="n">…</td><td></td></tr>';
      last = number;
      const key = file + ":" + number, here = busy[key];
      const share = critical[key] ? percent(critical[key], t.cycles) : "";
      const what = here ? here.map((l) => `${l.pipe} ${l.instruction} ×${l.count}: ${Math.round(l.busy_cycles).toLocaleString("en")}`).join(", ") : "";
      s += `<tr${here ? ' class="hot"' : ""}><td class="n">${share}</td><td class="n" title="${escapeHtml(what)}">` +
        `${here ? Math.round(here.reduce((a, l) => a + l.busy_cycles, 0)).toLocaleString("en") : ""}</td><td class="n">${number}</td>` +
        `<td>${escapeHtml(text)}</td></tr>`;
    }
  }
  if (!Object.keys(data.source).length) s += '<tr><td>The source was not there when this page was made.</td></tr>';
  byId("source").innerHTML = '<table><tr><th class="n">critical</th><th class="n">busy</th><th class="n">line</th><th></th></tr>' + s.slice(7) + "</table>";
}

figures();
criticalPath();
rooflines();
paths();
heat();
hotLines();
