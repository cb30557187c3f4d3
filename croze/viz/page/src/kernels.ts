// What is launched, by time; and of one kernel all that is known: edits, loops, source, assembly.
import { button, element, facts } from "./dom.js";
import { bytes, count, duration, percent, rate, shape, share } from "./format.js";
import { Listing } from "./listing.js";
import type { LaunchKind, Model } from "./model.js";
import { BUFFER_KINDS, type Kernel } from "./reader.js";
import { Roofline } from "./roofline.js";
import { tiles } from "./tiles.js";
import { KernelWords } from "./words.js";

interface ColumnOf { title: string; number: boolean; text(k: LaunchKind): string; order(k: LaunchKind): number | string }

const mean = (k: LaunchKind): number => k.launches > 0 ? k.ns / k.launches : 0;
const TABS = ["Edits", "Tiles", "Loops", "Graph", "Source", "Assembly", "Roofline", "Buffers"] as const;
type Tab = typeof TABS[number];

export class Kernels {
  readonly root = element("section", { class: "view split", "aria-label": "Kernels" });
  private body = element("tbody");
  private details = element("div", { class: "details grow", "aria-live": "polite" });
  private search = element("input", { type: "search", placeholder: "find by name, op, rule  /", "aria-label": "Find kernels by name, operation, rule, call or module" });
  private words: KernelWords;
  private columns: ColumnOf[];
  private sortedBy = 1;
  private isDown = true;
  private shownKinds: number[] = [];
  chosen = -1;
  private nest = 0;  // of the chosen launch
  private tab: Tab = "Edits";
  listing: Listing | null = null;  // where it is shown
  roofline: Roofline | null = null;

  constructor(private model: Model) {
    this.words = new KernelWords(model.trace);
    const { kernelTime } = model;
    const column = (title: string, order: (k: LaunchKind) => number, text: (k: LaunchKind) => string): ColumnOf =>
      ({ title, number: true, order, text });
    this.columns = [
      { title: "kernel", number: false, order: (k) => k.name, text: (k) => k.name },
      column("time", (k) => k.ns, (k) => duration(k.ns)),
      column("share", (k) => k.ns, (k) => percent(k.ns, kernelTime)),
      column("launches", (k) => k.launches, (k) => count(k.launches)),
      column("least", (k) => k.least, (k) => k.launches > 0 ? duration(k.least) : ""),
      column("GFLOP/s", (k) => k.ns > 0 ? k.flops / k.ns : 0, (k) => rate(k.flops, k.ns)),
      column("GB/s", (k) => k.ns > 0 ? k.bytes / k.ns : 0, (k) => rate(k.bytes, k.ns)),
      column("roof", (k) => model.shareOfRoof(k.device, k.flops, k.bytes, k.ns), (k) => share(model.shareOfRoof(k.device, k.flops, k.bytes, k.ns))),
    ];
    const head = element("tr");
    this.columns.forEach((c, i) => {
      const sort = element("button", { type: "button" }, c.title);
      sort.addEventListener("click", () => this.sort(i));
      head.append(element("th", { scope: "col", class: c.number ? "number" : "" }, sort));
    });
    this.search.addEventListener("input", () => this.showTable());
    this.root.append(
      element("div", { class: "list" }, element("div", { class: "bar" }, this.search,
        element("span", { class: "faint" }, `${duration(kernelTime)} in ${count(model.trace.launches.length)} launches`)),
      element("div", { class: "scroll" }, element("table", {}, element("thead", {}, head), this.body))),
      this.details);
    this.showTable();
  }

  shown(): void { if (this.chosen < 0 && this.shownKinds.length > 0) this.choose(this.shownKinds[0]!); }
  restyle(): void {}
  focusSearch(): void { this.search.focus(); }

