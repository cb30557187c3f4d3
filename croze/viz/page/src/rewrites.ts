// Every rewrite of a pass, one after the other: the rule, where it is written, what it changed.
import { button, element, facts } from "./dom.js";
import { count, duration } from "./format.js";
import type { Model } from "./model.js";
import type { Match, Pass } from "./reader.js";

const MOST_LINES = 400;

export class Rewrites {
  readonly root = element("section", { class: "view split narrow", "aria-label": "Rewrites" });
  private passes = element("div", { class: "list scroll", role: "listbox", "aria-label": "Passes" });
  private details = element("div", { class: "details grow" });
  private slider = element("input", { type: "range", min: "0", "aria-label": "Rewrite" });
  private place = element("output");
  private content = element("div", { "aria-live": "polite" });
  private search = element("input", { type: "search", placeholder: "find a rule  /", "aria-label": "Find a rule" });
  private shownPasses: number[] = [];
  private rulesButton = button("All rules", "R", () => this.showRules());
  private isWhole = false;  // whether nodes are shown that are the same before and after
  pass = -1;
  at = 0;

  constructor(private model: Model) {
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
    this.search.addEventListener("input", () => this.showPasses());
    this.search.addEventListener("keydown", (e) => { if (e.key === "Enter") this.findNext(e.shiftKey ? -1 : 1); });
    this.root.append(element("div", { class: "list" }, element("div", { class: "bar" }, this.search, this.rulesButton), this.passes), this.details);
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
    this.rulesButton.setAttribute("aria-pressed", "false");
    this.details.replaceChildren(element("h2", {}, `${p.name} of ${p.kernel}`),
      element("div", { class: "bar" }, this.slider, this.place, button("Whole graphs", "X", () => this.turnWhole())), this.content,
      element("details", {}, element("summary", {}, `${count(new Set(p.matches.map((m) => m.rule)).size)} rules fired`), this.statistics([p])));
    if (p.result >= 0) this.details.append(this.whole(pass, p));
    this.go(0);
  }
  // The kernel as the pass before has left it, and as this one has.
  private whole(pass: number, p: Pass): HTMLElement {
    const before = this.model.trace.passes[pass - 1];
    const from = before?.kernel === p.kernel ? before.result : -1;
    const whole = element("details", {}, element("summary", {}, from >= 0 ? "The kernel before and after this pass" : "The kernel after this pass"));
    const fill = () => { if (whole.open && whole.children.length === 1) whole.append(this.sides(from, p.result, true)); };
    whole.addEventListener("toggle", fill);
    whole.open = p.matches.length === 0;  // then there is nothing else to see
    fill();
    return whole;
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
  turnWhole(): void {
    this.isWhole = !this.isWhole;
    this.go(this.at);
  }
  // Those of the whole trace: what each rule cost, and where it fired.
  showRules(): void {
    const { passes } = this.model.trace;
    if (this.rulesButton.getAttribute("aria-pressed") === "true") return this.choose(this.pass);
    this.rulesButton.setAttribute("aria-pressed", "true");
    const matches = passes.reduce((sum, p) => sum + p.matches.length, 0);
    this.details.replaceChildren(element("h2", {}, `${count(matches)} rewrites in ${count(passes.length)} passes`), this.statistics(passes));
  }
  // The next rewrite by what was found, or the one before; from pass to pass.
  private findNext(by: number): void {
    const wanted = this.search.value.toLowerCase(), { passes } = this.model.trace;
    for (let k = this.shownPasses.indexOf(this.pass), at = this.at + by; k >= 0 && k < this.shownPasses.length; k += by) {
      const pass = this.shownPasses[k]!, { matches } = passes[pass]!;
      if (pass !== this.pass) at = by > 0 ? 0 : matches.length - 1;
      while (at >= 0 && at < matches.length && !this.ruleText(matches[at]!).toLowerCase().includes(wanted)) at += by;
      if (at < 0 || at >= matches.length) continue;
      if (pass !== this.pass) this.choose(pass);
      return this.go(at);
    }
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
      ArrowDown: () => turn(1), ArrowUp: () => turn(-1), n: () => this.findNext(1), N: () => this.findNext(-1),
      x: () => this.turnWhole(), r: () => this.showRules(),
    };
    acts[e.key]?.();
    return acts[e.key] !== undefined;
  }

