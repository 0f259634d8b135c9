// SPDX-License-Identifier: Apache-2.0
// The timeline: a canvas over lanes, drawn for what is in view.
const kRow = 15, kLabel = 118, kAxis = 22;
const lanes = data.lanes.map((l) => {
  const step = l.merged ? 6 : 4, n = l.e.length / step;
  const lane = { core: l.core, lane: l.lane, merged: l.merged, begin: new Float64Array(n), length: new Float64Array(n),
    name: new Uint32Array(n), line: new Uint32Array(n), busy: l.merged ? new Uint8Array(n) : null, count: l.merged ? new Uint32Array(n) : null, path: [] };
  for (let i = 0, at = 0; i < n; ++i) {
    at += l.e[i * step];
    lane.begin[i] = at;
    lane.length[i] = l.e[i * step + 1];
    lane.name[i] = l.e[i * step + 2];
    lane.line[i] = l.e[i * step + 3];
    if (l.merged) { lane.busy[i] = l.e[i * step + 4]; lane.count[i] = l.e[i * step + 5]; }
  }
  return lane;
});
for (const [core, lane, begin, length] of data.path) {
  const at = lanes.find((l) => l.core === core && l.lane === lane);
  if (at) at.path.push([begin, length]);
}
const frame = byId("frame"), canvas = byId("timeline"), pen = canvas.getContext("2d"), tip = byId("tip");
let from = 0, to = Math.max(t.cycles, 1), found = [], current = -1, term = "";
const us = (cycles) => (cycles / t.mhz).toFixed(3) + " µs";

// A gap between cores.
const tops = [];
let height = kAxis;
lanes.forEach((l, i) => {
  if (i && lanes[i - 1].core !== l.core) height += 6;
  tops.push(height);
  height += kRow;
});
byId("legend").innerHTML = data.lane_names.map((n, i) => lanes.some((l) => l.lane === i) ? `<span class="key" style="background:${colours[i]}"></span>${n}` : "").join("");
if (lanes.some((l) => l.merged)) {
  byId("cut").textContent = "This launch has more events than a page can hold: where many follow each other they are drawn as one, paler the less of it was busy. " +
    "The cores of the first block and of the one that ends last are shown more finely.";
}

function firstAfter(lane, time) {  // the first event that ends after the time
  let low = 0, high = lane.begin.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (lane.begin[mid] + lane.length[mid] < time) low = mid + 1; else high = mid;
  }
  return low;
}
const matches = (lane, i) => data.names[lane.name[i]].toLowerCase().includes(term) || data.lines[lane.line[i]].toLowerCase().includes(term);
const position = (time, width) => kLabel + (time - from) / (to - from) * (width - kLabel);

function draw() {
  const width = frame.clientWidth, shown = frame.clientHeight, scale = window.devicePixelRatio || 1, scroll = frame.scrollTop;
  canvas.width = width * scale;
  canvas.height = shown * scale;
  canvas.style.width = width + "px";
  canvas.style.height = shown + "px";
  byId("spacer").style.height = Math.max(0, height + 8 - shown) + "px";
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.clearRect(0, 0, width, shown);
  pen.font = "11px system-ui, sans-serif";
  lanes.forEach((lane, n) => {
    const top = tops[n] - scroll;
    if (top < -kRow || top > shown) return;
    pen.fillStyle = "#f4f6f9";
    pen.fillRect(kLabel, top, width - kLabel, kRow - 2);
    let drawn = -1;  // the last pixel that is full already
    for (let i = firstAfter(lane, from); i < lane.begin.length && lane.begin[i] < to; ++i) {
      const a = Math.max(kLabel, position(lane.begin[i], width)), b = Math.max(a + 0.6, position(lane.begin[i] + lane.length[i], width));
      const hit = !term || matches(lane, i);
      if (b < drawn + 0.5 && !(term && hit)) continue;
      pen.globalAlpha = (lane.busy ? 0.25 + 0.75 * lane.busy[i] / 100 : 1) * (hit ? 1 : 0.15);
      pen.fillStyle = colours[lane.lane];
      pen.fillRect(a, top, b - a, kRow - 4);
      drawn = b;
      if (b - a > 3) { pen.globalAlpha = 0.5; pen.fillStyle = "#fff"; pen.fillRect(b - 0.5, top, 0.5, kRow - 4); }
      if (b - a > 46 && hit) {
        pen.globalAlpha = 1;
        pen.fillStyle = "#fff";
        const text = data.names[lane.name[i]], room = Math.floor((b - a - 6) / 6);
        pen.fillText(text.length > room ? text.slice(0, room) : text, a + 3, top + 9);
      }
    }
    pen.globalAlpha = 1;
    pen.fillStyle = "#d1242f";
    for (const [begin, length] of lane.path) {
      if (begin + length < from || begin > to) continue;
      const a = Math.max(kLabel, position(begin, width));
      pen.fillRect(a, top + kRow - 4, Math.max(0.6, position(begin + length, width) - a), 2);
    }
    pen.fillStyle = "#fff";
    pen.fillRect(0, top - 3, kLabel, kRow + 3);
    pen.fillStyle = "#1c2430";
    if (!n || lanes[n - 1].core !== lane.core) pen.fillText(data.cores[lane.core], 6, top + 9);
    pen.fillStyle = "#5d6877";
    pen.fillText(data.lane_names[lane.lane], 60, top + 9);
  });
  axis(width);
}
function axis(width) {
  pen.fillStyle = "#fff";
  pen.fillRect(0, 0, width, kAxis - 2);
  pen.fillStyle = "#5d6877";
  const span = (to - from) / t.mhz, step = 10 ** Math.floor(Math.log10(span / 5));
  const tick = span / step > 25 ? step * 5 : span / step > 12 ? step * 2 : step;
  for (let v = Math.ceil(from / t.mhz / tick) * tick; v * t.mhz <= to; v += tick) {
    const x = position(v * t.mhz, width);
    pen.fillRect(x, kAxis - 6, 1, 4);
    if (x < width - 30) pen.fillText(String(Number(v.toPrecision(6))), x + 3, 12);
  }
  pen.fillText("µs, modelled", 6, 12);
}