  sort(column: number): void {
    this.isDown = column === this.sortedBy ? !this.isDown : column > 0;
    this.sortedBy = column;
    this.showTable();
  }
  choose(kind: number, kernel = this.largestNest(kind)): void {
    this.chosen = kind;
    this.nest = Math.max(this.model.kinds[kind]!.kernels.indexOf(kernel), 0);
    this.showTable();
    this.showDetails();
    this.body.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }
  // That does most, by arithmetic and bytes.
  private largestNest(kind: number): number {
    const { kernels } = this.model.trace, work = (k: number) => kernels[k]!.flops + kernels[k]!.bytes;
    return this.model.kinds[kind]!.kernels.reduce((best, k) => work(k) > work(best) ? k : best, this.model.kinds[kind]!.kernels[0] ?? -1);
  }
  key(e: KeyboardEvent): boolean {
    const move = (by: number) => {
      const at = this.shownKinds.indexOf(this.chosen);
      const next = this.shownKinds[Math.min(Math.max(at + by, 0), this.shownKinds.length - 1)];
      if (next !== undefined) this.choose(next);
    };
    const turn = (by: number) => this.show(TABS[(TABS.indexOf(this.tab) + by + TABS.length) % TABS.length]!);
    const acts: Record<string, () => void> = {
      ArrowDown: () => move(1), ArrowUp: () => move(-1), ArrowRight: () => turn(1), ArrowLeft: () => turn(-1),
      n: () => this.listing?.step(1), N: () => this.listing?.step(-1), h: () => this.listing?.showHottest(),
      r: () => this.listing?.stepRegister(1), R: () => this.listing?.stepRegister(-1), Escape: () => this.listing?.lightRegister(null),
      ",": () => this.turnNest(-1), ".": () => this.turnNest(1), o: () => this.sort((this.sortedBy + 1) % this.columns.length),
    };
    acts[e.key]?.();
    return acts[e.key] !== undefined;
  }
  // To another loop nest of the launch.
  private turnNest(by: number): void {
    const nests = this.model.kinds[this.chosen]?.kernels.length ?? 0;
    if (nests < 2) return;
    this.nest = (this.nest + by + nests) % nests;
    this.showDetails();
  }
  show(tab: Tab): void {
    this.tab = tab;
    this.showDetails();
  }

  private showTable(): void {
    const wanted = this.search.value.toLowerCase(), { order } = this.columns[this.sortedBy]!;
    const kinds = this.model.kinds.map((_, i) => i).filter((i) => {
      const k = this.model.kinds[i]!;
      return k.launches > 0 && (wanted === "" || [k.words, ...k.kernels.map((n) => this.words.of(n))].some((t) => t.toLowerCase().includes(wanted)));
    });
    kinds.sort((a, b) => {
      const [x, y] = [order(this.model.kinds[a]!), order(this.model.kinds[b]!)];
      return (x < y ? -1 : x > y ? 1 : a - b) * (this.isDown ? -1 : 1);
    });
    this.shownKinds = kinds;
    this.body.replaceChildren(...kinds.slice(0, 2000).map((i) => this.tableRow(i)));
  }
  private tableRow(kind: number): HTMLElement {
    const k = this.model.kinds[kind]!;
    const tr = element("tr", { "aria-selected": String(kind === this.chosen) });
    for (const c of this.columns) {
      tr.append(c.number ? element("td", { class: "number" }, c.text(k))
        : element("td", { class: "name", title: k.name }, element("span", {}, c.text(k))));
    }
    const share = element("i", { class: "share" });
    share.style.width = percent(k.ns, this.model.kernelTime).replace(" ", "");
    tr.children[2]!.append(share);
    tr.addEventListener("click", () => this.choose(kind));
    return tr;
  }

  // ---- one kernel ----

