"use strict";
// Scales, ticks and numbers: the same formulas as in number.rs, scale.rs and ticks.rs.

const clamp = (v, low, high) => Math.min(high, Math.max(low, v));
const px = (v) => String(Math.round(clamp(v, -1e5, 1e5) * 10) / 10);

const fixed = (value, decimals) => {
  const text = Math.abs(value).toFixed(decimals);
  const [whole, rest] = text.split(".");
  const grouped = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, ",") : whole;
  const sign = value < 0 && /[1-9]/.test(text) ? "−" : "";
  return sign + grouped + (rest ? "." + rest : "");
};

const trimmed = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
const exponentOf = (value) => Math.floor(Math.log10(Math.abs(value)) + 1e-12);
const power = (m, k) => Number(`${m}e${k}`);

const scientific = (value, decimals) => {
  if (value === 0) return "0";
  const exponent = exponentOf(value);
  const factor = trimmed(fixed(value / 10 ** exponent, decimals));
  const raised = [...String(exponent)].map((c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c])).join("");
  if (factor === "1" || factor === "−1") return factor.replace("1", "10") + raised;
  return `${factor}×10${raised}`;
};

const short = (value) => {
  if (!Number.isFinite(value)) return "no value";
  const exponent = value === 0 ? 0 : exponentOf(value);
  if (exponent < -4 || exponent >= 6) return scientific(value, 2);
  return trimmed(fixed(value, clamp(3 - exponent, 0, 6)));
};

// Only numbers are measured here: names got their room in Rust.
const textWidth = (text) =>
  [...text].reduce((sum, c) => sum + (".,".includes(c) ? 3.6 : "−×".includes(c) ? 7.8 : 6.8), 0);

const map = (axis, v) => {
  if (v === null || v === undefined) return NaN;
  if (axis.scale === "linear") return v;
  if (axis.scale === "log") return v > 0 ? Math.log10(v) : NaN;
  const ratio = Math.abs(v) / axis.threshold;
  return Math.sign(v) * (ratio <= 1 ? ratio : 1 + Math.log10(ratio));
};

const unmap = (axis, u) => {
  if (axis.scale === "linear") return u;
  if (axis.scale === "log") return 10 ** u;
  const distance = Math.abs(u);
  return Math.sign(u) * axis.threshold * (distance <= 1 ? distance : 10 ** (distance - 1));
};

const ruler = (axis, [low, high], from, to) => {
  const a = map(axis, low);
  const b = map(axis, high);
  return {
    axis, low, high, from, to,
    px: (v) => from + ((map(axis, v) - a) / (b - a)) * (to - from),
    at: (p) => unmap(axis, a + ((p - from) / (to - from)) * (b - a)),
  };
};

const niceStep = (span, count) => {
  const raw = span / Math.max(1, count);
  const exponent = exponentOf(raw);
  const factor = raw / 10 ** exponent;
  return power([1, 2, 5].find((n) => factor <= 1.2 * n) ?? 10, exponent);
};

const linearTicks = (low, high, count) => {
  const step = niceStep(high - low, count);
  if (!(step > 0 && Number.isFinite(step))) return [];
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.min(first + 100, Math.floor(high / step + 1e-9));
  const place = exponentOf(step);
  const large = Math.max(Math.abs(low), Math.abs(high)) >= 1e6;
  const out = [];
  for (let i = first; i <= last; i++) {
    const at = i * step;
    const label = at === 0 ? "0"
      : large || place < -4 ? scientific(at, clamp(exponentOf(at) - place, 0, 6))
      : fixed(at, Math.max(0, -place));
    out.push({ at, label });
  }
  return out;
};

const powerLabel = (at) => {
  const k = exponentOf(at);
  return k >= -4 && k <= 5 ? fixed(at, Math.max(0, -k)) : scientific(at, 0);
};

const logTicks = (low, high, count) => {
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  if (last - first < 1) return linearTicks(low, high, count);
  const decades = last - first + 1;
  const stride = Math.ceil(decades / Math.max(1, count));
  const few = decades * 3 <= count + 2;
  const out = [];
  for (let k = first - 1; k <= last; k++) {
    for (let m = 1; m < 10; m++) {
      const at = power(m, k);
      if (at < low * (1 - 1e-9) || at > high * (1 + 1e-9) || (m > 1 && decades > 10)) continue;
      const labelled = m === 1 ? (k - first) % stride === 0 : few && (m === 2 || m === 5);
      out.push({ at, label: labelled ? powerLabel(at) : "" });
    }
  }
  return out;
};

const mirrored = (ticks) =>
  ticks.map(({ at, label }) => ({ at: -at, label: label && "−" + label })).reverse();

const symlogTicks = (low, high, threshold, count) => {
  if (low >= threshold) return logTicks(low, high, count);
  if (high <= -threshold) return mirrored(logTicks(-high, -low, count));
  const largest = Math.max(Math.abs(low), Math.abs(high));
  const first = Math.ceil(Math.log10(threshold) - 1e-9);
  const last = Math.floor(Math.log10(largest) + 1e-9);
  if (largest <= threshold || last < first) return linearTicks(low, high, count);
  const axis = { scale: "symlog", threshold };
  const gap = (map(axis, high) - map(axis, low)) / (1.5 * Math.max(2, count));
  const candidates = [[0, 0]];
  for (const m of [1, 5, 2]) {
    for (let k = last; k >= first - 1; k--) {
      if (power(m, k) >= threshold * (1 - 1e-9)) candidates.push([m, power(m, k)], [m, -power(m, k)]);
    }
  }
  const out = [];
  for (const [m, at] of candidates) {
    const labelled = out.every((t) => !t.label || Math.abs(map(axis, t.at) - map(axis, at)) >= gap);
    if (at < low || at > high || !(labelled || m === 1)) continue;
    const label = m === 0 ? "0" : (at < 0 ? "−" : "") + powerLabel(Math.abs(at));
    out.push({ at, label: labelled ? label : "" });
  }
  return out.sort((a, b) => a.at - b.at);
};

const ticks = (r, count) => {
  if (r.axis.scale === "linear") return linearTicks(r.low, r.high, count);
  if (r.axis.scale === "log") return logTicks(r.low, r.high, count);
  return symlogTicks(r.low, r.high, r.axis.threshold, count);
};

const namedTicks = (r, gap) => {
  const step = Math.abs(r.px(1) - r.px(0));
  const stride = Math.max(1, Math.ceil(gap / step));
  return r.axis.names
    .map((label, at) => ({ at, label }))
    .filter(({ at }) => at % stride === 0 && at >= r.low && at <= r.high);
};