function zoom(factor, centre) {
  const least = Math.min(20, t.cycles);
  const span = Math.min(t.cycles, Math.max(least, (to - from) * factor)), share = (centre - from) / (to - from);
  from = Math.max(0, Math.min(t.cycles - span, centre - share * span));
  to = from + span;
  draw();
}
function move(by) {
  const span = to - from;
  from = Math.max(0, Math.min(t.cycles - span, from + by));
  to = from + span;
  draw();
}
const timeAt = (x) => from + (x - kLabel) / (frame.clientWidth - kLabel) * (to - from);
canvas.addEventListener("wheel", (e) => {
  if (e.shiftKey) return;  // scrolls the lanes
  e.preventDefault();
  zoom(e.deltaY > 0 ? 1.25 : 0.8, timeAt(e.offsetX));
}, { passive: false });
let drag = null;
canvas.addEventListener("pointerdown", (e) => { drag = { x: e.clientX, y: e.clientY }; canvas.setPointerCapture(e.pointerId); });
canvas.addEventListener("pointerup", () => { drag = null; });
canvas.addEventListener("dblclick", () => { from = 0; to = Math.max(t.cycles, 1); draw(); });
canvas.addEventListener("pointermove", (e) => {
  if (drag) {
    frame.scrollTop += drag.y - e.clientY;
    const by = (drag.x - e.clientX) / (frame.clientWidth - kLabel) * (to - from);
    drag = { x: e.clientX, y: e.clientY };
    return move(by);
  }
  const y = e.offsetY + frame.scrollTop, n = tops.findIndex((top) => y >= top && y < top + kRow), time = timeAt(e.offsetX);
  const i = n < 0 ? -1 : firstAfter(lanes[n], time - (to - from) / frame.clientWidth);
  if (n < 0 || i >= lanes[n].begin.length || lanes[n].begin[i] > time + (to - from) / frame.clientWidth) { tip.style.display = "none"; return; }
  const l = lanes[n];
  tip.textContent = `${data.names[l.name[i]]} at ${shortLine(data.lines[l.line[i]])}\n${data.cores[l.core]} ${data.lane_names[l.lane]}, from ${us(l.begin[i])}, ` +
    `${l.length[i]} cycles (modelled)` + (l.count && l.count[i] > 1 ? `\n${l.count[i]} events, ${l.busy[i]} % busy; the longest is named` : "");
  tip.style.display = "block";
  tip.style.left = Math.min(e.clientX + 14, window.innerWidth - 420) + "px";
  tip.style.top = e.clientY + 16 + "px";
});
canvas.addEventListener("pointerleave", () => { tip.style.display = "none"; });
frame.addEventListener("scroll", draw);
window.addEventListener("resize", draw);

byId("search").addEventListener("input", (e) => {
  term = e.target.value.trim().toLowerCase();
  found = [];
  current = -1;
  if (term) lanes.forEach((lane, n) => { for (let i = 0; i < lane.begin.length; ++i) if (matches(lane, i)) found.push([n, i]); });
  found.sort((a, b) => lanes[a[0]].begin[a[1]] - lanes[b[0]].begin[b[1]]);
  byId("found").textContent = term ? `${found.length} found` : "";
  draw();
});
function jump(step) {
  if (!found.length) return;
  current = (current + step + found.length) % found.length;
  const [n, i] = found[current], lane = lanes[n], span = Math.min(t.cycles, Math.max(lane.length[i] * 20, 200));
  from = Math.max(0, Math.min(t.cycles - span, lane.begin[i] + lane.length[i] / 2 - span / 2));
  to = from + span;
  frame.scrollTop = tops[n] - frame.clientHeight / 2;
  byId("found").textContent = `${current + 1} of ${found.length}`;
  draw();
}
byId("next").addEventListener("click", () => jump(1));
byId("previous").addEventListener("click", () => jump(-1));
byId("search").addEventListener("keydown", (e) => { if (e.key === "Enter") jump(e.shiftKey ? -1 : 1); });
draw();
const onPath = lanes.findIndex((l) => l.path.length);
if (onPath > 0) frame.scrollTop = Math.max(0, tops[lanes.findIndex((l) => l.core === lanes[onPath].core)] - kAxis - 4);
