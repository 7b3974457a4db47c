// Shows what is under the pointer, or where the arrow keys are: crosshair, spots and a tooltip.

const overlay = (svg) => make("g", { class: "overlay", "aria-hidden": "true" }, svg);

const tipOf = (panel) => {
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.setAttribute("role", "status");
  tip.hidden = true;
  panel.append(tip);
  return tip;
};

// Text only: names come from files.
const fillTip = (tip, head, rows) => {
  const title = document.createElement("b");
  title.textContent = head;
  const lines = rows.slice(0, 14).map(({ colour, name, value }) => {
    const line = document.createElement("div");
    const parts = [["span", name], ["em", value]].map(([tag, text]) => {
      const node = document.createElement(tag);
      node.textContent = text;
      return node;
    });
    if (colour) {
      const dot = document.createElement("i");
      dot.className = colour;
      line.append(dot);
    }
    line.append(...parts);
    return line;
  });
  if (rows.length > lines.length) {
    const more = document.createElement("div");
    more.textContent = `and ${rows.length - lines.length} more`;
    lines.push(more);
  }
  tip.replaceChildren(title, ...lines);
  tip.hidden = false;
};

// Right of x1 or left of x0 (in the drawing's pixels), inside the panel; below the drawing where there is no room.
const placeTip = (view, x0, x1, y) => {
  const { tip, svg, panel } = view;
  const box = svg.getBoundingClientRect();
  const outer = panel.getBoundingClientRect();
  const scale = box.width / svg.viewBox.baseVal.width;
  const [from, to, down] = [x0 * scale + box.left - outer.left, x1 * scale + box.left - outer.left, y * scale + box.top - outer.top];
  tip.style.left = "0";
  const { offsetWidth: w, offsetHeight: h } = tip;
  const right = to + 14;
  const left = from - 14 - w;
  const beside = right + w <= outer.width ? right : left;
  tip.style.left = `${clamp(beside, 0, Math.max(0, outer.width - w))}px`;
  tip.style.top = `${beside < 0 || w > 0.6 * outer.width ? box.bottom - outer.top + 4 : Math.max(0, down - h / 2)}px`;
};

const hide = (view) => {
  view.stop = null;
  view.tip.hidden = true;
  view.over.replaceChildren();
};

const shown = (chart) =>
  chart.model.series.map((series, i) => ({ series, i })).filter(({ series }) => !chart.hidden.has(series.entry));

const inside = (chart, { x, y }) => {
  const { left, right, top, bottom } = chart.area;
  return x >= left - 0.5 && x <= right + 0.5 && y >= top - 0.5 && y <= bottom + 0.5;
};

// The places where the crosshair stops: every x that has a point in view, or every row of a dot plot.
const stopsOf = (chart) => {
  const stops = new Set();
  for (const { series } of shown(chart)) {
    for (const p of places(chart, series)) {
      if (p && inside(chart, p)) stops.add(chart.sideways ? series.y[p.i] : series.x[p.i]);
    }
  }
  return [...stops].sort((a, b) => a - b);
};

const nearestStop = (chart, x, y) => {
  const scatter = !chart.sideways && shown(chart).every(({ series }) => series.marks);
  let [best, least] = [null, Infinity];
  for (const { series } of shown(chart)) {
    for (const p of places(chart, series)) {
      if (!p || !inside(chart, p)) continue;
      const distance = chart.sideways ? Math.abs(p.y - y) : scatter ? Math.hypot(p.x - x, p.y - y) : Math.abs(p.x - x);
      if (distance < least) [best, least] = [chart.sideways ? series.y[p.i] : series.x[p.i], distance];
    }
  }
  return best;
};

const withError = (value, low, high) => {
  if (!Number.isFinite(low) || !Number.isFinite(high)) return short(value);
  const [below, above] = [value - low, high - value];
  if (Math.abs(above - below) <= 1e-3 * Math.abs(above + below)) {
    // Both with the digits that the error allows.
    const error = (above + below) / 2;
    const decimals = error > 0 ? 2 - exponentOf(error) : 3;
    if (decimals > 6 || Math.abs(value) >= 1e6) return `${short(value)} ± ${short(error)}`;
    return `${fixed(value, Math.max(0, decimals))} ± ${fixed(error, Math.max(0, decimals))}`;
  }
  return `${short(value)} (${short(low)} to ${short(high)})`;
};

