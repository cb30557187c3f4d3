// Two traces side by side: which kernels are new, gone or changed, and what that does to time and to
// memory.  What counts as the same is said in viz/compare.h.
import { color, element } from "./dom.js";
import { bytes, count, duration } from "./format.js";
import type { LaunchKind, Model } from "./model.js";
import type { View } from "./shell.js";

type What = "same" | "changed" | "new" | "gone";
export interface ComparedKernel { name: string; what: What; kind: number; baseLaunches: number; launches: number; baseNs: number; ns: number }

function codeOf(model: Model, kind: LaunchKind): string {
  const texts = kind.kernels.map((k) => {
    const { source, program } = model.trace.kernels[k]!;
    return model.trace.text(source) || model.trace.text(program);
  });
  return [...new Set(texts)].sort().join("\n\n");
}

// The largest difference in time first.
export function compare(base: Model, model: Model): ComparedKernel[] {
  const rows = new Map<string, ComparedKernel>(), baseKinds = new Map<string, LaunchKind>();
  for (const k of base.kinds) {
    if (k.launches === 0) continue;
    baseKinds.set(k.name, k);
    rows.set(k.name, { name: k.name, what: "gone", kind: -1, baseLaunches: k.launches, launches: 0, baseNs: k.ns, ns: 0 });
  }
  model.kinds.forEach((k, kind) => {
    if (k.launches === 0) return;
    const before = baseKinds.get(k.name), row = rows.get(k.name);
    const what = !before ? "new" : codeOf(base, before) === codeOf(model, k) ? "same" : "changed";
    rows.set(k.name, { name: k.name, what, kind, baseLaunches: row?.baseLaunches ?? 0, launches: k.launches, baseNs: row?.baseNs ?? 0, ns: k.ns });
  });
  return [...rows.values()].sort((a, b) => Math.abs(b.ns - b.baseNs) - Math.abs(a.ns - a.baseNs));
}

const signed = (value: number, text: (v: number) => string): string => `${value > 0 ? "+" : value < 0 ? "−" : ""}${text(Math.abs(value))}`;
const part = (now: number, base: number): string => base > 0 && now > 0 ? `${signed((now / base - 1) * 100, (v) => v.toFixed(1))} %` : "";

export class Compare implements View {
  readonly root = element("section", { class: "view", "aria-label": "Compare" });
  readonly rows: ComparedKernel[];
  private body = element("tbody");
  private search = element("input", { type: "search", placeholder: "find by name  /", "aria-label": "Find kernels by name" });
  private only = element("input", { type: "checkbox" });
  private status = element("span", { class: "faint", role: "status" });

  constructor(private base: Model, private model: Model, private openKernel: (kind: number) => void) {
    this.rows = compare(base, model);
    for (const input of [this.search, this.only]) input.addEventListener("input", () => this.show());
    const head = element("tr", {}, ...["kernel", "", "before", "now", "difference", "", "launches"].map((title, i) =>
      element("th", { scope: "col", class: i > 1 ? "number" : "" }, title)));
    this.root.append(this.summary(), element("div", { class: "bar" }, this.search,
      element("label", { class: "key" }, this.only, "only those that are not the same"), this.status),
    element("div", { class: "scroll list" }, element("table", {}, element("thead", {}, head), this.body)));
  }

  shown(): void { this.show(); }
  restyle(): void { this.show(); }
  focusSearch(): void { this.search.focus(); }
  key(_: KeyboardEvent): boolean { return false; }

  // Time of all kernels, and the most memory at once on each device.
  private summary(): HTMLElement {
    const { base, model } = this, table = element("tbody");
    const row = (name: string, before: number, now: number, text: (v: number) => string) => table.append(element("tr", {},
      element("th", { scope: "row" }, name), ...[text(before), text(now), signed(now - before, text), part(now, before)].map((t) => element("td", { class: "number" }, t))));
    row("time in kernels", base.kernelTime, model.kernelTime, duration);
    row("launches", base.trace.launches.length, model.trace.launches.length, count);
    const devices = new Set([...base.memory, ...model.memory].map((m) => m.device));
    const peak = (of: Model, device: string) => of.memory.find((m) => m.device === device)?.peak ?? 0;
    for (const device of devices) row(`most memory on ${device}`, peak(base, device), peak(model, device), bytes);
    const head = element("tr", {}, ...["", "before", "now", "difference", ""].map((t) => element("th", { scope: "col", class: "number" }, t)));
    return element("div", { class: "details summary" }, element("table", {}, element("thead", {}, head), table));
  }

  private show(): void {
    const wanted = this.search.value.toLowerCase();
    const rows = this.rows.filter((r) => r.name.toLowerCase().includes(wanted) && (!this.only.checked || r.what !== "same"));
    const counted = (what: What) => `${count(this.rows.filter((r) => r.what === what).length)} ${what}`;
    this.status.textContent = (["changed", "new", "gone", "same"] as const).map(counted).join(", ");
    const most = Math.max(...this.rows.map((r) => Math.abs(r.ns - r.baseNs)), 1);
    this.body.replaceChildren(...rows.slice(0, 2000).map((r) => this.row(r, most)));
  }
  private row(r: ComparedKernel, most: number): HTMLElement {
    const difference = r.ns - r.baseNs, number = (text: string) => element("td", { class: "number" }, text);
    const bar = element("i", { class: "share" }), cell = number(signed(difference, duration));
    bar.style.width = `${Math.abs(difference) / most * 100}%`;
    bar.style.background = color(difference > 0 ? "series-6" : "series-3");
    cell.append(bar);
    const tr = element("tr", { class: r.what }, element("td", { class: "name", title: r.name }, element("span", {}, r.name)),
      element("td", {}, r.what), number(r.baseLaunches > 0 ? duration(r.baseNs) : ""), number(r.launches > 0 ? duration(r.ns) : ""),
      cell, number(part(r.ns, r.baseNs)), number(r.baseLaunches === r.launches ? count(r.launches) : `${count(r.baseLaunches)} → ${count(r.launches)}`));
    if (r.kind >= 0) tr.addEventListener("click", () => this.openKernel(r.kind));
    return tr;
  }
}
