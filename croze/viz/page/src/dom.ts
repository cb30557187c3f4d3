// Elements.  Texts of a trace only ever become text nodes, so none of them is read as HTML.

type Child = globalThis.Node | string;

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Record<string, string> = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  e.append(...children);
  return e;
}

export function button(label: string, key: string, act: () => void): HTMLButtonElement {
  const b = element("button", { type: "button", title: key ? `${label} (${key})` : label }, label);
  b.addEventListener("click", act);
  return b;
}

// What a colour stands for.
export function legend(color: string, text: string): HTMLElement {
  const square = element("i");
  square.style.background = `var(--${color})`;
  return element("span", { class: "key" }, square, text);
}

// Rows of a name and a value.
export function facts(pairs: [string, string][]): HTMLElement {
  const list = element("dl", { class: "facts" });
  for (const [name, value] of pairs) {
    if (value !== "") list.append(element("dt", {}, name), element("dd", {}, value));
  }
  return list;
}

export function byId(id: string): HTMLElement {
  const e = document.getElementById(id);
  if (!e) throw new Error(`the page has no ${id}`);
  return e;
}

// A canvas as large as its box, in the pixels of the screen; `draw` gets sizes in CSS pixels.
export class Canvas {
  readonly canvas: HTMLCanvasElement;
  width = 0;
  height = 0;
  frames = 0;
  private isAsked = false;

  constructor(label: string, private draw: (c: CanvasRenderingContext2D) => void) {
    this.canvas = element("canvas", { tabindex: "0", role: "img", "aria-label": label });
    new ResizeObserver(() => this.resize()).observe(this.canvas);
  }

  // Draws before the next frame, once however often it is asked.
  redraw(): void {
    if (this.isAsked) return;
    this.isAsked = true;
    requestAnimationFrame(() => {
      this.isAsked = false;
      this.drawNow();
    });
  }
  drawNow(): void {
    if (this.width === 0) return;
    const c = this.canvas.getContext("2d", { alpha: false })!;
    const scale = window.devicePixelRatio;
    c.setTransform(scale, 0, 0, scale, 0, 0);
    this.draw(c);
    this.frames++;
  }
  private resize(): void {
    const box = this.canvas.getBoundingClientRect();
    this.width = box.width;
    this.height = box.height;
    this.canvas.width = Math.round(box.width * window.devicePixelRatio);
    this.canvas.height = Math.round(box.height * window.devicePixelRatio);
    this.drawNow();
  }
}

// What the style sheet says of colours, light or dark.
export function color(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
export interface Palette {
  ground: string; panel: string; line: string; text: string; faint: string; accent: string;
  series: string[];
}
export function palette(): Palette {
  return {
    ground: color("ground"), panel: color("panel"), line: color("line"), text: color("text"),
    faint: color("faint"), accent: color("accent"),
    series: [1, 2, 3, 4, 5, 6, 7, 8].map((n) => color(`series-${n}`)),
  };
}
