// SPDX-License-Identifier: Apache-2.0
// One page without a network: the events as numbers, and a canvas to zoom (wheel) and drag.
#include <fmt/format.h>

#include "cli/timeline.hpp"

namespace tessera::cli {
namespace {

constexpr const char* kScript = R"JS(
const canvas = document.getElementById('c'), tip = document.getElementById('tip'), LEFT = 84, TOP = 30, LANE = 34, GAP = 10;
let from = 0, to = Math.max(T.duration, 1), drag = null;
const height = TOP + T.lanes.length * (LANE + GAP) + 12;
const x = t => LEFT + (t - from) / (to - from) * (canvas.clientWidth - LEFT - 16);
const time = px => from + (px - LEFT) / (canvas.clientWidth - LEFT - 16) * (to - from);
function first(lane, t) {  // index of the first event that ends after t
  let a = 0, b = lane.length;
  while (a < b) { const m = (a + b) >> 1; if (lane[m][1] <= t) a = m + 1; else b = m; }
  return a;
}
function step(span) { const p = 10 ** Math.floor(Math.log10(span / 10)); return p * [1, 2, 5, 10].find(s => span / 10 <= s * p); }
function draw() {
  const ratio = window.devicePixelRatio || 1, g = canvas.getContext('2d');
  canvas.width = canvas.clientWidth * ratio; canvas.height = height * ratio; canvas.style.height = height + 'px';
  g.scale(ratio, ratio); g.clearRect(0, 0, canvas.clientWidth, height); g.font = '12px sans-serif';
  const s = step(to - from);
  for (let t = Math.ceil(from / s) * s; t <= to; t += s) {
    g.fillStyle = '#ddd'; g.fillRect(x(t), TOP - 6, 1, height - TOP);
    g.fillStyle = '#444'; g.textAlign = 'center'; g.fillText((t / 1000).toPrecision(6).replace(/\.?0+$/, '') + ' µs', x(t), 14);
  }
  T.lanes.forEach((lane, i) => {
    const y = TOP + i * (LANE + GAP);
    g.fillStyle = '#222'; g.textAlign = 'right'; g.fillText('thread ' + i, LEFT - 10, y + 21);
    g.fillStyle = 'rgba(0,0,0,.04)'; g.fillRect(LEFT, y, canvas.clientWidth - LEFT - 16, LANE);
    for (let k = first(lane, from); k < lane.length && lane[k][0] < to; ++k) {
      const a = Math.max(x(lane[k][0]), LEFT), b = Math.min(x(lane[k][1]), canvas.clientWidth - 16);
      g.fillStyle = T.colours[lane[k][2]]; g.fillRect(a, y, Math.max(b - a, .3), LANE);
    }
  });
}
canvas.addEventListener('wheel', e => {
  e.preventDefault();
  const t = time(e.offsetX), f = Math.exp(e.deltaY * .0015);
  from = Math.max(0, t - (t - from) * f); to = Math.min(T.duration, t + (to - t) * f);
  if (to - from < 50) to = from + 50;
  draw();
}, {passive: false});
canvas.addEventListener('mousedown', e => drag = [e.offsetX, from, to]);
window.addEventListener('mouseup', () => drag = null);
canvas.addEventListener('dblclick', () => { from = 0; to = Math.max(T.duration, 1); draw(); });
canvas.addEventListener('mousemove', e => {
  if (drag) {
    const d = (drag[0] - e.offsetX) / (canvas.clientWidth - LEFT - 16) * (drag[2] - drag[1]);
    const move = Math.min(Math.max(d, -drag[1]), T.duration - drag[2]);
    from = drag[1] + move; to = drag[2] + move; draw();
  }
  const i = Math.floor((e.offsetY - TOP) / (LANE + GAP)), lane = T.lanes[i], t = time(e.offsetX);
  const v = lane && lane[first(lane, t)];
  tip.style.display = v && v[0] <= t ? 'block' : 'none';
  if (v) tip.textContent = `${T.labels[v[2]]}, item ${v[3]}: ${(v[0] / 1000).toFixed(2)} to ${(v[1] / 1000).toFixed(2)} µs (${((v[1] - v[0]) / 1000).toFixed(2)} µs)`;
  tip.style.left = e.pageX + 14 + 'px'; tip.style.top = e.pageY + 14 + 'px';
});
window.addEventListener('resize', draw);
draw();
)JS";

std::string data_script(const Timeline& timeline) {
  std::string text = fmt::format("const T = {{duration: {}, labels: [", timeline.duration_ns);
  for (int s = 0; s < kStages; ++s) text += fmt::format("'{}',", label_of(static_cast<TraceStage>(s)));
  text += "], colours: [";
  for (int s = 0; s < kStages; ++s) text += fmt::format("'{}',", colour_of(static_cast<TraceStage>(s)));
  text += "], lanes: [\n";
  for (const auto& lane : timeline.lanes) {
    text += "[";
    for (const auto& e : lane)
      text += fmt::format("[{},{},{},{}],", e.begin_ns, e.end_ns, static_cast<int>(e.stage), e.item);
    text += "],\n";
  }
  return text + "]};\n";
}

}  // namespace

std::string html(const Timeline& timeline) {
  std::string text = fmt::format("<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>{}</title>\n",
                                 escaped(timeline.problem));
  text +=
      "<style>body{font:14px sans-serif;margin:24px;color:#222}h1{font-size:18px;margin:0 0 "
      "8px}canvas{width:100%;cursor:grab}"
      ".k{display:inline-block;width:13px;height:13px;margin:0 6px -2px "
      "18px}pre{background:#f6f6f6;padding:12px;overflow:auto}"
      "#tip{position:absolute;display:none;background:#222;color:#fff;padding:4px "
      "8px;border-radius:3px;font-size:12px;pointer-events:none}</style>\n";
  text += fmt::format("<h1>{}</h1>\n<p>", escaped(timeline.problem));
  for (int s = 0; s < kStages; ++s) {
    text += fmt::format("<span class=\"k\" style=\"background:{}\"></span>{}", colour_of(static_cast<TraceStage>(s)),
                        label_of(static_cast<TraceStage>(s)));
  }
  text +=
      "</p>\n<canvas id=\"c\"></canvas><div id=\"tip\"></div>\n<p>Wheel: zoom. Drag: move. Double click: all of it.</p>\n";
  text += fmt::format("<pre>{}</pre>\n<script>\n{}{}</script></html>\n", escaped(summary_text(timeline)),
                      data_script(timeline), kScript);
  return text;
}

}  // namespace tessera::cli
