// The page of runs: what trainings note, while they note it.
import { byId, element } from "./dom.js";
import { type Events, Runs } from "./events.js";
import { Page, embedded, start } from "./shell.js";
import { Histograms, Images, Scalars, type Settings, Texts } from "./cards.js";

const KEYS: [string, string][] = [["S, Shift+S", "scalars: smoother, less smooth"], ["X", "scalars: by step, by time"]];
const POLL = 1000;  // milliseconds

const runs = new Runs();
const settings: Settings = { hidden: new Set(), smoothing: 0.6, isByTime: false };

// The runs with their colours; what is clicked is hidden.
function showRuns(changed: () => void): void {
  byId("program").replaceChildren(...runs.names.map((name, i) => {
    const box = element("input", { type: "checkbox" });
    box.checked = !settings.hidden.has(i);
    box.addEventListener("change", () => {
      if (box.checked) settings.hidden.delete(i); else settings.hidden.add(i);
      changed();
    });
    const square = element("i");
    square.style.background = `var(--series-${i % 8 + 1})`;
    return element("label", { class: "key run" }, box, square, name === "." ? "(the folder)" : name);
  }));
  byId("faults").textContent = runs.faults.join(" ");
}

async function ask(): Promise<Events> {
  const response = await fetch(`events?from=${runs.next}`, { cache: "no-store" });
  if (!response.ok) throw new Error(`the server answers ${response.status}`);
  return await response.json() as Events;
}

start("The runs", async () => {
  const bytes = await embedded("data");
  const isLive = bytes.length === 0;
  const take = (events: Events): boolean => {
    const isNew = events.events.length > 0 || events.runs.length !== runs.names.length || events.faults.length !== runs.faults.length;
    runs.add(events);
    return isNew;
  };
  take(isLive ? await ask() : JSON.parse(new TextDecoder().decode(bytes)) as Events);
  const views = [new Scalars(runs, settings), new Histograms(runs, settings), new Images(runs, settings), new Texts(runs, settings)] as const;
  const page = new Page([["Scalars", views[0]], ["Histograms", views[1]], ["Images", views[2]], ["Texts", views[3]]], KEYS);
  const update = () => { for (const view of views) view.update(); };
  const changed = () => { showRuns(changed); update(); };
  changed();
  Object.assign(window, { croze: { page, runs, views, settings } });
  const poll = async () => {
    let more = false;
    try {
      if (!document.hidden) {
        const events = await ask();
        if (take(events)) changed();
        more = events.more;
      }
    } catch {
      byId("faults").textContent = "The server does not answer: croze viz has ended, or this machine is busy.";
    }
    setTimeout(poll, more ? 0 : POLL);
  };
  if (isLive) setTimeout(poll, 0);
});
