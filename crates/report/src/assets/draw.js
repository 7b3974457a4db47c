// Redraws a chart for another width or range: the same elements as in chart.rs and path.rs, only their geometry changes.

const NAMESPACE = document.querySelector("svg")?.namespaceURI;
const make = (name, attributes, parent) => {
  const node = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (parent) parent.append(node);
  return node;
};
const place = (node, attributes) => {
  if (node) for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
};

const runs = (items) => {
  const out = [[]];
  for (const item of items) {
    if (item) out[out.length - 1].push(item);
    else out.push([]);
  }
  return out.filter((run) => run.length > 0);
};

// The places of a series' points in pixels, and of the ends of their intervals; null where there is none.
const places = (chart, series) => {
  const along = chart.sideways ? chart.xs : chart.ys;
  return series.x.map((value, i) => {
    const x = chart.xs.px(value) + (chart.sideways ? 0 : series.shift);
    const y = chart.ys.px(series.y[i]) + (chart.sideways ? series.shift : 0);
    if (!Number.isFinite(x) || !Number.isFinite(y)) return null;
    const low = along.px(series.low?.[i]);
    const high = along.px(series.high?.[i]);
    const interval = Number.isFinite(low) && Number.isFinite(high);
    return { i, x, y, low, high, interval };
  });
};

const pathsOf = (chart, series) => {
  const all = places(chart, series);
  const some = all.filter(Boolean);
  const join = (pairs) => pairs.map(([x, y]) => `${px(x)} ${px(y)}`).join(" ");
  const asBars = series.marks || chart.sideways;
  const bar = (p) => (chart.sideways ? `M${px(p.low)} ${px(p.y)}H${px(p.high)}` : `M${px(p.x)} ${px(p.low)}V${px(p.high)}`);
  const area = (run) => "M" + join([...run.map((p) => [p.x, p.high]), ...run.map((p) => [p.x, p.low]).reverse()]) + "Z";
  const line = (run) => "M" + join(run.map((p) => [p.x, p.y])) + (run.length === 1 ? "h0" : "");
  return [
    asBars ? "" : runs(all.map((p) => (p?.interval ? p : null))).filter((run) => run.length > 1).map(area).join(""),
    asBars ? some.filter((p) => p.interval).map(bar).join("") : "",
    series.marks ? some.map((p) => `M${px(p.x)} ${px(p.y)}h0`).join("") : runs(all).map(line).join(""),
  ];
};

const isWhole = (chart, which) => chart.domains[which].every((v, i) => v === chart.home[which][i]);

// About one tick in so many pixels, fewer where labels would touch; four are enough for two that can be read.
const ticksOf = (chart, which, r, pixels, gap) => {
  const count = Math.max(4, Math.floor(Math.abs(r.to - r.from) / pixels));
  return spaced(r, isWhole(chart, which) ? r.axis.ticks : roundNumbers(r, count), gap);
};

// Where things are, from the width that there is.
const layOut = (chart) => {
  const { frame, y } = chart.model;
  const named = y.names.length > 0;
  const width = clamp(Math.round(chart.svg.getBoundingClientRect().width), 200, frame.width) || frame.width;
  const extra = frame.bottom - 46;
  const height = named ? frame.height : Math.min(frame.height, Math.max(230, 0.78 * width) + Math.max(0, extra));
  const top = frame.top;
  const bottom = height - frame.bottom;
  chart.sideways = named;
  chart.ys = named ? ruler(y, chart.domains[1], top, bottom) : ruler(y, chart.domains[1], bottom, top);
  const yTicks = ticksOf(chart, 1, chart.ys, 40, () => 14);
  const widest = Math.max(24, ...yTicks.map(({ label }) => textWidth(label)));
  // Names take no more than a good part of a narrow screen.
  let left = named ? Math.min(frame.left, 0.45 * width) : widest + 12;
  if (chart.model.slanted) left = Math.max(left, Math.min(frame.left, 0.3 * width));
  const right = width - frame.right;
  chart.xs = ruler(chart.model.x, chart.domains[0], left, right);
  const nameGap = chart.model.slanted ? 15 : 12;
  const xTicks = ticksOf(chart, 0, chart.xs, 64, (label) => (chart.model.x.names.length > 0 ? nameGap : textWidth(label) + 4));
  chart.area = { width, height, left, right, top, bottom };
  return { xTicks, yTicks };
};

const fitText = (text, limit) => {
  const most = Math.floor(limit / 6.8);
  return text.length <= most + 1 ? text : text.slice(0, Math.max(1, most - 1)).trimEnd() + "…";
};

const drawTicks = (chart, { xTicks, yTicks }) => {
  const { left, right, top, bottom } = chart.area;
  const { slanted } = chart.model;
  const [gx, gy] = [chart.svg.querySelector("g.x"), chart.svg.querySelector("g.y")];
  let [grid, minor] = ["", ""];
  gx.replaceChildren();
  gy.replaceChildren();
  for (const { at, label } of xTicks) {
    const x = px(chart.xs.px(at));
    if (!label) { minor += `M${x} ${px(bottom)}v4`; continue; }
    grid += `M${x} ${px(top)}V${px(bottom)}`;
    const y = px(bottom + (slanted ? 14 : 18));
    const text = make("text", { class: "tick", x, y }, gx);
    if (slanted) text.setAttribute("transform", `rotate(-35 ${x} ${y})`);
    text.textContent = fitText(label, 150);
  }
  for (const { at, label } of yTicks) {
    const y = chart.ys.px(at);
    if (!label) { minor += `M${px(left)} ${px(y)}h-4`; continue; }
    grid += `M${px(left)} ${px(y)}H${px(right)}`;
    make("text", { class: "tick", x: px(left - 8), y: px(y + 4) }, gy).textContent = fitText(label, Math.max(24, left - 12));
  }
  place(chart.svg.querySelector(".grid"), { d: grid });
  place(chart.svg.querySelector(".minor"), { d: minor });
};

const drawChart = (chart) => {
  if (!chart.domains) return;
  const found = layOut(chart);
  const { width, height, left, right, top, bottom } = chart.area;
  place(chart.svg, { viewBox: `0 0 ${px(width)} ${px(height)}` });
  place(chart.svg.querySelector("clipPath rect"), { x: px(left), y: px(top), width: px(right - left), height: px(bottom - top) });
  place(chart.svg.querySelector(".axes"), { d: `M${px(left)} ${px(top)}V${px(bottom)}H${px(right)}` });
  place(chart.svg.querySelector(".x-label"), { x: px((left + right) / 2), y: px(height - 8) });
  drawTicks(chart, found);
  chart.svg.querySelectorAll("g.series").forEach((group, i) => {
    pathsOf(chart, chart.model.series[i]).forEach((d, part) => group.children[part].setAttribute("d", d));
  });
};
