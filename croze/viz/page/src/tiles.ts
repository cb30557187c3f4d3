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

// A part of the plane, in parts of its sides.
function area(kind: string, at: { left?: number; top?: number; width?: number; height?: number }): HTMLElement {
  const e = element("i", { class: kind });
  for (const side of ["left", "top", "width", "height"] as const) if (at[side] !== undefined) e.style[side] = `${at[side] * 100}%`;
  return e;
}

// What is computed as a plane: the two ranges of which most is computed at once, cut as the edits cut
// them, and the tile of one turn.
function plane(ranges: Range[]): HTMLElement | null {
  const axes = ranges.filter((r) => !r.isReduction && r.size > 1).sort((a, b) => cuts(b).atOnce - cuts(a).atOnce || b.size - a.size).slice(0, 2);
  if (axes.length < 2) return null;
  const [down, across] = axes.sort((a, b) => ranges.indexOf(a) - ranges.indexOf(b)) as [Range, Range];
  const box = element("div", { class: "plane", role: "img", "aria-label": "The tile of one turn in what is computed" },
    area("tile-at-once", { left: 0, top: 0, width: cuts(across).atOnce / across.size, height: cuts(down).atOnce / down.size }));
  for (const [range, kind, side] of [[across, "upright", "left"], [down, "level-line", "top"]] as const) {
    cuts(range).blocks.forEach((block, level) => {
      if (range.size / block > MOST_CELLS) return;
      for (let n = block; n < range.size; n += block) box.append(area(`cut ${kind}${level > 0 ? " inner" : ""}`, { [side]: n / range.size }));
    });
  }
  const name = (r: Range) => element("span", {}, `${r.name}: ${count(r.size)}`);
  return element("figure", { class: "planes" }, element("figcaption", {}, name(across), " across, ", name(down), " down"), box);
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
