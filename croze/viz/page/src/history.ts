// The page of measurements: each figure over commits, peers as dashed levels, regressions marked.
// The JSON is that of tools/history/history.h, which says what a regression is.
import { Chart, number } from "./chart.js";
import { byId, color, element } from "./dom.js";
import { count } from "./format.js";
import type { Commit, Figure, History, Point } from "./figures.js";
import { Page, type View, embedded, start } from "./shell.js";
import { Standing } from "./standing.js";

const RULE = "A regression: even the best round of a commit is more than 5 % worse than the worst round of the commit before.";
const shortName = (c: Commit): string => c.commit.slice(0, 7) + (c.changed ? "+" : "");
const percent = (part: number): string => `${part > 0 ? "+" : ""}${(part * 100).toFixed(1)} %`;

// The figures of one machine.
class Machine implements View {
  readonly root = element("section", { class: "view" });
  readonly charts = new Map<string, Chart>();
  private grid = element("div", { class: "cards" });
  private search = element("input", { type: "search", placeholder: "find by name  /", "aria-label": "Find figures by name" });
  private only = element("input", { type: "checkbox" });
  private status = element("span", { class: "faint", role: "status" });
  private commits: Commit[];  // of this machine

  constructor(readonly history: History, readonly name: string, readonly figures: Figure[]) {
    const used = [...new Set(figures.flatMap((f) => f.points.map((p) => p.commit)))].sort((a, b) => a - b);
    this.commits = used.map((i) => history.commits[i]!);
    this.root.setAttribute("aria-label", name);
    for (const input of [this.search, this.only]) input.addEventListener("input", () => this.show());
    this.root.append(element("div", { class: "bar" }, this.search, element("label", { class: "key" }, this.only, "regressions only"), this.status,
      element("span", { class: "faint" }, RULE)), this.grid);
  }

  shown(): void { this.show(); }
  restyle(): void { this.show(); }
  focusSearch(): void { this.search.focus(); }
  key(_: KeyboardEvent): boolean { return false; }

  private place(point: Point): number { return this.commits.indexOf(this.history.commits[point.commit]!); }
  private show(): void {
    const wanted = this.search.value.toLowerCase();
    const figures = this.figures.filter((f) => f.name.toLowerCase().includes(wanted) && (!this.only.checked || f.points.some((p) => p.regression)));
    this.status.textContent = `${count(figures.length)} figures, ${count(this.commits.length)} commits`;
    this.grid.replaceChildren(...figures.map((f) => this.card(f)));
  }
  private card(figure: Figure): HTMLElement {
    const ink = color("series-1"), caption = element("figcaption");
    const last = figure.points.at(-1)!, before = figure.points.at(-2);
    const say = (texts: [string, string][]) => caption.replaceChildren(...(texts.length > 0 ? texts.slice(-1).map(([, text]) => text)
      : [`${number(last.value)} ${figure.unit}`, before && before.value !== 0 ? `${percent(last.value / before.value - 1)} since the commit before` : ""])
      .map((text) => element("span", {}, text)));
    const chart = new Chart(figure.name, say);
    this.charts.set(figure.name, chart);
    const xs = figure.points.map((p) => this.place(p));
    const line = (of: (p: Point) => number, faint: boolean) => ({ name: figure.name, color: ink, faint, xs, ys: figure.points.map(of) });
    chart.show({
      lines: [line((p) => p.least, true), line((p) => p.most, true), line((p) => p.value, false)],
      levels: Object.entries(figure.peers).map(([name, y]) => ({ name: `${name} ${number(y)}`, y })),
      marks: figure.points.filter((p) => p.regression).map((p) => ({ x: this.place(p), y: p.value, name: `${(p.worsening! * 100).toFixed(0)} % worse` })),
      xLabel: (x) => Number.isInteger(x) && this.commits[x] ? shortName(this.commits[x]!) : "",
      startsAtZero: true,
    });
    say([]);
    const title = element("h2", {}, figure.name, element("span", { class: "faint" }, `  ${figure.unit}, ${figure.better} is better`));
    return element("figure", { class: figure.points.some((p) => p.regression) ? "card worse" : "card" }, title, chart.view.canvas, caption);
  }
}

// The commits, the newest first, with what got worse in each.
class Commits implements View {
  readonly root = element("section", { class: "view", "aria-label": "Commits" });
  constructor(history: History) {
    const body = element("tbody");
    history.commits.forEach((c, i) => {
      const worse = history.figures.flatMap((f) => f.points.filter((p) => p.commit === i && p.regression).map((p) => `${f.name} (${percent(p.worsening!)})`));
      body.prepend(element("tr", {}, element("td", { class: "number" }, c.date.slice(0, 16).replace("T", " ")),
        element("td", {}, element("code", {}, c.commit.slice(0, 12)), c.changed ? " and changes" : ""),
        element("td", { class: "name" }, c.subject), element("td", {}, worse.join(", ")), element("td", {}, c.machine)));
    });
    const head = element("tr", {}, ...["date", "commit", "subject", "regressions", "machine"].map((t) => element("th", { scope: "col" }, t)));
    this.root.append(element("div", { class: "scroll" }, element("table", {}, element("thead", {}, head), body)));
  }
  shown(): void {}
  restyle(): void {}
  focusSearch(): void {}
  key(_: KeyboardEvent): boolean { return false; }
}

start("The measurements", async () => {
  const history = JSON.parse(new TextDecoder().decode(await embedded("data"))) as History;
  if (history.commits.length === 0) throw new Error("the folder holds none; croze-bench all writes them");
  const names = [...new Set(history.figures.map((f) => f.machine))];
  const machines = names.map((name) => new Machine(history, name, history.figures.filter((f) => f.machine === name)));
  const short = (name: string) => name.length > 40 ? `${name.slice(0, 39)}…` : name;
  const standing = new Standing(names.map((name) => [name, history.figures.filter((f) => f.machine === name)]));
  const page = new Page([...machines.map((m): [string, View] => [short(m.name), m]), ["Peers", standing], ["Commits", new Commits(history)]], []);
  byId("program").textContent = `${count(history.commits.length)} measurements`;
  Object.assign(window, { croze: { page, history, machines, standing } });
});
