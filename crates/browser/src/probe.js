// What the figure with this index shows now, after scrolling to one of its panels or to its legend (-1).
(index, focus) => {
  const figure = document.querySelectorAll("figure")[index];
  const button = figure.querySelector(".legend button");
  const rectOf = (node) => {
    const { left, top, width, height } = node.getBoundingClientRect();
    return [left, top, width, height];
  };
  const target = focus < 0 ? button : figure.querySelectorAll(".panel")[focus];
  target?.scrollIntoView({ block: "center", behavior: "instant" });
  const sound = (path) => {
    const d = path.getAttribute("d");
    if (!d || /[^MmLlHhVvZz0-9 .\-]/.test(d)) return false;
    const box = path.getBBox();
    return box.width > 0 || box.height > 0 || path.classList.contains("marks");
  };
  const panels = [...figure.querySelectorAll(".panel")].map((panel) => {
    const svg = panel.querySelector("svg");
    const chart = svg.classList.contains("chart");
    const parts = [...svg.querySelectorAll(chart ? "g.series path" : ".cells path")];
    const tip = panel.querySelector(".tip:not([hidden])");
    const clip = svg.querySelector("clipPath rect");
    const plot = chart ? svg.querySelector(".axes") : svg.querySelector(".cells") ?? svg;
    const numeric = [...svg.querySelectorAll("g.x .tick, g.y .tick")].some((tick) => /^[−\d.,×⁰¹²³⁴-⁹⁻]+$/.test(tick.textContent));
    const [, , width, height] = rectOf(svg);
    return {
      drawn: width > 0 && height > 0 && parts.some(sound) && parts.every((p) => !/NaN|Infinity|undefined/.test(p.getAttribute("d"))),
      empty: svg.querySelector(".empty") !== null,
      plot: rectOf(plot),
      tip: tip && tip.getBoundingClientRect().width > 0 ? tip.textContent : null,
      geometry: [...parts.map((p) => p.getAttribute("d")), ...[...svg.querySelectorAll(".tick")].map((t) => t.textContent)].join("|"),
      zoomable: clip !== null && numeric,
    };
  });
  const entry = button?.dataset.entry;
  const groups = [...figure.querySelectorAll(`g.series[data-entry="${entry}"]`)];
  const [x, y, w, h] = button ? rectOf(button) : [0, 0, 0, 0];
  return {
    id: figure.id,
    panels,
    entry: button ? [x + w / 2, y + h / 2] : null,
    visible: groups.filter((group) => getComputedStyle(group).display !== "none").length,
  };
}
