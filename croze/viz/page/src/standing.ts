// The last measurements of each machine beside the best of their peers, the worst first, and under
// the roof of the processor.
import { number } from "./chart.js";
import { element } from "./dom.js";
import { type Best, type Figure, bestPeer, geometricMean } from "./figures.js";
import { count } from "./format.js";
import { Roofline } from "./roofline.js";
import type { View } from "./shell.js";

const WIDEST = 16;  // times as fast or as slow; what is beyond ends at the edge

export class Standing implements View {
  readonly root = element("section", { class: "view", "aria-label": "Peers" });
  readonly roofs: Roofline[] = [];
  private search = element("input", { type: "search", placeholder: "find by name  /", "aria-label": "Find figures by name" });
  private body = element("div", { class: "scroll standings" });

  constructor(private machines: [string, Figure[]][]) {
    this.search.addEventListener("input", () => this.show());
    this.root.append(element("div", { class: "bar" }, this.search,
      element("span", { class: "faint" }, "Our speed relative to the best peer of the same run; both scales are logarithmic.")), this.body);
  }

  shown(): void { this.show(); }
  restyle(): void { this.show(); }
  focusSearch(): void { this.search.focus(); }
  key(_: KeyboardEvent): boolean { return false; }

  private show(): void {
    this.roofs.length = 0;
    const wanted = this.search.value.toLowerCase();
    this.body.replaceChildren(...this.machines.flatMap(([name, figures]) => this.machine(name, figures.filter((f) => f.name.toLowerCase().includes(wanted)))));
  }
  private machine(name: string, figures: Figure[]): HTMLElement[] {
    const rows = figures.map((figure) => ({ figure, best: bestPeer(figure) }))
      .filter((row): row is { figure: Figure; best: Best } => row.best !== null).sort((a, b) => a.best.ratio - b.best.ratio);
    const says = rows.length === 0 ? "No figure has peers."
      : `${count(rows.length)} figures with peers: ${number(geometricMean(rows.map((r) => r.best.ratio)))} × the best in geometric mean, ${count(rows.filter((r) => r.best.ratio < 1).length)} below 1`;
    return [element("h2", {}, name), element("p", {}, says), ...this.roof(figures), ...(rows.length > 0 ? [this.table(rows)] : [])];
  }

  // What does arithmetic, by its operations for a byte; the least that it has to move counts.
  private roof(figures: Figure[]): HTMLElement[] {
    const peak = (unit: string) => Math.max(0, ...figures.filter((f) => f.unit === unit).map((f) => f.peers["peak"] ?? 0));
    const roof = { flops: peak("GFLOP/s"), bytes: peak("GB/s") };
    const points = figures.flatMap((f, kind) => f.intensity && f.unit === "GFLOP/s" ? [{ kind, x: f.intensity, y: f.points.at(-1)!.value }] : []);
    if (roof.flops === 0 || roof.bytes === 0 || points.length === 0) return [];
    this.roofs.push(new Roofline("Roofline of the figures", points, roof));
    return [element("figure", { class: "roofline" }, this.roofs.at(-1)!.view.canvas,
      element("figcaption", {}, `The roof: ${number(roof.flops)} GFLOP/s, ${number(roof.bytes)} GB/s. What finds its data in caches may lie above it.`))];
  }

  private table(rows: { figure: Figure; best: Best }[]): HTMLElement {
    const head = element("tr", {}, ...["figure", "ratio", "", "ours", "best peer", "its", "unit"].map((t) => element("th", { scope: "col" }, t)));
    const body = element("tbody", {}, ...rows.map(({ figure, best }) => element("tr", {},
      element("td", { class: "name" }, figure.name), element("td", { class: "number" }, number(best.ratio)), element("td", {}, bar(best.ratio)),
      element("td", { class: "number" }, number(figure.points.at(-1)!.value)), element("td", {}, best.name),
      element("td", { class: "number" }, number(best.value)), element("td", {}, figure.unit))));
    return element("table", { class: "standing" }, element("thead", {}, head), body);
  }
}

// From the middle, which is 1, to the left where we are slower and to the right where we are faster.
function bar(ratio: number): HTMLElement {
  const reach = Math.max(-1, Math.min(1, Math.log(ratio) / Math.log(WIDEST)));
  const fill = element("i", { class: reach < 0 ? "slower" : "faster" });
  fill.style.left = `${50 + Math.min(reach, 0) * 50}%`;
  fill.style.width = `${Math.abs(reach) * 50}%`;
  return element("div", { class: "ratio" }, fill);
}
