// A layered drawing of a graph without circles: every edge leads down.
//
// The layer of a node is its longest path from a source; inside of the layers nodes are moved to
// the mean of their neighbours, a few times down and up, and then pushed apart.  Each step takes a
// time that grows with nodes and edges (times a logarithm), so 50,000 nodes take a part of a second.

export interface Box { width: number; height: number; x: number; y: number; layer: number }
export interface Layout { boxes: Box[]; layers: number[][]; width: number; height: number }

const GAP_X = 24, GAP_Y = 46, SIDE_GAP = 90, SWEEPS = 6;

function layersOf(count: number, into: number[][], out: number[][]): number[] {
  const layer = new Array<number>(count).fill(0);
  const waiting = into.map((list) => list.length);
  const ready: number[] = [];
  for (let i = 0; i < count; i++) if (waiting[i] === 0) ready.push(i);
  for (let at = 0; at < ready.length; at++) {
    const node = ready[at]!;
    for (const next of out[node]!) {
      layer[next] = Math.max(layer[next]!, layer[node]! + 1);
      if (--waiting[next]! === 0) ready.push(next);
    }
  }
  // A source stands right above what first wants it.
  for (let i = 0; i < count; i++) {
    if (into[i]!.length > 0 || out[i]!.length === 0) continue;
    let first = Infinity;
    for (const next of out[i]!) first = Math.min(first, layer[next]!);
    layer[i] = Math.max(first - 1, 0);
  }
  return layer;
}

// Moves the boxes of a layer to the mean of their neighbours, as far as they have room.
function settle(layer: number[], boxes: Box[], neighbours: number[][]): void {
  const wanted = layer.map((node) => {
    const near = neighbours[node]!;
    if (near.length === 0) return boxes[node]!.x;
    let sum = 0;
    for (const n of near) sum += boxes[n]!.x;
    return sum / near.length;
  });
  const order = layer.map((_, i) => i).sort((a, b) => wanted[a]! - wanted[b]! || a - b);
  const sorted = order.map((i) => layer[i]!);
  let right = -Infinity, shift = 0;
  const x = order.map((i, k) => {
    const box = boxes[sorted[k]!]!;
    const place = Math.max(wanted[i]!, right + GAP_X + box.width / 2);
    right = place + box.width / 2;
    shift += wanted[i]! - place;
    return place;
  });
  // Pushing apart went to the right only; the layer as a whole goes back.
  shift /= Math.max(order.length, 1);
  sorted.forEach((node, k) => {
    layer[k] = node;
    boxes[node]!.x = x[k]! + shift;
  });
}

function neighbours(count: number, edges: [number, number][]): { into: number[][]; out: number[][] } {
  const into: number[][] = Array.from({ length: count }, () => []), out: number[][] = Array.from({ length: count }, () => []);
  for (const [from, to] of edges) {
    out[from]!.push(to);
    into[to]!.push(from);
  }
  return { into, out };
}

export function layOut(sizes: { width: number; height: number }[], edges: [number, number][]): Layout {
  const { into, out } = neighbours(sizes.length, edges);
  const layer = layersOf(sizes.length, into, out);
  const layers: number[][] = [];
  const boxes = sizes.map((s, i) => ({ ...s, x: 0, y: 0, layer: layer[i]! }));
  layer.forEach((l, i) => (layers[l] ??= []).push(i));
  let y = 0;
  for (let l = 0; l < layers.length; l++) {
    layers[l] ??= [];
    let x = 0, height = 0;
    for (const node of layers[l]!) {
      const box = boxes[node]!;
      box.x = x + box.width / 2;
      x += box.width + GAP_X;
      height = Math.max(height, box.height);
    }
    for (const node of layers[l]!) {
      boxes[node]!.x -= x / 2;
      boxes[node]!.y = y + height / 2;
    }
    y += height + GAP_Y;
  }
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const down = sweep % 2 === 0;
    for (let k = 0; k < layers.length; k++) {
      settle(layers[down ? k : layers.length - 1 - k]!, boxes, down ? into : out);
    }
  }
  const { left, right } = bounds(boxes);
  for (const b of boxes) b.x -= left;
  return { boxes, layers, width: right - left, height: y };
}

