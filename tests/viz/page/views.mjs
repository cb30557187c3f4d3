// views.mjs -- what the tests of the page of traces share: its views, and what is read off them.
import assert from "node:assert/strict";
import { colourOf, colours, press, settle, text } from "../browser.mjs";

export const TIMELINE = 0, MEMORY = 1, KERNELS = 2, GRAPH = 3, REWRITES = 4, COMPARE = 5;
export const REAL = ["step", "block"];  // traces of real work: Fashion-MNIST and the transformer block

// f of a view, with more arguments.
export const of = async (page, view, f, ...rest) => (await page.evaluateHandle((n) => croze.page.view(n), view)).evaluate(f, ...rest);

// Types into the search of the view, and leaves it.
export async function search(page, words) {
  await press(page, "/");
  await page.$eval("#view input[type=search]", (e) => { e.value = ""; });
  await page.keyboard.type(words);
  if (words === "") await page.$eval("#view input[type=search]", (e) => { e.dispatchEvent(new Event("input")); });
  await page.keyboard.press("Escape");
  await settle(page);
}

// To a tab of the chosen kernel, by the keyboard.
export async function turnTo(page, tab) {
  for (let i = 0; i < 9 && await text(page, ".tabs [aria-selected=true]") !== tab; i++) await press(page, "ArrowRight");
  assert.equal(await text(page, ".tabs [aria-selected=true]"), tab);
}

// "12.3 ms", "1.50 MiB", "56.7 %": holds what is shown against the number, to its last digit.
const UNITS = { ns: 1, µs: 1e3, ms: 1e6, s: 1e9, B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, "%": 0.01, "": 1 };
export function assertShows(shown, value, what = "") {
  const [, number, unit] = /(-?[\d.,]+) ?([^\s,]*)/.exec(shown.trim());
  const digits = number.split(".")[1]?.length ?? 0, last = 10 ** -digits * UNITS[unit];
  assert.ok(Math.abs(Number(number.replaceAll(",", "")) * UNITS[unit] - value) <= last * 0.51, `${what} ${shown} is not ${value}`);
}
// Of the facts of the details: what stands beside a name.
export const fact = (page, name) => page.$$eval(".details dl", (lists, n) => {
  for (const list of lists) for (const dt of list.querySelectorAll("dt")) if (dt.textContent === n) return dt.nextElementSibling.textContent;
  return null;
}, name);

// How many pixels of a column of the canvas, from y on, have a colour of the style sheet.
export const column = async (page, { x, y, height, colour }) => (await colours(page, "#view canvas", { x, y, width: 1, height }))[await colourOf(page, colour)] ?? 0;
