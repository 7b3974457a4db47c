"use strict";
// Scales and numbers, as in scale.rs and number.rs: the page zooms, and shows the value of every point.

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

// Roughly how wide text stands at 12 pixels, and text that is no wider than that, as in text.rs.
const charWidth = (c) => ("ijlI.,:;'|! ()[]".includes(c) ? 3.6
  : "mwMW@%".includes(c) ? 10.5
  : /[A-Z+−=±×<>&]/.test(c) ? 7.8
  : c.codePointAt(0) >= 0x2e80 ? 12 : 6.8);
const textWidth = (text) => [...text].reduce((sum, c) => sum + charWidth(c), 0);
const fitText = (text, limit) => {
  if (textWidth(text) <= limit) return text;
  let [out, used] = ["", charWidth("…")];
  for (const c of text) {
    used += charWidth(c);
    if (used > limit) break;
    out += c;
  }
  return out.trimEnd() + "…";
};

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

// The nearest by ratio of 1, 2, 5, 10, … or of these: its digit and exponent.
const nearestRound = (value, digits = [1, 2, 5]) => {
  const exponent = exponentOf(value);
  const found = digits.find((digit, i) => value / 10 ** exponent < Math.sqrt(digit * (digits[i + 1] ?? 10)));
  return found ? [found, exponent] : [1, exponent + 1];
};

// Round numbers for a range that the reader has chosen; those of the whole range are Rust's (ticks.rs).
const roundNumbers = (r, count) => {
  const { axis, low, high } = r;
  const part = (r.to - r.from) / count;
  const units = Math.abs(map(axis, high) - map(axis, low));
  const isRatio = (v) => axis.scale === "log" || (axis.scale === "symlog" && Math.abs(v) >= axis.threshold);
  // Within a decade there are not enough of them.
  const narrow = units < 1 && isRatio(low) && isRatio(high);
  const found = new Map();
  for (let i = 0; i <= 2 * count; i++) {
    const p = r.from + (i * part) / 2;
    const span = narrow ? (high - low) / count : Math.abs(r.at(p + part / 2) - r.at(p - part / 2));
    const near = r.at(p);
    const byRatio = isRatio(near) && !narrow;
    // Powers of ten alone, where a tick stands for many of them.
    const [digit, exponent] = byRatio ? nearestRound(Math.abs(near), units / count > 0.4 ? [1] : [1, 2, 5]) : nearestRound(span);
    const times = byRatio ? Math.sign(near) : Math.round(near / power(digit, exponent));
    found.set(Number(`${times * digit}e${exponent}`), exponent);
  }
  const label = (at, exponent) => at === 0 ? "0"
    : Math.abs(at) >= 1e6 || exponent < -4 ? scientific(at, clamp(exponentOf(at) - exponent, 0, 6))
    : fixed(at, Math.max(0, -exponent));
  const shown = [...found].filter(([at]) => at >= low && at <= high).sort(([a], [b]) => a - b);
  return shown.map(([at, exponent]) => [at, label(at, exponent)]);
};

// Labels stay where they have room: `gap` pixels from the one before.
const spaced = (r, ticks, gap) => {
  let last = -Infinity;
  return ticks.map(([at, label]) => {
    const place = r.px(at);
    if (!label || Math.abs(place - last) < gap(label)) return { at, label: "" };
    last = place;
    return { at, label };
  });
};
