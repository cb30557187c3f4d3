// Two traces side by side: which kernels are new, gone or changed, and what that does to time and to
// memory.  What counts as the same is said in viz/compare.h.
import { Alive, type Value } from "./alive.js";
import { difference, type Line } from "./difference.js";
import { button, color, element } from "./dom.js";
import { bytes, count, duration } from "./format.js";
import type { LaunchKind, Model } from "./model.js";
import type { View } from "./shell.js";

const MOST_LINES = 2000, MOST_VALUES = 40;

type What = "same" | "changed" | "new" | "gone";
export interface ComparedKernel { name: string; what: What; kind: number; baseKind: number; baseLaunches: number; launches: number; baseNs: number; ns: number }

function codeOf(model: Model, kind: LaunchKind): string {
  const texts = kind.kernels.map((k) => {
    const { source, program } = model.trace.kernels[k]!;
    return model.trace.text(source) || model.trace.text(program);
  });
  return [...new Set(texts)].sort().join("\n\n");
}

// What is different of a kernel: the edits of each loop nest, and the code that they led to.
function linesOf(model: Model, kind: number): string[] {
  const { trace, kinds } = model;
  return (kinds[kind]?.kernels ?? []).flatMap((number) => {
    const { name, edits, source, program } = trace.kernels[number]!;
    const list = trace.text(edits).split(";").map((e) => e.trim()).filter((e) => e !== "");
    return [`kernel ${name}`, ...list.map((e) => `edit: ${e}`), ...(trace.text(source) || trace.text(program)).trimEnd().split("\n"), ""];
  });
}