function bounds(boxes: Box[]): { left: number; right: number } {
  let left = Infinity, right = -Infinity;
  for (const b of boxes) {
    left = Math.min(left, b.x - b.width / 2);
    right = Math.max(right, b.x + b.width / 2);
  }
  return { left, right };
}

// What is drawn beside the rest, to its right.
export interface Beside {
  isBeside: boolean[];
  partners: number[];  // of those beside: the node whose layer they share; -1: they have none
}

// The nodes that are not beside are laid out alone; the others stand in their layers, each beside
// its partner or, without one, a layer above what leads to it.  So what flows down on the left, as
// values do, flows up again on the right, as gradients do.
export function layOutBeside(sizes: { width: number; height: number }[], edges: [number, number][], beside: Beside): Layout {
  const { isBeside } = beside;
  const main = sizes.map((_, i) => i).filter((i) => !isBeside[i]);
  if (main.length === 0 || main.length === sizes.length) return layOut(sizes, edges);
  const place = new Map(main.map((node, i) => [node, i]));
  const inner = edges.filter(([from, to]) => !isBeside[from] && !isBeside[to]).map(([from, to]): [number, number] => [place.get(from)!, place.get(to)!]);
  const first = layOut(main.map((i) => sizes[i]!), inner);
  const boxes = sizes.map((s): Box => ({ ...s, x: 0, y: 0, layer: 0 }));
  main.forEach((node, i) => { boxes[node] = first.boxes[i]!; });
  const layers = first.layers.map((layer) => layer.map((i) => main[i]!));
  const sideEdges = edges.filter(([from, to]) => isBeside[from] && isBeside[to]);
  const sides = sideLayers(boxes, sideEdges, beside, layers.length);
  const { into, out } = neighbours(sizes.length, sideEdges);
  placeSides(boxes, sides, into, out, first);
  sides.forEach((side, l) => layers[l]!.push(...side));
  const { right } = bounds(boxes);
  return { boxes, layers, width: right, height: first.height };
}

// Of each layer, those beside.  Edges between them lead up, so they are followed from the bottom;
// what nothing leads to stands below what wants it.
function sideLayers(boxes: Box[], edges: [number, number][], { isBeside, partners }: Beside, count: number): number[][] {
  const { into, out } = neighbours(boxes.length, edges);
  const depth = layersOf(boxes.length, into, out);
  const nodes = boxes.map((_, i) => i).filter((i) => isBeside[i]).sort((a, b) => depth[a]! - depth[b]! || a - b);
  const isFree = (node: number) => partners[node]! < 0 && into[node]!.length === 0;
  for (const node of nodes) {
    const partner = partners[node]!, known = into[node]!.filter((n) => !isFree(n)).map((n) => boxes[n]!.layer);
    boxes[node]!.layer = partner >= 0 ? boxes[partner]!.layer : known.length > 0 ? Math.max(Math.min(...known) - 1, 0) : count - 1;
  }
  for (const node of nodes) {
    if (!isFree(node) || out[node]!.length === 0) continue;
    boxes[node]!.layer = Math.min(Math.max(...out[node]!.map((n) => boxes[n]!.layer)) + 1, count - 1);
  }
  const sides: number[][] = Array.from({ length: count }, () => []);
  for (const node of nodes) sides[boxes[node]!.layer]!.push(node);
  return sides;
}

function placeSides(boxes: Box[], sides: number[][], into: number[][], out: number[][], main: Layout): void {
  const heights = main.layers.map((layer) => main.boxes[layer[0]!]?.y ?? 0);
  sides.forEach((side, l) => {
    let x = main.width + SIDE_GAP;
    for (const node of side) {
      const box = boxes[node]!;
      box.x = x + box.width / 2;
      box.y = heights[l]!;
      x += box.width + GAP_X;
    }
  });
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    for (const side of sides) settle(side, boxes, sweep % 2 === 0 ? into : out);
  }
  const all = sides.flat();
  const { left } = bounds(all.map((node) => boxes[node]!));
  for (const node of all) boxes[node]!.x += main.width + SIDE_GAP - left;
}
