// The loops of a kernel as a picture: each range of what is computed, cut as the edits cut it, down
// to the tile that is computed at once.
import { element } from "./dom.js";
import { count } from "./format.js";

// A range, and what was made of it: ranges that it was split into, the outer one first.
export interface Range { name: string; size: number; isReduction: boolean; parts: Range[]; bound: string }

const REDUCE = "1";  // kind of a range in the text of a graph

// "%1 = range index [1, 32, 0]": number, size, kind.
function rangesOf(graph: string): Range[] {
  return [...graph.matchAll(/= range \S+ \[(\d+), (\d+), (\d+)\]/g)]
    .map((m): Range => ({ name: `r${m[1]}`, size: Number(m[2]), isReduction: m[3] === REDUCE, parts: [], bound: "" }))
    .sort((a, b) => Number(a.name.slice(1)) - Number(b.name.slice(1)));
}

// The ranges after the edits; those that were merged are one.  Edits that make no range of another
// change nothing here.
export function cutRanges(graph: string, edits: string): Range[] {
  let roots = rangesOf(graph);
  const all = new Map(roots.map((r) => [r.name, r]));
  let next = roots.reduce((n, r) => Math.max(n, Number(r.name.slice(1)) + 1), 0);
  const make = (size: number, isReduction: boolean): Range => {
    const range: Range = { name: `r${next++}`, size, isReduction, parts: [], bound: "" };
    all.set(range.name, range);
    return range;
  };
  for (const edit of edits.split(";").map((e) => e.trim().split(/\s+/))) {
    const [kind = "", first = "", second = "", third = ""] = edit;
    const range = all.get(first);
    if (!range) continue;
    if ((kind === "split" || kind === "split_reduction") && second === "by" && Number(third) > 0) {
      range.parts = [make(Math.ceil(range.size / Number(third)), range.isReduction), make(Number(third), range.isReduction)];
    } else if (kind === "merge" && all.has(second)) {
      const other = all.get(second)!;
      const merged = make(range.size * other.size, range.isReduction);
      roots = roots.flatMap((r) => r === range ? [merged] : r === other ? [] : [r]);
    } else if (kind === "bind") {
      range.bound = second;
    }
  }
  return roots;
}

const leaves = (range: Range): Range[] => range.parts.length === 0 ? [range] : range.parts.flatMap(leaves);

const MOST_CELLS = 64;

// One range: a bar for each level, cut into as many cells as the level has turns.
function bars(range: Range): HTMLElement {
  const rows: HTMLElement[] = [];
  for (const level of leaves(range)) {
    const cells = element("div", { class: `cells ${level.bound || "turns"}` });
    for (let i = 0; i < Math.min(level.size, MOST_CELLS); i++) cells.append(element("i"));
    const what = level.bound === "" ? "loop" : level.bound;
    rows.push(element("div", { class: "level" }, element("span", {}, `${level.name}: ${count(level.size)} × ${what}`), cells));
  }
  const title = `${range.isReduction ? "reduced over" : "computed for"} ${count(range.size)}${range.parts.length > 0 ? `, as ${leaves(range).map((l) => l.size).join(" × ")}` : ""}`;
  return element("figure", { class: "tile" }, element("figcaption", {}, title), ...rows);
}

const isAtOnce = (r: Range): boolean => r.bound === "lane" || r.bound === "unroll";
const product = (of: Range[]): number => of.reduce((n, r) => n * r.size, 1);

// The sizes of the blocks that a range is cut into, the largest first, and what a turn of the innermost
// loop takes of it.
function cuts(range: Range): { blocks: number[]; atOnce: number } {
  const parts = leaves(range), inner = parts.map((_, i) => product(parts.slice(i + 1)));
  return { blocks: inner.filter((n) => n > 1 && n < range.size), atOnce: product(parts.filter(isAtOnce)) };
}

const WIDTH = 360, HEIGHT = 220, MARGIN = 20;  // of the plane, and of the names beside it

function shape<K extends keyof SVGElementTagNameMap>(tag: K, attributes: Record<string, string | number>, text = ""): SVGElementTagNameMap[K] {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, String(value));
  e.textContent = text;
  return e;
}

// What is computed as a plane: the two ranges of which most is computed at once, cut as the edits cut
// them, and the tile of one turn.
function plane(ranges: Range[]): SVGElement | null {
  const axes = ranges.filter((r) => !r.isReduction && r.size > 1).sort((a, b) => cuts(b).atOnce - cuts(a).atOnce || b.size - a.size).slice(0, 2);
  if (axes.length < 2) return null;
  const [down, across] = axes.sort((a, b) => ranges.indexOf(a) - ranges.indexOf(b)) as [Range, Range];
  const svg = shape("svg", { class: "plane", viewBox: `0 0 ${WIDTH + MARGIN} ${HEIGHT + MARGIN}`, role: "img", "aria-label": "The tile of one turn in what is computed" });
  const [x, y] = [(n: number) => MARGIN + n / across.size * WIDTH, (n: number) => MARGIN + n / down.size * HEIGHT];
  const name = (r: Range) => `${r.name}: ${count(r.size)}`;
  svg.append(shape("rect", { class: "whole", x: x(0), y: y(0), width: WIDTH, height: HEIGHT }),
    shape("rect", { class: "tile-at-once", x: x(0), y: y(0), width: cuts(across).atOnce / across.size * WIDTH, height: cuts(down).atOnce / down.size * HEIGHT }),
    shape("text", { x: x(0), y: MARGIN - 6 }, name(across)), shape("text", { x: 0, y: 0, transform: `translate(${MARGIN - 6} ${y(down.size)}) rotate(-90)` }, name(down)));
  for (const [range, isAcross] of [[across, true], [down, false]] as const) {
    cuts(range).blocks.forEach((block, level) => {
      if (range.size / block > MOST_CELLS) return;
      for (let n = block; n < range.size; n += block) {
        svg.append(shape("line", { class: level === 0 ? "cut" : "cut inner", ...isAcross ? { x1: x(n), x2: x(n), y1: y(0), y2: y(down.size) } : { x1: x(0), x2: x(across.size), y1: y(n), y2: y(n) } }));
      }
    });
  }
  return svg;
}

// The picture; each level lies inside of one cell of the level above it.
export function tiles(graph: string, edits: string): HTMLElement {
  const ranges = cutRanges(graph, edits);
  if (ranges.length === 0) return element("p", { class: "faint" }, "No loops.");
  const atOnce = ranges.flatMap(leaves).filter(isAtOnce), picture = plane(ranges);
  const computed = atOnce.filter((r) => !r.isReduction);
  return element("div", { class: "tiles" },
    element("p", {}, atOnce.length === 0 ? "Nothing is computed at once: each turn of the loops computes one value."
      : `A turn of the innermost loop computes a tile of ${count(product(computed))} ${product(computed) === 1 ? "value" : "values"}: ${atOnce.map((r) => `${r.size} (${r.name}, ${r.bound}${r.isReduction ? ", reduced" : ""})`).join(" × ")}.`),
    ...picture ? [picture] : [], ...ranges.map(bars));
}