  private showDetails(): void {
    const k = this.model.kinds[this.chosen];
    if (!k) return;
    const kernel = this.model.trace.kernels[k.kernels[this.nest] ?? -1];
    const parts: (Node | string)[] = [element("h2", {}, k.name)];
    parts.push(facts([["device", k.device], ["launches", count(k.launches)],
      ["time", `${duration(k.ns)} (${percent(k.ns, this.model.kernelTime)})`],
      ["mean, least", `${duration(mean(k))}, ${duration(k.least)}`],
      ["GFLOP/s", rate(k.flops, k.ns)], ["GB/s", rate(k.bytes, k.ns)],
      ["of the roof", share(this.model.shareOfRoof(k.device, k.flops, k.bytes, k.ns))],
      ["FLOP for a byte", k.bytes > 0 ? (k.flops / k.bytes).toFixed(2) : ""],
      ["estimate", this.estimate(k)]]));
    if (k.kernels.length > 1) parts.push(this.nests(k));
    if (kernel) parts.push(...this.kernelParts(kernel, k));
    this.details.replaceChildren(...parts);
  }
  // Of the model that schedules are chosen by, beside what was measured.
  private estimate(k: LaunchKind): string {
    if (!(k.cycles > 0)) return "";
    return `${count(Math.round(k.cycles))} cycles; ${(k.cycles / k.least).toFixed(2)} a measured ns`;
  }
  private nests(k: LaunchKind): HTMLElement {
    const choice = element("select", { "aria-label": "Loop nest" });
    const hasOthers = k.kernels.length > this.model.plannedOf(k.example).launch.kernels.length;
    k.kernels.forEach((number, i) => {
      choice.append(element("option", { value: String(i) }, `${i + 1} of ${k.kernels.length}: ${this.model.trace.kernels[number]!.name}${hasOthers ? ` ${this.model.trace.kernels[number]!.key}` : ""}`));
    });
    choice.value = String(this.nest);
    choice.addEventListener("change", () => {
      this.nest = Number(choice.value);
      this.showDetails();
    });
    return element("p", {}, "Loop nest ", choice);
  }
  private kernelParts(kernel: Kernel, k: LaunchKind): HTMLElement[] {
    const tabs = element("div", { class: "tabs", role: "tablist" });
    for (const tab of TABS) {
      const b = button(tab, "", () => this.show(tab));
      b.setAttribute("role", "tab");
      b.setAttribute("aria-selected", String(tab === this.tab));
      tabs.append(b);
    }
    const size = facts([["size", kernel.size], ["code", bytes(kernel.codeBytes)], ["key", kernel.key]]);
    return [size, tabs, this.content(kernel, k)];
  }
  private content(kernel: Kernel, k: LaunchKind): HTMLElement {
    const { trace } = this.model;
    this.listing = this.roofline = null;
    if (this.tab === "Buffers") return this.buffers(k);
    if (this.tab === "Tiles") return tiles(trace.text(kernel.graph), trace.text(kernel.edits));
    if (this.tab === "Assembly" && kernel.assembly !== 0) {
      this.listing = new Listing(trace.text(kernel.assembly), trace.text(kernel.program), kernel.samples);
      return this.listing.root;
    }
    if (this.tab === "Roofline") return this.roof(k);
    return this.text(kernel);
  }
  private roof(k: LaunchKind): HTMLElement {
    const roof = this.model.roof(k.device);
    if (!roof) return element("p", { class: "faint" }, "What this device can do has not been measured: the trace was opened on another machine than it was written on.");
    const points = this.model.kinds.map((other, kind) => ({ kind, other })).filter(({ other }) => other.device === k.device && other.flops > 0 && other.bytes > 0 && other.ns > 0)
      .map(({ kind, other }) => ({ kind, x: other.flops / other.bytes, y: other.flops / other.ns }));
    this.roofline = new Roofline("Roofline of the kernels", points, roof, this.chosen);
    return element("figure", { class: "roofline" }, this.roofline.view.canvas,
      element("figcaption", {}, `The roof: ${roof.flops.toFixed(1)} GFLOP/s, ${roof.bytes.toFixed(1)} GB/s. What finds its data in caches may lie above it.`));
  }
  private text(kernel: Kernel): HTMLElement {
    const { trace } = this.model;
    if (this.tab === "Edits") {
      const edits = trace.text(kernel.edits).split(";").map((e) => e.trim()).filter((e) => e !== "");
      if (edits.length === 0) return element("p", { class: "faint" }, "No edits.");
      return element("ol", { class: "edits" }, ...edits.map((e) => element("li", {}, element("code", {}, e))));
    }
    const texts = { Loops: kernel.program, Graph: kernel.graph, Source: kernel.source, Assembly: kernel.assembly };
    const text = trace.text(texts[this.tab as keyof typeof texts]);
    return text === "" ? element("p", { class: "faint" }, "The trace has none.") : code(text);
  }
  private buffers(k: LaunchKind): HTMLElement {
    const { schedule, launch } = this.model.plannedOf(k.example);
    const rows = [...launch.reads.map((b) => ["reads", b] as const), ...launch.writes.map((b) => ["writes", b] as const)];
    return element("table", {}, element("tbody", {}, ...rows.map(([how, number]) => {
      const b = schedule.buffers[number]!;
      return element("tr", {}, ...[how, `${BUFFER_KINDS[b.kind]} ${number}`, shape(b.dtype, b.shape), bytes(b.bytes), b.call, b.why]
        .map((text) => element("td", {}, text)));
    })));
  }
}

const WORDS = /(;.*|\/\/.*|#.*)|("(?:[^"\\]|\\.)*")|\b(for|if|else|while|return|void|const|static|restrict|float|double|int|long|char|unsigned|define|declare|load|store|add|mul|fadd|fmul|br|phi|loop|range|end)\b|(%[\w.]+|\b\d[\w.]*\b)/g;

// With line numbers, and words told apart: enough to read, whatever the language is.
export function code(text: string): HTMLElement {
  const pre = element("pre", { class: "code", tabindex: "0" });
  const most = 5000, lines = text.replace(/\n$/, "").split("\n");
  for (const line of lines.slice(0, most)) {
    const row = element("span", { class: "line" });
    let at = 0;
    for (const m of line.matchAll(WORDS)) {
      row.append(line.slice(at, m.index));
      row.append(element("span", { class: m[1] ? "comment" : m[2] ? "string" : m[3] ? "word" : "value" }, m[0]));
      at = m.index + m[0].length;
    }
    row.append(line.slice(at), "\n");
    pre.append(row);
  }
  if (lines.length > most) pre.append(element("span", { class: "faint" }, `… ${count(lines.length - most)} more lines`));
  return pre;
}
