// The views of the page of runs: a card for each tag.
import { Chart, type Line, number } from "./chart.js";
import { Canvas, button, color, element, palette } from "./dom.js";
import { type HistogramValue, type ImageValue, type Note, type Notes, type Runs, smoothed } from "./events.js";
import { count } from "./format.js";
import type { View } from "./shell.js";

export interface Settings { hidden: Set<number>; smoothing: number; isByTime: boolean }

const runColor = (run: number): string => color(`series-${run % 8 + 1}`);

interface Card { root: HTMLElement; update(): void }

// A card for each tag whose name holds what is looked for; cards stay when more comes.
abstract class Cards<T> implements View {
  readonly root = element("section", { class: "view" });
  readonly cards = new Map<string, Card>();
  protected bar = element("div", { class: "bar" });
  private grid = element("div", { class: "cards" });
  private search = element("input", { type: "search", placeholder: "find by tag  /", "aria-label": "Find by tag" });
  private none = element("p", { class: "faint bar" });

  constructor(protected runs: Runs, protected settings: Settings, private notes: Notes<T>, what: string) {
    this.root.setAttribute("aria-label", what);
    this.none.textContent = `No run has noted ${what} yet.`;
    this.bar.append(this.search);
    this.search.addEventListener("input", () => this.update());
    this.root.append(this.bar, this.none, this.grid);
  }

  protected abstract card(tag: string, notes: Map<number, Note<T>[]>): Card;

  update(): void {
    const wanted = this.search.value.toLowerCase();
    const tags = [...this.notes.keys()].filter((tag) => tag.toLowerCase().includes(wanted)).sort();
    for (const tag of tags) {
      if (!this.cards.has(tag)) this.cards.set(tag, this.card(tag, this.notes.get(tag)!));
    }
    const roots = tags.map((tag) => this.cards.get(tag)!.root);
    if (roots.length !== this.grid.childElementCount || roots.some((r, i) => this.grid.children[i] !== r)) this.grid.replaceChildren(...roots);
    this.none.hidden = tags.length > 0;
    for (const tag of tags) this.cards.get(tag)!.update();
  }
  shown(): void { this.update(); }
  restyle(): void { this.update(); }
  focusSearch(): void { this.search.focus(); }
  key(_: KeyboardEvent): boolean { return false; }

  protected shownRuns(notes: Map<number, Note<T>[]>): [number, Note<T>[]][] {
    return [...notes].filter(([run]) => !this.settings.hidden.has(run)).sort(([a], [b]) => a - b);
  }
  protected name(run: number): string { return this.runs.names[run] ?? "?"; }
}

function frame(tag: string, ...children: HTMLElement[]): HTMLElement {
  return element("figure", { class: "card" }, element("h2", { title: tag }, tag), ...children);
}

// ---- scalars ------------------------------------------------------------------------------------

export class Scalars extends Cards<number> {
  private slider = element("input", { type: "range", min: "0", max: "0.99", step: "0.01", "aria-label": "Smoothing" });
  private output = element("output");
  private axis = button("By step", "X", () => this.turnAxis());

  constructor(runs: Runs, settings: Settings) {
    super(runs, settings, runs.scalars, "scalars");
    this.slider.value = String(settings.smoothing);
    this.slider.addEventListener("input", () => this.smooth(Number(this.slider.value)));
    this.bar.append(element("span", { class: "faint" }, "smoothing"), this.slider, this.output, this.axis);
    this.smooth(settings.smoothing);
  }
  smooth(weight: number): void {
    this.settings.smoothing = Math.min(Math.max(weight, 0), 0.99);
    this.slider.value = String(this.settings.smoothing);
    this.output.textContent = this.settings.smoothing.toFixed(2);
    this.update();
  }
  turnAxis(): void {
    this.settings.isByTime = !this.settings.isByTime;
    this.axis.textContent = this.settings.isByTime ? "By time" : "By step";
    this.update();
  }
  override key(e: KeyboardEvent): boolean {
    if (e.key === "s") this.smooth(this.settings.smoothing + 0.05);
    else if (e.key === "S") this.smooth(this.settings.smoothing - 0.05);
    else if (e.key === "x") this.turnAxis();
    else return false;
    return true;
  }

