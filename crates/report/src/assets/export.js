// Takes things home: the data as CSV, the drawing as it is seen as SVG, commands to the clipboard.

const field = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const plain = (value) => (value === null || value === undefined ? "" : String(value));

// As in csv.rs, from the six digits that the page has.
const csvOf = (panels) => {
  const [charts, matrices] = [[], []];
  panels.forEach((panel, i) => {
    const title = panel.title ? field(panel.title) : String(i + 1);
    if (panel.kind === "chart") {
      for (const s of panel.series) {
        s.x.forEach((x, j) => {
          const category = (axis, value) => (value in axis.names ? field(axis.names[value]) : plain(value));
          const places = [category(panel.x, x), category(panel.y, s.y[j])];
          charts.push([title, field(s.name), ...places, plain(s.low?.[j]), plain(s.high?.[j])].join(","));
        });
      }
    } else {
      panel.values.forEach((row, r) => row.forEach((value, c) => {
        matrices.push([title, field(panel.rows[r]), field(panel.columns[c]), plain(value)].join(","));
      }));
    }
  });
  const table = (header, rows) => (rows.length > 0 ? [header, ...rows, ""].join("\n") : null);
  const tables = [table("panel,series,x,y,low,high", charts), table("panel,row,column,value", matrices)];
  return tables.filter(Boolean).join("\n");
};

const textNode = (node, origin, parent, attributes) => {
  const range = document.createRange();
  range.selectNodeContents(node);
  const box = range.getBoundingClientRect();
  const size = getComputedStyle(node).fontSize;
  const y = box.top - origin.top + Math.min(box.height, parseFloat(size) * 1.35) * 0.78;
  make("text", { x: px(box.left - origin.left), y: px(y), style: `font-size:${size}`, ...attributes }, parent).textContent =
    node.textContent;
};

// Everything where it stands in the page, in the colours that it has there.
const svgOf = (figure) => {
  const air = 16;
  const last = figure.querySelector(".legend") ?? figure.querySelector(".panels");
  const box = figure.getBoundingClientRect();
  const [width, height] = [box.width + 2 * air, last.getBoundingClientRect().bottom - box.top + 2 * air];
  const origin = { left: box.left - air, top: box.top - air };
  const root = make("svg", { width: px(width), height: px(height), viewBox: `0 0 ${px(width)} ${px(height)}` });
  root.setAttribute("font-family", "system-ui, 'Segoe UI', Roboto, 'Noto Sans', sans-serif");
  const colours = getComputedStyle(document.documentElement);
  const css = document.getElementById("figure-style").textContent;
  make("style", {}, root).textContent = css.replace(/var\((--\w+)\)/g, (_, name) => colours.getPropertyValue(name).trim());
  make("rect", { class: "background", width: "100%", height: "100%" }, root);
  const title = figure.querySelector("h3");
  if (title) textNode(title, origin, root, { class: "name" });
  figure.querySelectorAll(".panel").forEach((panel) => {
    const name = panel.querySelector(".panel-title");
    if (name) textNode(name, origin, root, { class: "name" });
    const drawing = panel.querySelector("svg");
    const at = drawing.getBoundingClientRect();
    const copy = drawing.cloneNode(true);
    copy.querySelectorAll(".overlay,.off").forEach((node) => node.remove());
    for (const key of ["style", "tabindex", "role", "aria-label", "aria-roledescription"]) copy.removeAttribute(key);
    place(copy, { x: px(at.left - origin.left), y: px(at.top - origin.top), width: px(at.width), height: px(at.height) });
    root.append(copy);
  });
  figure.querySelectorAll(".legend button[aria-pressed=true]").forEach((button) => {
    const swatch = button.querySelector("svg");
    const at = swatch.getBoundingClientRect();
    const copy = swatch.cloneNode(true);
    place(copy, { x: px(at.left - origin.left), y: px(at.top - origin.top), width: 30, height: 12 });
    root.append(copy);
    textNode(button.querySelector("span"), origin, root, { class: "label" });
  });
  return new XMLSerializer().serializeToString(root);
};

const save = (text, type, name) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
};

const tool = (text, action, className = "tool") => {
  const button = document.createElement("button");
  button.type = "button";
  button.className = className;
  button.textContent = text;
  button.addEventListener("click", action);
  return button;
};

const copyButton = (pre) => {
  const box = document.createElement("div");
  box.className = "copyable";
  pre.before(box);
  const button = tool("Copy", async () => {
    try {
      await navigator.clipboard.writeText(pre.textContent);
      button.textContent = "Copied";
    } catch {
      // Not allowed here: the reader can still press the keys.
      getSelection().selectAllChildren(pre);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  box.append(pre, button);
};

const addExports = (figure, panels) => {
  const details = figure.querySelector("details.data");
  const pre = details.querySelector("pre");
  const fill = () => {
    if (pre.hasAttribute("data-later")) {
      pre.textContent = csvOf(panels);
      pre.removeAttribute("data-later");
    }
    return pre.textContent;
  };
  details.addEventListener("toggle", fill);
  const tools = document.createElement("div");
  tools.className = "tools";
  tools.append(
    tool("CSV", () => save(fill(), "text/csv", `${figure.id}.csv`)),
    tool("SVG", () => save(svgOf(figure), "image/svg+xml", `${figure.id}.svg`)),
  );
  for (const button of tools.children) {
    button.title = `Download this figure as ${button.textContent}`;
    button.setAttribute("aria-label", button.title);
  }
  details.before(tools);
};
