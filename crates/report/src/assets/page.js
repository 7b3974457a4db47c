// Brings the page to life: pointer, keyboard, legend and zoom.

const pointIn = (svg, event) => {
  const box = svg.getBoundingClientRect();
  const scale = svg.viewBox.baseVal.width / box.width;
  return { x: (event.clientX - box.left) * scale, y: (event.clientY - box.top) * scale };
};

const zoomTo = (chart, domains) => {
  const span = (axis, [low, high]) => map(axis, high) - map(axis, low);
  const [x, y] = [chart.model.x, chart.model.y];
  const fine = domains.every((domain, i) => span([x, y][i], domain) > 1e-6 * span([x, y][i], chart.home[i]));
  if (!fine) return;
  chart.domains = domains;
  chart.reset.hidden = isWhole(chart, 0) && isWhole(chart, 1);
  hide(chart);
  drawChart(chart);
};

const zoomBox = (chart, a, b) => {
  const range = (r, p, q) => [r.at(p), r.at(q)].sort((m, n) => m - n);
  const { left, right, top, bottom } = chart.area;
  const [x0, x1] = [a.x, b.x].map((v) => clamp(v, left, right));
  const [y0, y1] = [a.y, b.y].map((v) => clamp(v, top, bottom));
  // A flat or a thin box means one axis only.
  const across = Math.abs(x1 - x0) >= 8 && chart.model.x.names.length === 0;
  const down = Math.abs(y1 - y0) >= 8 && chart.model.y.names.length === 0;
  if (!across && !down) return;
  zoomTo(chart, [
    across ? range(chart.xs, x0, x1) : chart.domains[0],
    down ? range(chart.ys, y0, y1) : chart.domains[1],
  ]);
};

const zoomBy = (chart, factor) => {
  const around = (axis, domain, home) => {
    if (axis.names.length > 0) return domain;
    const [a, b] = domain.map((v) => map(axis, v));
    const [first, last] = home.map((v) => map(axis, v));
    const [middle, half] = [(a + b) / 2, ((b - a) / 2) * factor];
    const low = Math.max(first, middle - half);
    const high = Math.min(last, middle + half);
    return [low === first ? home[0] : unmap(axis, low), high === last ? home[1] : unmap(axis, high)];
  };
  const { x, y } = chart.model;
  zoomTo(chart, [around(x, chart.domains[0], chart.home[0]), around(y, chart.domains[1], chart.home[1])]);
};

const chartKeys = (chart, event) => {
  const stops = stopsOf(chart);
  const at = stops.indexOf(chart.stop);
  const go = (i) => showStop(chart, stops[clamp(i, 0, stops.length - 1)]);
  const actions = {
    ArrowRight: () => go(at + 1), ArrowDown: () => go(at + 1),
    ArrowLeft: () => go(at < 0 ? stops.length - 1 : at - 1), ArrowUp: () => go(at < 0 ? stops.length - 1 : at - 1),
    Home: () => go(0), End: () => go(stops.length - 1), Escape: () => hide(chart),
    "+": () => zoomBy(chart, 1 / 1.5), "=": () => zoomBy(chart, 1 / 1.5), "-": () => zoomBy(chart, 1.5),
    "0": () => zoomTo(chart, chart.home),
  };
  return actions[event.key];
};

const cellKeys = (view, event) => {
  const { rows, columns } = view.model;
  const [row, column] = view.stop ?? [0, 0];
  const first = view.stop === null;
  const go = (r, c) => showCell(view, clamp(first ? 0 : r, 0, rows.length - 1), clamp(first ? 0 : c, 0, columns.length - 1));
  const actions = {
    ArrowRight: () => go(row, column + 1), ArrowLeft: () => go(row, column - 1),
    ArrowDown: () => go(row + 1, column), ArrowUp: () => go(row - 1, column),
    Home: () => go(row, 0), End: () => go(row, columns.length - 1), Escape: () => hide(view),
  };
  return actions[event.key];
};

const listenKeys = (view, keys) => {
  view.svg.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const action = keys(view, event);
    if (!action) return;
    event.preventDefault();
    action();
  });
  view.svg.addEventListener("blur", () => hide(view));
};