// What is alive at both peaks: bytes before and now.  Shapes differ where the sizes of a program do, so
// values go by their names, or by the calls that recorded them.
export interface ComparedValue { name: string; base: number; now: number }
export function comparePeaks(base: Model, model: Model, device: string): ComparedValue[] {
  const rows = new Map<string, ComparedValue>();
  for (const [of, side] of [[base, "base"], [model, "now"]] as const) {
    const memory = of.memory.find((m) => m.device === device);
    const values = memory ? new Alive(of).at(device, memory.peakAt) : [];
    for (const [name, bytes] of values.flatMap((v) => [...v.temporaries, v].map((part) => sizeOf(part)))) {
      const row = rows.get(name) ?? { name, base: 0, now: 0 };
      row[side] += bytes;
      rows.set(name, row);
    }
  }
  return [...rows.values()].sort((a, b) => Math.abs(b.now - b.base) - Math.abs(a.now - a.base) || b.now - a.now);
}
function sizeOf(v: Value): [string, number] {
  if (v.arena) return ["free in the memory of runs", v.bytes - v.arena.used];
  const name = v.name || v.call || v.type.replace(/\[.*/, "");
  return [v.what === "tensor" ? name : `${v.what} of ${name}`, v.bytes];
}

// The largest difference in time first.
export function compare(base: Model, model: Model): ComparedKernel[] {
  const rows = new Map<string, ComparedKernel>(), baseKinds = new Map<string, LaunchKind>();
  for (const [baseKind, k] of base.kinds.entries()) {
    if (k.launches === 0) continue;
    baseKinds.set(k.name, k);
    rows.set(k.name, { name: k.name, what: "gone", kind: -1, baseKind, baseLaunches: k.launches, launches: 0, baseNs: k.ns, ns: 0 });
  }
  model.kinds.forEach((k, kind) => {
    if (k.launches === 0) return;
    const before = baseKinds.get(k.name), row = rows.get(k.name);
    const what = !before ? "new" : codeOf(base, before) === codeOf(model, k) ? "same" : "changed";
    rows.set(k.name, { name: k.name, what, kind, baseKind: row?.baseKind ?? -1, baseLaunches: row?.baseLaunches ?? 0, launches: k.launches, baseNs: row?.baseNs ?? 0, ns: k.ns });
  });
  return [...rows.values()].sort((a, b) => Math.abs(b.ns - b.baseNs) - Math.abs(a.ns - a.baseNs));
}

const signed = (value: number, text: (v: number) => string): string => `${value > 0 ? "+" : value < 0 ? "−" : ""}${text(Math.abs(value))}`;
const part = (now: number, base: number): string => base > 0 && now > 0 ? `${signed((now / base - 1) * 100, (v) => v.toFixed(1))} %` : "";

export class Compare implements View {
  readonly root = element("section", { class: "view", "aria-label": "Compare" });
  readonly rows: ComparedKernel[];
  chosen: ComparedKernel | null = null;
  private shownRows: ComparedKernel[] = [];
  private devices: string[];
  private details = element("div", { class: "details grow", "aria-live": "polite" });
  private body = element("tbody");
  private search = element("input", { type: "search", placeholder: "find by name  /", "aria-label": "Find kernels by name" });
  private only = element("input", { type: "checkbox" });
  private status = element("span", { class: "faint", role: "status" });

  constructor(private base: Model, private model: Model, private openKernel: (kind: number) => void) {
    this.rows = compare(base, model);
    this.devices = [...new Set([...base.memory, ...model.memory].map((m) => m.device))];
    for (const input of [this.search, this.only]) input.addEventListener("input", () => this.show());
    const head = element("tr", {}, ...["kernel", "", "before", "now", "difference", "", "launches"].map((title, i) =>
      element("th", { scope: "col", class: i > 1 ? "number" : "" }, title)));
    this.root.append(this.summary(), element("div", { class: "bar" }, this.search,
      element("label", { class: "key" }, this.only, "only those that are not the same (O)"),
      button("Memory at the peak", "P", () => this.showPeaks()), this.status),
    element("div", { class: "scroll list" }, element("table", {}, element("thead", {}, head), this.body)), this.details);
    this.showPeaks();
  }

  shown(): void { this.show(); }
  restyle(): void { this.show(); }
  focusSearch(): void { this.search.focus(); }
  key(e: KeyboardEvent): boolean {
    const move = (by: number) => {
      const at = this.shownRows.findIndex((r) => r === this.chosen);
      const next = this.shownRows[Math.min(Math.max(at + by, 0), this.shownRows.length - 1)];
      if (next) this.choose(next);
    };
    const acts: Record<string, () => void> = {
      ArrowDown: () => move(1), ArrowUp: () => move(-1), Home: () => move(-Infinity), End: () => move(Infinity),
      Enter: () => this.open(), o: () => this.only.click(), p: () => this.showPeaks(),
    };
    acts[e.key]?.();
    return acts[e.key] !== undefined;
  }
  private open(): void { if (this.chosen && this.chosen.kind >= 0) this.openKernel(this.chosen.kind); }

  choose(row: ComparedKernel): void {
    this.chosen = row;
    this.show();
    this.body.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
    const lines = difference(linesOf(this.base, row.baseKind), linesOf(this.model, row.kind));
    const side = (name: string, other: Line["what"]) => element("figure", {}, element("figcaption", {}, name),
      this.code(lines.filter((l) => l.what !== other)));
    this.details.replaceChildren(element("h2", {}, row.name), ...row.kind >= 0 ? [button("Open kernel", "Enter", () => this.open())] : [],
      element("div", { class: "sides" }, side("before", "made"), side("now", "gone")));
    for (const pre of this.details.querySelectorAll("pre")) pre.querySelector(".gone, .made")?.scrollIntoView({ block: "nearest" });
  }
  private code(lines: Line[]): HTMLElement {
    const shown = lines.slice(0, MOST_LINES);
    const pre = element("pre", { class: "code nodes", tabindex: "0" }, ...shown.map(({ text, what }) =>
      element("span", { class: `line ${what}` }, `${what === "gone" ? "−" : what === "made" ? "+" : " "} ${text}\n`)));
    if (shown.length < lines.length) pre.append(element("span", { class: "faint" }, `… ${count(lines.length - shown.length)} more lines`));
    return pre;
  }
  // What is alive when most is, before and now.
  showPeaks(): void {
    this.details.replaceChildren(...this.devices.map((device) => {
      const head = element("tr", {}, ...[`alive at the peak of ${device}`, "before", "now", "difference"].map((t, i) => element("th", { scope: "col", class: i > 0 ? "number" : "" }, t)));
      const rows = comparePeaks(this.base, this.model, device).slice(0, MOST_VALUES).map((v) => element("tr", {}, element("td", {}, v.name),
        ...[v.base > 0 ? bytes(v.base) : "", v.now > 0 ? bytes(v.now) : "", signed(v.now - v.base, bytes)].map((t) => element("td", { class: "number" }, t))));
      return element("table", { class: "peaks" }, element("thead", {}, head), element("tbody", {}, ...rows));
    }));
  }

  // Time of all kernels, and the most memory at once on each device.
  private summary(): HTMLElement {
    const { base, model } = this, table = element("tbody");
    const row = (name: string, before: number, now: number, text: (v: number) => string) => table.append(element("tr", {},
      element("th", { scope: "row" }, name), ...[text(before), text(now), signed(now - before, text), part(now, before)].map((t) => element("td", { class: "number" }, t))));
    row("time in kernels", base.kernelTime, model.kernelTime, duration);
    row("launches", base.trace.launches.length, model.trace.launches.length, count);
    const peak = (of: Model, device: string) => of.memory.find((m) => m.device === device)?.peak ?? 0;
    for (const device of this.devices) row(`most memory on ${device}`, peak(base, device), peak(model, device), bytes);
    const head = element("tr", {}, ...["", "before", "now", "difference", ""].map((t) => element("th", { scope: "col", class: "number" }, t)));
    return element("div", { class: "details summary" }, element("table", {}, element("thead", {}, head), table));
  }

  private show(): void {
    const wanted = this.search.value.toLowerCase();
    const rows = this.rows.filter((r) => r.name.toLowerCase().includes(wanted) && (!this.only.checked || r.what !== "same"));
    const counted = (what: What) => `${count(this.rows.filter((r) => r.what === what).length)} ${what}`;
    this.status.textContent = (["changed", "new", "gone", "same"] as const).map(counted).join(", ");
    const most = Math.max(...this.rows.map((r) => Math.abs(r.ns - r.baseNs)), 1);
    this.shownRows = rows.slice(0, 2000);
    this.body.replaceChildren(...this.shownRows.map((r) => this.row(r, most)));
  }
  private row(r: ComparedKernel, most: number): HTMLElement {
    const difference = r.ns - r.baseNs, number = (text: string) => element("td", { class: "number" }, text);
    const bar = element("i", { class: "share" }), cell = number(signed(difference, duration));
    bar.style.width = `${Math.abs(difference) / most * 100}%`;
    bar.style.background = color(difference > 0 ? "series-6" : "series-3");
    cell.append(bar);
    const tr = element("tr", { class: r.what, "aria-selected": String(r === this.chosen) }, element("td", { class: "name", title: r.name }, element("span", {}, r.name)),
      element("td", {}, r.what), number(r.baseLaunches > 0 ? duration(r.baseNs) : ""), number(r.launches > 0 ? duration(r.ns) : ""),
      cell, number(part(r.ns, r.baseNs)), number(r.baseLaunches === r.launches ? count(r.launches) : `${count(r.baseLaunches)} → ${count(r.launches)}`));
    tr.addEventListener("click", () => this.choose(r));
    return tr;
  }
}