  // ---- one rewrite ----

  private match(m: Match): HTMLElement[] {
    const { trace } = this.model, rule = trace.rules[m.rule]!;
    return [
      element("p", { class: "rule" }, element("code", {}, rule.text)),
      facts([["written at", rule.place], ["rules", trace.text(m.set)], ["time", duration(m.ns)]]),
      this.sides(m.before, m.after, this.isWhole),
    ];
  }
  // Two nodes with what they are made of; what is in one of them alone is lit.
  private sides(from: number, to: number, isWhole: boolean): HTMLElement {
    const before = from >= 0 ? this.reached(from) : new Set<number>(), after = this.reached(to);
    const gone = new Set([...before].filter((n) => !after.has(n)));
    const made = new Set(from >= 0 ? [...after].filter((n) => !before.has(n)) : []);
    const sides = element("div", { class: "sides" });
    if (from >= 0) sides.append(element("figure", {}, element("figcaption", {}, "before"), this.listing(isWhole ? [...before] : this.near(from, gone), gone, "gone")));
    sides.append(element("figure", {}, element("figcaption", {}, "after"), this.listing(isWhole ? [...after] : this.near(to, made), made, "made")));
    return sides;
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
  // What has changed and what that is made of; the rest is the same on both sides.
  private near(root: number, lit: Set<number>): number[] {
    const { nodes } = this.model.trace;
    return [...new Set([root, ...lit].flatMap((n) => [n, ...nodes[n]!.sources]))];
  }
  // Sources come first, as the numbers of nodes grow.  What has changed is always shown.
  private listing(nodes: number[], lit: Set<number>, mark: string): HTMLElement {
    const all = nodes.sort((a, b) => a - b);
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

  // The rules that fired in passes, with how often and how long; a rule shows the passes with it.
  private statistics(passes: Pass[]): HTMLElement {
    const rules = new Map<number, { times: number; ns: number; passes: number }>();
    for (const p of passes) {
      const here = new Set<number>();
      for (const m of p.matches) {
        const r = rules.get(m.rule) ?? { times: 0, ns: 0, passes: 0 };
        rules.set(m.rule, { times: r.times + 1, ns: r.ns + m.ns, passes: r.passes + (here.has(m.rule) ? 0 : 1) });
        here.add(m.rule);
      }
    }
    const rows = [...rules].sort((a, b) => b[1].ns - a[1].ns);
    const head = element("tr", {}, ...["times", "time", "passes", "written at", "rule"].map((title, i) => element("th", { scope: "col", class: i < 3 ? "number" : "" }, title)));
    return element("table", { class: "rules" }, element("thead", {}, head), element("tbody", {}, ...rows.map(([number, r]) => {
      const rule = this.model.trace.rules[number]!, place = element("button", { type: "button", class: "link", title: "show the passes in which it fired" }, rule.place);
      place.addEventListener("click", () => this.findRule(number));
      return element("tr", {}, ...[`${count(r.times)} ×`, duration(r.ns), count(r.passes)].map((t) => element("td", { class: "number" }, t)),
        element("td", {}, place), element("td", {}, element("code", {}, rule.text)));
    })));
  }
  // The passes in which a rule fired, at the first time that it did.
  private findRule(number: number): void {
    const rule = this.model.trace.rules[number]!, { passes } = this.model.trace;
    this.search.value = `${rule.place} ${rule.text}`;
    this.showPasses();
    const first = this.shownPasses.find((p) => passes[p]!.matches.some((m) => m.rule === number));
    if (first === undefined) return;
    this.choose(first);
    this.go(passes[first]!.matches.findIndex((m) => m.rule === number));
  }
}
