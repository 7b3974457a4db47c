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
  const dot = (p) => `M${px(p.x)} ${px(p.y)}h0`;
  const { from, to, px: at } = chart.sideways ? chart.xs : chart.ys;
  const zero = Number.isFinite(at(0)) ? clamp(at(0), Math.min(from, to), Math.max(from, to)) : from;
  const column = (p) => (chart.sideways ? `M${px(zero)} ${px(p.y)}H${px(p.x)}` : `M${px(p.x)} ${px(zero)}V${px(p.y)}`);
  return [
    asBars ? "" : runs(all.map((p) => (p?.interval ? p : null))).filter((run) => run.length > 1).map(area).join(""),
    asBars ? some.filter((p) => p.interval).map(bar).join("") : "",
    series.marks ? some.map(series.bars ? column : dot).join("") : runs(all).map(line).join(""),
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
  const { frame, y, series } = chart.model;
  const named = y.names.length > 0;
  const labels = series.filter(({ label }) => label).length;
  const width = clamp(Math.round(chart.svg.getBoundingClientRect().width), 200, frame.width) || frame.width;
  const extra = frame.bottom - 46;
  const least = frame.top + frame.bottom + LINE * labels;
  const height = named ? frame.height : Math.min(frame.height, Math.max(230, 0.78 * width, least - Math.max(0, extra)) + Math.max(0, extra));
  const top = frame.top;
  const bottom = height - frame.bottom;
  chart.sideways = named;
  chart.ys = named ? ruler(y, chart.domains[1], top, bottom) : ruler(y, chart.domains[1], bottom, top);
  const yTicks = ticksOf(chart, 1, chart.ys, 40, () => 14);
  const widest = Math.max(24, ...yTicks.map(({ label }) => textWidth(label)));
  // Names take no more than a good part of a narrow screen.
  let left = named ? Math.min(frame.left, 0.6 * width) : widest + 12;
  if (chart.model.slanted) left = Math.max(left, Math.min(frame.left, 0.3 * width));
  const right = width - (labels > 0 ? Math.min(frame.right, 0.5 * width) : frame.right);
  chart.xs = ruler(chart.model.x, chart.domains[0], left, right);
  const nameGap = chart.model.slanted ? 15 : 12;
  const xTicks = ticksOf(chart, 0, chart.xs, 64, (label) => (chart.model.x.names.length > 0 ? nameGap : textWidth(label) + 4));
  chart.area = { width, height, left, right, top, bottom };
  return { xTicks, yTicks };
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

// From the end of the axis to so many labels of lines, and the distance of these.
const leadOf = (labels) => (labels > 1 ? 28 : 14);
const LINE = 14;

// Places near the wanted ones, far enough from each other to be read, as in chart.rs.
const spread = (wanted, top, bottom) => {
  const order = wanted.map((_, i) => i).sort((i, j) => wanted[i] - wanted[j]);
  const crowds = [];
  order.forEach((i, place) => {
    crowds.push([wanted[i] - LINE * place, 1]);
    while (crowds.length > 1) {
      const [[above, many], [below, few]] = crowds.slice(-2);
      if (above / many <= below / few) break;
      crowds.splice(-2, 2, [above + below, many + few]);
    }
  });
  const starts = crowds.flatMap(([sum, size]) => Array(size).fill(sum / size));
  const out = [...wanted];
  order.forEach((i, place) => { out[i] = starts[place] + LINE * place; });
  let least = top;
  for (const i of order) {
    out[i] = Math.max(out[i], least);
    least = out[i] + LINE;
  }
  let most = bottom;
  for (const i of order.reverse()) {
    out[i] = Math.min(out[i], most);
    most = out[i] - LINE;
  }
  return out;
};

// Where a line ends in what is shown; null if that is elsewhere.
const endOf = (chart, series) => {
  const { right, top, bottom } = chart.area;
  const all = places(chart, series).filter(Boolean);
  let end = all.at(-1);
  if (end && end.x > right + 0.5) {
    const after = all.findIndex((p) => p.x > right);
    const [a, b] = [all[after - 1], all[after]];
    end = a && { x: right, y: a.y + ((right - a.x) / (b.x - a.x)) * (b.y - a.y) };
  }
  const seen = end && end.x >= chart.area.left && end.y >= top - 0.5 && end.y <= bottom + 0.5;
  return seen ? end : null;
};

// The labels of lines: their groups are in the order of the series that have one.
const drawEnds = (chart) => {
  const groups = [...chart.svg.querySelectorAll("g.named")];
  const { width, right, top, bottom } = chart.area;
  const labelled = chart.model.series.filter(({ label, x, y }) => label && x.some((v, i) => Number.isFinite(chart.xs.px(v) + chart.ys.px(y[i]))));
  const ends = labelled.map((series) => endOf(chart, series));
  const seen = ends.map((_, i) => i).filter((i) => ends[i]);
  const lower = spread(seen.map((i) => ends[i].y), top, bottom);
  groups.forEach((group, i) => {
    const at = seen.indexOf(i);
    place(group, { visibility: at < 0 ? "hidden" : "visible" });
    if (at < 0) return;
    const [lead, text] = group.children;
    const x = right + leadOf(labelled.length);
    place(lead, { d: `M${px(ends[i].x + 3)} ${px(ends[i].y)} ${px(x - 3)} ${px(lower[at])}` });
    place(text, { x: px(x), y: px(lower[at] + 4) });
    text.textContent = fitText(labelled[i].label, width - x - 7);
  });
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
  drawEnds(chart);
};
