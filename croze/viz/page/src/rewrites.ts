// Every rewrite of a pass, one after the other: the rule, where it is written, what it changed.
import { element, facts } from "./dom.js";
import { count, duration } from "./format.js";
import type { Model } from "./model.js";
import type { Match, Pass } from "./reader.js";

const MOST_LINES = 400;

export class Rewrites {
  readonly root = element("section", { class: "view split", "aria-label": "Rewrites" });
  private passes = element("div", { class: "list scroll", role: "listbox", "aria-label": "Passes" });
  private details = element("div", { class: "details grow" });
  private slider = element("input", { type: "range", min: "0", "aria-label": "Rewrite" });
  private place = element("output");
  private content = element("div", { "aria-live": "polite" });
  private search = element("input", { type: "search", placeholder: "find a rule  /", "aria-label": "Find a rule" });
  private shownPasses: number[] = [];
  pass = -1;
  at = 0;

  constructor(private model: Model) {
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
    this.search.addEventListener("input", () => this.showPasses());
    this.search.addEventListener("keydown", (e) => { if (e.key === "Enter") this.findNext(); });
    this.root.append(element("div", { class: "list" }, element("div", { class: "bar" }, this.search), this.passes), this.details);
    this.showPasses();
    if (this.shownPasses.length === 0) {
      this.details.append(element("p", { class: "faint" },
        "The trace has no rewrites. CROZE_TRACE_REWRITES=1 records them, and CROZE_CACHE=0 compiles every kernel anew."));
    }
  }

  shown(): void {
    if (this.pass < 0 && this.shownPasses.length > 0) {
      const { passes } = this.model.trace;
      this.choose(this.shownPasses.reduce((best, i) => passes[i]!.matches.length > passes[best]!.matches.length ? i : best));
    }
  }
  restyle(): void {}
  focusSearch(): void { this.search.focus(); }

  private matches(pass: Pass, wanted: string): boolean {
    return wanted === "" || pass.matches.some((m) => this.ruleText(m).toLowerCase().includes(wanted));
  }
  private ruleText(m: Match): string {
    const rule = this.model.trace.rules[m.rule]!;
    return `${rule.place} ${rule.text}`;
  }

  private showPasses(): void {
    const wanted = this.search.value.toLowerCase(), { passes } = this.model.trace;
    this.passes.replaceChildren();
    this.shownPasses = [];
    let kernel = "";
    passes.forEach((pass, i) => {
      if (pass.matches.length === 0 && pass.result < 0 || !this.matches(pass, wanted)) return;
      this.shownPasses.push(i);
      if (this.shownPasses.length > 2000) return;
      if (pass.kernel !== kernel) this.passes.append(element("h3", {}, kernel = pass.kernel));
      const row = element("button", { type: "button", class: pass.matches.length > 0 ? "pass" : "pass quiet", role: "option", "data-pass": String(i), "aria-selected": String(i === this.pass) },
        element("span", {}, pass.name), element("span", { class: "number" }, count(pass.matches.length)));
      row.addEventListener("click", () => this.choose(i));
      this.passes.append(row);
    });
  }

  choose(pass: number): void {
    this.pass = pass;
    const p = this.model.trace.passes[pass]!;
    for (const row of this.passes.querySelectorAll("[data-pass]")) {
      row.setAttribute("aria-selected", String(row.getAttribute("data-pass") === String(pass)));
    }
    this.passes.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
    this.slider.max = String(Math.max(p.matches.length - 1, 0));
    this.details.replaceChildren(element("h2", {}, `${p.name} of ${p.kernel}`),
      element("div", { class: "bar" }, this.slider, this.place), this.content, this.statistics(p));
    if (p.result >= 0) {
      const result = element("details", {}, element("summary", {}, "The kernel after this pass"));
      result.addEventListener("toggle", () => {
        if (result.open && result.children.length === 1) result.append(this.listing(p.result, new Set(), ""));
      });
      this.details.append(result);
    }
    this.go(0);
  }
  go(at: number): void {
    const p = this.model.trace.passes[this.pass];
    if (!p) return;
    this.at = Math.min(Math.max(at, 0), Math.max(p.matches.length - 1, 0));
    this.slider.value = String(this.at);
    this.place.textContent = p.matches.length === 0 ? "no rewrites" : `${count(this.at + 1)} of ${count(p.matches.length)}`;
    const m = p.matches[this.at];
    this.content.replaceChildren(...(m ? this.match(m) : []));
  }
  private findNext(): void {
    const wanted = this.search.value.toLowerCase(), p = this.model.trace.passes[this.pass];
    const next = p?.matches.findIndex((m, i) => i > this.at && this.ruleText(m).toLowerCase().includes(wanted)) ?? -1;
    if (next >= 0) this.go(next);
  }
  key(e: KeyboardEvent): boolean {
    const turn = (by: number) => {
      const next = this.shownPasses[this.shownPasses.indexOf(this.pass) + by];
      if (next !== undefined) this.choose(next);
    };
    const acts: Record<string, () => void> = {
      ArrowRight: () => this.go(this.at + 1), ArrowLeft: () => this.go(this.at - 1),
      PageDown: () => this.go(this.at + 10), PageUp: () => this.go(this.at - 10),
      Home: () => this.go(0), End: () => this.go(Infinity),
      ArrowDown: () => turn(1), ArrowUp: () => turn(-1), n: () => this.findNext(),
    };
    acts[e.key]?.();
    return acts[e.key] !== undefined;
  }