// A line has a value between its points as well.
const between = (chart, series, x) => {
  const at = map(chart.model.x, x);
  for (let i = 1; i < series.x.length; i++) {
    const [a, b] = [map(chart.model.x, series.x[i - 1]), map(chart.model.x, series.x[i])];
    const [c, d] = [map(chart.model.y, series.y[i - 1]), map(chart.model.y, series.y[i])];
    if (![c, d].every(Number.isFinite) || !((a <= at && at <= b) || (b <= at && at <= a)) || a === b) continue;
    const value = unmap(chart.model.y, c + ((at - a) / (b - a)) * (d - c));
    // The ends of a level are all there is to know about it.
    const same = (column) => (column && column[i] === column[i - 1] ? column[i] ?? NaN : NaN);
    return { value, sure: c === d, low: same(series.low), high: same(series.high) };
  }
  return null;
};

const nameOf = (axis, value) => axis.names[Math.round(value)] ?? short(value);

const rowsAt = (chart, stop) => {
  const out = [];
  for (const { series, i } of shown(chart)) {
    const colour = chart.colours[i];
    const key = chart.sideways ? series.y : series.x;
    const found = places(chart, series).filter((p) => p && key[p.i] === stop);
    for (const p of found) {
      const value = chart.sideways ? series.x[p.i] : series.y[p.i];
      const text = chart.sideways || chart.model.y.names.length === 0
        ? withError(value, series.low?.[p.i] ?? NaN, series.high?.[p.i] ?? NaN)
        : nameOf(chart.model.y, value);
      // The row has the series' name already.
      const name = chart.sideways && series.name === nameOf(chart.model.y, stop) ? chart.model.x.label : series.name;
      out.push({ colour, name, value: text, x: p.x, y: p.y });
    }
    if (found.length === 0 && !series.marks && !chart.sideways) {
      const guess = between(chart, series, stop);
      if (guess) {
        const value = guess.sure ? withError(guess.value, guess.low, guess.high) : `≈ ${short(guess.value)}`;
        out.push({ colour, name: series.name, value, x: chart.xs.px(stop), y: chart.ys.px(guess.value) });
      }
    }
  }
  return out;
};

const showStop = (chart, stop, y) => {
  if (stop === null || stop === undefined) return hide(chart);
  chart.stop = stop;
  const rows = rowsAt(chart, stop);
  const { left, right, top, bottom } = chart.area;
  const along = chart.sideways ? chart.ys.px(stop) : chart.xs.px(stop);
  const line = chart.sideways ? `M${px(left)} ${px(along)}H${px(right)}` : `M${px(along)} ${px(top)}V${px(bottom)}`;
  chart.over.replaceChildren();
  make("path", { class: "cross", d: line }, chart.over);
  for (const row of rows.filter((row) => inside(chart, row))) {
    make("circle", { class: `spot ${row.colour}`, cx: px(row.x), cy: px(row.y), r: 5 }, chart.over);
  }
  const axis = chart.sideways ? chart.model.y : chart.model.x;
  const name = nameOf(axis, stop);
  fillTip(chart.tip, axis.label && axis.names.length === 0 ? `${axis.label}: ${name}` : name, rows);
  const ends = chart.sideways ? rows.map((row) => clamp(row.x, left, right)) : [along];
  placeTip(chart, Math.min(...ends), Math.max(...ends), y ?? (chart.sideways ? along : (top + bottom) / 2));
};

const showCell = (view, row, column) => {
  const { plot, rows, columns, values } = view.model;
  const [w, h] = [plot[2] / columns.length, plot[3] / rows.length];
  const [x, y] = [plot[0] + column * w, plot[1] + row * h];
  view.stop = [row, column];
  view.over.replaceChildren();
  make("rect", { class: "ring", x: px(x), y: px(y), width: px(w), height: px(h) }, view.over);
  fillTip(view.tip, `${rows[row]}, ${columns[column]}`, [{ name: "value", value: short(values[row]?.[column] ?? NaN) }]);
  placeTip(view, x, x + w, y + h / 2);
};
