// colours_test.mjs PAGE: the colours of the pages can be told apart by those who see two of the three
// primaries alone, and texts on them can be read.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const css = readFileSync(join(process.argv[2], "src", "style.css"), "utf8");
const of = (name, from = css) => new RegExp(`--${name}: (#[0-9a-f]{6})`).exec(from)[1];
const series = [1, 2, 3, 4, 5, 6, 7, 8].map((n) => of(`series-${n}`));
const themes = { light: css, dark: css.slice(css.indexOf('data-theme="dark"')) };

const linear = (c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
const rgb = (hex) => [1, 3, 5].map((i) => linear(parseInt(hex.slice(i, i + 2), 16) / 255));
// What is left of linear sRGB without one kind of cones (Machado, Oliveira, Fernandes 2009).
const visions = {
  "all cones": [1, 0, 0, 0, 1, 0, 0, 0, 1],
  protanopia: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  deuteranopia: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881],
  tritanopia: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.303900],
};
const seen = (m, v) => [0, 3, 6].map((r) => Math.min(Math.max(m[r] * v[0] + m[r + 1] * v[1] + m[r + 2] * v[2], 0), 1));
// CIE 1976 L*a*b*, in which distances are what the eye makes of them; 2.3 can just be seen.
function lab([r, g, b]) {
  const f = (t) => t > 216 / 24389 ? Math.cbrt(t) : (24389 / 27 * t + 16) / 116;
  const x = f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505), y = f(0.2126 * r + 0.7152 * g + 0.0722 * b), z = f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}
for (const [vision, m] of Object.entries(visions)) {
  const colours = series.map((hex) => lab(seen(m, rgb(hex))));
  for (let i = 0; i < colours.length; i++) for (let j = 0; j < i; j++) {
    const distance = Math.hypot(...colours[i].map((v, k) => v - colours[j][k]));
    assert.ok(distance > 9, `with ${vision}, ${series[i]} and ${series[j]} are ${distance.toFixed(1)} apart`);
  }
}

// What lies beside each other as an area: memory over time, and lines that are gone or made (which a
// sign tells apart, too).
for (const [theme, from] of Object.entries(themes)) for (const [vision, m] of Object.entries(visions)) {
  for (const areas of [["ground", "room", "series-2", "series-3"], ["ground", "gone", "made"]]) {
    const colours = areas.map((name) => lab(seen(m, rgb(of(name, name.startsWith("series") ? css : from)))));
    for (let i = 0; i < areas.length; i++) for (let j = 0; j < i; j++) {
      const distance = Math.hypot(...colours[i].map((v, k) => v - colours[j][k]));
      assert.ok(distance > 9, `${theme}, with ${vision}: ${areas[i]} and ${areas[j]} are ${distance.toFixed(1)} apart`);
    }
  }
}

// Contrast as WCAG 2 counts it: 4.5 for text.
const luminance = (hex) => { const [r, g, b] = rgb(hex); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const contrast = (a, b) => { const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y); return (high + 0.05) / (low + 0.05); };
for (const colour of series) assert.ok(contrast("#111111", colour) >= 4.5, `texts on ${colour}`);
for (const [theme, from] of Object.entries(themes)) {
  for (const text of ["text", "faint", "accent"]) for (const ground of ["ground", "panel"]) {
    const found = contrast(of(text, from), of(ground, from));
    assert.ok(found >= 4.5, `${theme}: ${text} on ${ground} has a contrast of ${found.toFixed(2)}`);
  }
  for (const ground of ["gone", "made"]) assert.ok(contrast(of("text", from), of(ground, from)) >= 4.5, `${theme}: text on ${ground}`);
}
console.log("ok: colours can be told apart, and texts be read");