const wakeChart = (chart) => {
  const { svg } = chart;
  let start = null;
  const box = make("rect", { class: "box overlay", visibility: "hidden" }, svg);
  const drop = () => { start = null; box.setAttribute("visibility", "hidden"); };
  svg.addEventListener("pointerdown", (event) => {
    const point = pointIn(svg, event);
    if (event.pointerType === "touch") showStop(chart, nearestStop(chart, point.x, point.y), point.y);
    else if (event.button === 0 && inside(chart, point)) {
      start = point;
      svg.setPointerCapture(event.pointerId);
    }
  });
  svg.addEventListener("pointermove", (event) => {
    const point = pointIn(svg, event);
    if (start && Math.hypot(point.x - start.x, point.y - start.y) > 4) {
      hide(chart);
      const { left, right, top, bottom } = chart.area;
      const [x0, x1] = [start.x, point.x].map((v) => clamp(v, left, right)).sort((a, b) => a - b);
      const [y0, y1] = [start.y, point.y].map((v) => clamp(v, top, bottom)).sort((a, b) => a - b);
      place(box, { x: px(x0), y: px(y0), width: px(x1 - x0), height: px(y1 - y0), visibility: "visible" });
    } else if (inside(chart, point)) showStop(chart, nearestStop(chart, point.x, point.y), point.y);
    else hide(chart);
  });
  svg.addEventListener("pointerup", (event) => {
    const from = start;
    drop();
    if (from) zoomBox(chart, from, pointIn(svg, event));
  });
  svg.addEventListener("pointercancel", drop);
  svg.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") hide(chart); });
  svg.addEventListener("dblclick", () => zoomTo(chart, chart.home));
  listenKeys(chart, chartKeys);
  new ResizeObserver(() => {
    if (Math.abs(svg.getBoundingClientRect().width - chart.drawn) < 1) return;
    chart.drawn = svg.getBoundingClientRect().width;
    hide(chart);
    drawChart(chart);
  }).observe(svg);
};

const wakeMatrix = (view) => {
  const { svg, model } = view;
  const find = (event) => {
    const { x, y } = pointIn(svg, event);
    const column = Math.floor(((x - model.plot[0]) / model.plot[2]) * model.columns.length);
    const row = Math.floor(((y - model.plot[1]) / model.plot[3]) * model.rows.length);
    if (row >= 0 && row < model.rows.length && column >= 0 && column < model.columns.length) showCell(view, row, column);
    else hide(view);
  };
  svg.addEventListener("pointermove", find);
  svg.addEventListener("pointerdown", find);
  svg.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") hide(view); });
  listenKeys(view, cellKeys);
};

const wakeLegend = (figure, views, hidden) => {
  const buttons = [...figure.querySelectorAll(".legend button")];
  const entryOf = (button) => Number(button.dataset.entry);
  const apply = () => {
    for (const button of buttons) button.setAttribute("aria-pressed", String(!hidden.has(entryOf(button))));
    for (const group of figure.querySelectorAll("g.series, g.named")) {
      group.classList.toggle("off", hidden.has(Number(group.dataset.entry)));
    }
    views.forEach(hide);
  };
  const toggle = (entry) => {
    if (!hidden.delete(entry)) hidden.add(entry);
    apply();
  };
  // Once more, and all are back.
  const isolate = (entry) => {
    const others = buttons.map(entryOf).filter((other) => other !== entry);
    const alone = !hidden.has(entry) && others.every((other) => hidden.has(other));
    hidden.clear();
    if (!alone) others.forEach((other) => hidden.add(other));
    apply();
  };
  for (const button of buttons) {
    button.title = "Click: show or hide. Double-click or Shift-click: show only this.";
    button.addEventListener("click", (event) => (event.shiftKey ? isolate : toggle)(entryOf(button)));
    button.addEventListener("dblclick", () => isolate(entryOf(button)));
    button.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !event.altKey) return;
      event.preventDefault();
      isolate(entryOf(button));
    });
  }
};

const wakeFigure = (figure) => {
  const panels = JSON.parse(figure.querySelector('script[type="application/json"]').textContent);
  const hidden = new Set();
  const views = [...figure.querySelectorAll(".panel")].map((panel, i) => {
    const svg = panel.querySelector("svg");
    const view = { panel, svg, model: panels[i], hidden, stop: null };
    if (view.model.kind === "chart" ? !view.model.domains : !view.model.values.flat().some(Number.isFinite)) {
      svg.removeAttribute("tabindex");
      return null;
    }
    view.over = overlay(svg);
    view.tip = tipOf(panel);
    svg.setAttribute("role", "application");
    if (view.model.kind === "matrix") {
      svg.setAttribute("aria-roledescription", "matrix; arrow keys read its cells");
      wakeMatrix(view);
      return view;
    }
    svg.setAttribute("aria-roledescription", "chart; arrow keys read values, plus and minus zoom, 0 resets");
    view.home = view.model.domains;
    view.domains = view.home;
    view.colours = [...svg.querySelectorAll("g.series")].map((group) => [...group.classList].find((c) => /^c\d$/.test(c)));
    view.reset = tool("Reset zoom", () => zoomTo(view, view.home), "tool reset");
    view.reset.hidden = true;
    panel.append(view.reset);
    view.drawn = svg.getBoundingClientRect().width;
    drawChart(view);
    wakeChart(view);
    return view;
  });
  wakeLegend(figure, views.filter(Boolean), hidden);
  addExports(figure, panels);
};

document.querySelectorAll("figure").forEach(wakeFigure);
document.querySelectorAll("pre.command, pre.spec").forEach(copyButton);

const links = [...document.querySelectorAll(".contents a")];
const seen = new IntersectionObserver((entries) => {
  for (const entry of entries.filter(({ isIntersecting }) => isIntersecting)) {
    for (const link of links) {
      if (link.hash === `#${entry.target.id}`) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }
}, { rootMargin: "-10% 0px -70% 0px" });
document.querySelectorAll("main > section").forEach((section) => seen.observe(section));
document.documentElement.classList.add("live");