  // ---- one rewrite ----

  private match(m: Match): HTMLElement[] {
    const { trace } = this.model, rule = trace.rules[m.rule]!;
    const before = this.reached(m.before), after = this.reached(m.after);
    const gone = new Set([...before].filter((n) => !after.has(n)));
    const made = new Set([...after].filter((n) => !before.has(n)));
    return [
      element("p", { class: "rule" }, element("code", {}, rule.text)),
      facts([["written at", rule.place], ["rules", trace.text(m.set)], ["time", duration(m.ns)]]),
      element("div", { class: "sides" },
        element("figure", {}, element("figcaption", {}, "before"), this.listing(m.before, gone, "gone")),
        element("figure", {}, element("figcaption", {}, "after"), this.listing(m.after, made, "made"))),
    ];
  }
  // A node and what it is made of.
  private reached(root: number): Set<number> {
    const seen = new Set([root]), stack = [root];
    for (let n = stack.pop(); n !== undefined; n = stack.pop()) {
      for (const s of this.model.trace.nodes[n]!.sources) {
        if (seen.has(s)) continue;
        seen.add(s);
        stack.push(s);
      }
    }
    return seen;
  }
  // Sources come first, as the numbers of nodes grow.  What has changed is always shown.
  private listing(root: number, lit: Set<number>, mark: string): HTMLElement {
    const all = [...this.reached(root)].sort((a, b) => a - b);
    const most = all.length <= MOST_LINES ? all : all.filter((n, i) => lit.has(n) || i >= all.length - MOST_LINES / 2).slice(-MOST_LINES);
    const pre = element("pre", { class: "code nodes", tabindex: "0" });
    if (most.length < all.length) pre.append(element("span", { class: "line faint" }, `… ${count(all.length - most.length)} nodes before\n`));
    for (const n of most) {
      pre.append(element("span", { class: lit.has(n) ? `line ${mark}` : "line" }, `${lit.has(n) ? (mark === "gone" ? "−" : "+") : " "} ${this.nodeText(n)}\n`));
    }
    return pre;
  }
  nodeText(n: number): string {
    const { trace } = this.model, node = trace.nodes[n]!;
    const words = [trace.text(node.op), trace.text(node.dtype), ...node.sources.map((s) => `%${s}`), trace.text(node.argument)];
    return `%${n} = ${words.filter((w) => w !== "").join(" ")}`;
  }

  private statistics(p: Pass): HTMLElement {
    const rules = new Map<number, { times: number; ns: number }>();
    for (const m of p.matches) {
      const r = rules.get(m.rule) ?? { times: 0, ns: 0 };
      rules.set(m.rule, { times: r.times + 1, ns: r.ns + m.ns });
    }
    const rows = [...rules].sort((a, b) => b[1].times - a[1].times);
    return element("details", {}, element("summary", {}, `${count(rows.length)} rules fired`),
      element("table", {}, element("tbody", {}, ...rows.map(([rule, r]) => element("tr", {},
        element("td", { class: "number" }, `${count(r.times)} ×`), element("td", { class: "number" }, duration(r.ns)),
        element("td", {}, this.model.trace.rules[rule]!.place),
        element("td", {}, element("code", {}, this.model.trace.rules[rule]!.text)))))));
  }
}