  protected card(tag: string, notes: Map<number, Note<number>[]>): Card & { chart: Chart } {
    const values = element("figcaption");
    const last = () => this.shownRuns(notes).map(([run, list]): [string, string] =>
      [this.name(run), `${number(list.at(-1)!.value)} at ${count(list.at(-1)!.step)}`]);
    const say = (texts: [string, string][]) => values.replaceChildren(
      ...(texts.length > 0 ? texts : last()).map(([name, text]) => element("span", {}, `${name}: ${text}`)));
    const chart = new Chart(tag, say);
    return { root: frame(tag, chart.view.canvas, values), chart, update: () => {
      chart.show({ lines: this.shownRuns(notes).flatMap(([run, list]) => this.lines(run, list)), xLabel: this.xLabel() });
      say([]);
    } };
  }
  private xLabel(): (x: number) => string {
    return this.settings.isByTime ? (x) => x >= 3600 ? `${(x / 3600).toFixed(1)} h` : x >= 60 ? `${(x / 60).toFixed(1)} min` : `${number(x)} s`
      : (x) => Number.isInteger(x) ? count(x) : "";
  }
  // A run that went on from a checkpoint comes back to steps that it had: in the order of steps.
  private lines(run: number, list: Note<number>[]): Line[] {
    const notes = this.settings.isByTime ? list : [...list].sort((a, b) => a.step - b.step);
    const xs = notes.map((n) => this.settings.isByTime ? n.time - list[0]!.time : n.step);
    const ys = notes.map((n) => n.value), name = this.name(run), color_ = runColor(run);
    if (this.settings.smoothing === 0 || ys.length < 3) return [{ name, color: color_, xs, ys }];
    return [{ name, color: color_, faint: true, xs, ys }, { name, color: color_, xs, ys: smoothed(ys, this.settings.smoothing) }];
  }
}

// ---- histograms ---------------------------------------------------------------------------------

// Steps from left to right, values from bottom to top; the darker, the more elements.
export class Histograms extends Cards<HistogramValue> {
  constructor(runs: Runs, settings: Settings) { super(runs, settings, runs.histograms, "histograms"); }

