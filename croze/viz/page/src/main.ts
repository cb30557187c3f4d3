// The page: opens the trace that it was written with, and turns between the views.
import { button, byId, element } from "./dom.js";
import { duration } from "./format.js";
import { Graph } from "./graph.js";
import { Kernels } from "./kernels.js";
import { Memory } from "./memory.js";
import { Model } from "./model.js";
import { readTrace } from "./reader.js";
import { Rewrites } from "./rewrites.js";
import { Timeline, showFaults } from "./timeline.js";

interface View {
  root: HTMLElement;
  shown(): void;
  restyle(): void;
  focusSearch(): void;
  key(e: KeyboardEvent): boolean;
}

const KEYS: [string, string][] = [
  ["1 … 5", "the views"], ["/", "find"], ["T", "light or dark"], ["?", "these keys"],
  ["W S, A D", "timeline, memory, graph: zoom, move"], ["← →", "the event, change, box or rewrite before and after"],
  ["↑ ↓", "the track, kernel, edge or pass above and below"], ["N, Shift+N", "the next found, the one before"],
  ["F, 0", "fit what is chosen, fit all"], ["L", "timeline: the longest launch"], ["M, Shift+drag", "timeline: measure"],
  ["P", "memory: the peak"], ["E, C, Enter", "graph: open all, close all, open or close a group"],
  ["PgUp PgDn, Home End", "rewrites: by ten, first and last"], ["Esc", "let go"],
];

// The trace stands in the page as text: base64 of what zlib made of it.
async function embeddedTrace(): Promise<Uint8Array> {
  const text = byId("trace").textContent!.trim();
  const packed = fromBase64(text);
  const stream = new Blob([packed as BlobPart]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
function fromBase64(text: string): Uint8Array {
  const native = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array }).fromBase64;
  if (native) return native.call(Uint8Array, text);
  const characters = atob(text), bytes = new Uint8Array(characters.length);
  for (let i = 0; i < characters.length; i++) bytes[i] = characters.charCodeAt(i);
  return bytes;
}

class Page {
  private views: [string, View][];
  private tabs: HTMLButtonElement[] = [];
  private now = -1;
  private help = element("dialog", { "aria-label": "Keys" });

  constructor(readonly model: Model) {
    const openKernel = (kind: number) => {
      kernels.choose(kind);
      this.show(2);
    };
    const kernels = new Kernels(model);
    this.views = [["Timeline", new Timeline(model, openKernel)], ["Memory", new Memory(model)],
      ["Kernels", kernels], ["Graph", new Graph(model, openKernel)], ["Rewrites", new Rewrites(model)]];
    const tabs = byId("tabs");
    this.views.forEach(([name], i) => {
      const tab = button(name, String(i + 1), () => this.show(i));
      tab.setAttribute("role", "tab");
      this.tabs.push(tab);
      tabs.append(tab);
    });
    byId("theme").addEventListener("click", () => this.turnTheme());
    byId("keys").addEventListener("click", () => this.help.showModal());
    this.help.append(element("h2", {}, "Keys"), element("table", {}, element("tbody", {}, ...KEYS.map(([key, what]) =>
      element("tr", {}, element("td", {}, element("kbd", {}, key)), element("td", {}, what))))), button("Close", "Esc", () => this.help.close()));
    document.body.append(this.help);
    document.addEventListener("keydown", (e) => this.key(e));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.restyle());
    showFaults(model);
    this.show(0);
  }

  view(i: number): View { return this.views[i]![1]; }
  show(i: number): void {
    if (this.now === i) return;
    this.now = i;
    this.tabs.forEach((tab, t) => tab.setAttribute("aria-selected", String(t === i)));
    byId("view").replaceChildren(this.view(i).root);
    this.view(i).shown();
  }
  turnTheme(): void {
    const root = document.documentElement;
    const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
    this.restyle();
  }
  private restyle(): void { this.view(this.now).restyle(); }

  private key(e: KeyboardEvent): void {
    if (e.ctrlKey || e.metaKey || e.altKey || this.help.open) return;
    const target = e.target as HTMLElement;
    if (target instanceof HTMLInputElement && target.type === "search" || target instanceof HTMLSelectElement) {
      if (e.key === "Escape") target.blur();
      return;
    }
    if (target instanceof HTMLButtonElement && (e.key === "Enter" || e.key === " ")) return;
    if (this.ownKey(e) || this.view(this.now).key(e)) e.preventDefault();
  }
  private ownKey(e: KeyboardEvent): boolean {
    const number = Number(e.key);
    if (number >= 1 && number <= this.views.length) this.show(number - 1);
    else if (e.key === "/") this.view(this.now).focusSearch();
    else if (e.key === "t") this.turnTheme();
    else if (e.key === "?") this.help.showModal();
    else return false;
    return true;
  }
}

async function open(): Promise<void> {
  const start = performance.now();
  const bytes = await embeddedTrace();
  const unpacked = performance.now();
  const trace = readTrace(bytes);
  const read = performance.now();
  const model = new Model(trace);
  const { facts } = model.trace;
  byId("program").textContent = [facts.get("program"), `croze ${facts.get("version") ?? "?"}`, duration(model.end - model.start)].join(" · ");
  const page = new Page(model);
  // For tests and for the console: what is shown, and how long it took.
  Object.assign(window, { croze: { page, model, openTime: performance.now() - start,
    times: { unpack: unpacked - start, read: read - unpacked, model: performance.now() - read } } });
  document.documentElement.dataset.open = "true";
}

open().catch((error: unknown) => {
  byId("view").replaceChildren(element("p", { class: "fault", role: "alert" }, `The trace cannot be shown: ${error instanceof Error ? error.message : String(error)}`));
  document.documentElement.dataset.open = "failed";
});
