// What all pages share: tabs between views, the keys, light and dark, and the data that a page was
// written with.
import { button, byId, element } from "./dom.js";

export interface View {
  root: HTMLElement;
  shown(): void;
  restyle(): void;
  focusSearch(): void;
  key(e: KeyboardEvent): boolean;
}

// What stands in the page as text, base64 of what zlib made of it; nothing where the page was
// written without.
export async function embedded(place: "data" | "base"): Promise<Uint8Array> {
  const text = byId(place).textContent!.trim();
  if (text === "") return new Uint8Array();
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

export class Page {
  private tabs: HTMLButtonElement[] = [];
  private now = -1;
  private help = element("dialog", { "aria-label": "Keys" });

  // `keys`: what the keys of the views do.
  constructor(private views: [string, View][], keys: [string, string][]) {
    const tabs = byId("tabs");
    this.views.forEach(([name], i) => {
      const tab = button(name, String(i + 1), () => this.show(i));
      tab.setAttribute("role", "tab");
      this.tabs.push(tab);
      tabs.append(tab);
    });
    byId("theme").addEventListener("click", () => this.turnTheme());
    byId("keys").addEventListener("click", () => this.help.showModal());
    const all: [string, string][] = [[`1 … ${views.length}`, "the views"], ["/", "find"], ["T", "light or dark"], ["?", "these keys"], ...keys];
    this.help.append(element("h2", {}, "Keys"), element("table", {}, element("tbody", {}, ...all.map(([key, what]) =>
      element("tr", {}, element("td", {}, element("kbd", {}, key)), element("td", {}, what))))), button("Close", "Esc", () => this.help.close()));
    document.body.append(this.help);
    document.addEventListener("keydown", (e) => this.key(e));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.restyle());
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

// Runs `open`, and says on the page what went wrong if it throws.
export function start(what: string, open: () => Promise<void>): void {
  open().then(() => { document.documentElement.dataset.open = "true"; }, (error: unknown) => {
    byId("view").replaceChildren(element("p", { class: "fault", role: "alert" }, `${what} cannot be shown: ${error instanceof Error ? error.message : String(error)}`));
    document.documentElement.dataset.open = "failed";
  });
}