  protected card(tag: string, notes: Map<number, Note<HistogramValue>[]>): Card {
    const canvases = new Map<number, Canvas>(), places = element("div");
    return { root: frame(tag, places), update: () => {
      const shown = this.shownRuns(notes);
      for (const [run, list] of shown) {
        if (!canvases.has(run)) canvases.set(run, new Canvas(`${tag} of ${this.name(run)}`, (c) => draw(c, canvases.get(run)!, list, runColor(run))));
      }
      const roots = shown.map(([run]) => canvases.get(run)!.canvas);
      if (roots.length !== places.childElementCount || roots.some((r, i) => places.children[i] !== r)) places.replaceChildren(...roots);
      for (const [run] of shown) canvases.get(run)!.redraw();
    } };
  }
}
function draw(c: CanvasRenderingContext2D, view: Canvas, list: Note<HistogramValue>[], ink: string): void {
  const p = palette(), left = 62, bottom = view.height - 22, top = 8, right = view.width - 10;
  c.fillStyle = p.ground;
  c.fillRect(0, 0, view.width, view.height);
  const all = list.filter((n) => n.value.counts.length > 0);
  if (all.length === 0) return;
  const low = Math.min(...all.map((n) => n.value.least)), high = Math.max(...all.map((n) => n.value.most));
  const room = (high - low || Math.abs(high) || 1) * 0.04;
  const y = (v: number) => bottom - (v - low + room) / (high - low + 2 * room) * (bottom - top);
  const wide = (right - left) / all.length;
  all.forEach(({ value: h }, i) => {
    // How many there are in a part of the range: buckets differ in width.
    const dense = h.counts.map((n, b) => b === 0 ? 0 : n / Math.max(Math.min(h.limits[b]!, h.most) - Math.max(h.limits[b - 1]!, h.least), room / 20));
    const most = Math.max(...dense);
    c.fillStyle = ink;
    for (let b = 1; b < h.counts.length; b++) {
      if (dense[b] === 0) continue;
      const from = y(Math.max(h.limits[b - 1]!, h.least)), to = y(Math.min(h.limits[b]!, h.most));
      c.globalAlpha = 0.12 + 0.88 * Math.sqrt(dense[b]! / most);
      c.fillRect(left + i * wide, to, Math.max(wide - (wide > 6 ? 1 : 0), 0.5), Math.max(from - to, 1));
    }
  });
  c.globalAlpha = 1;
  c.fillStyle = p.faint;
  c.font = "11px system-ui, sans-serif";
  c.textBaseline = "middle";
  c.textAlign = "right";
  for (const v of [low, (low + high) / 2, high]) c.fillText(number(v), left - 6, y(v));
  c.textAlign = "left";
  c.fillText(`step ${count(all[0]!.step)}`, left, bottom + 12);
  c.textAlign = "right";
  c.fillText(count(all.at(-1)!.step), right, bottom + 12);
  c.textAlign = "left";
}

// ---- images and texts ---------------------------------------------------------------------------

export class Images extends Cards<ImageValue> {
  constructor(runs: Runs, settings: Settings) { super(runs, settings, runs.images, "images"); }

  protected card(tag: string, notes: Map<number, Note<ImageValue>[]>): Card {
    const parts = new Map<number, { root: HTMLElement; slider: HTMLInputElement; show(): void }>(), places = element("div");
    const part = (run: number, list: Note<ImageValue>[]) => {
      const picture = element("img", { class: "picture" }), caption = element("figcaption");
      const slider = element("input", { type: "range", min: "0", "aria-label": `Step of ${tag}` });
      const show = () => {
        const isLast = slider.max === "" || slider.value === slider.max;
        slider.max = String(list.length - 1);
        if (isLast) slider.value = slider.max;
        slider.hidden = list.length < 2;
        const { step, value } = list[Number(slider.value)]!;
        picture.src = `data:image/png;base64,${value.png}`;
        picture.alt = `${tag}, step ${step}`;
        picture.style.width = `${Math.min(value.width * Math.max(Math.floor(224 / Math.max(value.width, 1)), 1), 400)}px`;
        caption.textContent = `${this.name(run)}, step ${count(step)}, ${value.width} × ${value.height}`;
      };
      slider.addEventListener("input", show);
      return { root: element("div", {}, picture, slider, caption), slider, show };
    };
    return { root: frame(tag, places), update: () => {
      const shown = this.shownRuns(notes);
      for (const [run, list] of shown) if (!parts.has(run)) parts.set(run, part(run, list));
      places.replaceChildren(...shown.map(([run]) => parts.get(run)!.root));
      for (const [run] of shown) parts.get(run)!.show();
    } };
  }
}

export class Texts extends Cards<string> {
  constructor(runs: Runs, settings: Settings) { super(runs, settings, runs.texts, "texts"); }

  protected card(tag: string, notes: Map<number, Note<string>[]>): Card {
    const body = element("tbody");
    return { root: frame(tag, element("table", {}, body)), update: () => {
      body.replaceChildren(...this.shownRuns(notes).flatMap(([run, list]) => list.slice(-200).map(({ step, value }) =>
        element("tr", {}, element("td", {}, this.name(run)), element("td", { class: "number" }, count(step)), element("td", { class: "name text" }, value)))));
    } };
  }
}
