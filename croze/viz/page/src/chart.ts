// A chart of lines: axes, lines with points where they are few, dashed levels, marks, and what lies
// under the pointer.
import { Canvas, type Palette, palette } from "./dom.js";

export interface Line { name: string; color: string; faint?: boolean; xs: number[]; ys: number[] }
export interface Level { name: string; y: number }
export interface Mark { x: number; y: number; name: string }
export interface Lines { lines: Line[]; levels?: Level[]; marks?: Mark[]; xLabel: (x: number) => string; startsAtZero?: boolean }

const LEFT = 62, RIGHT = 12, TOP = 10, BOTTOM = 24;

// As few digits as tell it apart.
export function number(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(2);
  return String(Number(value.toPrecision(4)));
}

// Round numbers between two others.
export function ticks(low: number, high: number, about: number): number[] {
  const rough = (high - low) / Math.max(about, 1), power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= rough) ?? rough;
  const found: number[] = [];
  for (let i = Math.ceil(low / step); i * step <= high + step * 1e-9; i++) found.push(i * step);
  return found;
}

export class Chart {
  readonly view: Canvas;
  drawn = { lines: 0, points: 0, levels: 0, marks: 0 };
  private data: Lines = { lines: [], xLabel: String };
  private at: number | null = null;  // the pointer's x
  private low = [0, 0];
  private high = [1, 1];

  constructor(label: string, private pointed: (texts: [string, string][]) => void) {
    this.view = new Canvas(label, (c) => this.draw(c));
    this.view.canvas.addEventListener("pointermove", (e) => this.point(e.offsetX));
    this.view.canvas.addEventListener("pointerleave", () => this.point(null));
  }

  show(data: Lines): void {
    this.data = data;
    const xs = data.lines.flatMap((l) => l.xs.length > 0 ? [Math.min(l.xs[0]!, l.xs.at(-1)!), Math.max(l.xs[0]!, l.xs.at(-1)!)] : []);
    let low = Infinity, high = -Infinity;
    const see = (y: number) => {
      if (!Number.isFinite(y)) return;
      low = Math.min(low, y);
      high = Math.max(high, y);
    };
    for (const line of data.lines) line.ys.forEach(see);
    // A level that would press the lines flat stands at the edge, with an arrow.
    const top = high;
    for (const level of data.levels ?? []) if (level.y <= 2.5 * top) see(level.y);
    if (data.startsAtZero) see(0);
    if (low > high) [low, high] = [0, 1];
    if (low === high) [low, high] = [low - (Math.abs(low) || 1) * 0.5, high + (Math.abs(high) || 1) * 0.5];
    const room = (high - low) * 0.05;
    const [left, right] = [Math.min(...xs, Infinity), Math.max(...xs, -Infinity)];
    this.low = [Number.isFinite(left) ? left : 0, data.startsAtZero ? low : low - room];
    const above = data.levels?.length || data.marks?.length ? 5 * room : room;  // for their names
    this.high = [right > left ? right : this.low[0]! + 1, high + above];
    this.view.redraw();
  }

  private x(x: number): number { return LEFT + (x - this.low[0]!) / (this.high[0]! - this.low[0]!) * (this.view.width - LEFT - RIGHT); }
  private y(y: number): number {
    return this.view.height - BOTTOM - (y - this.low[1]!) / (this.high[1]! - this.low[1]!) * (this.view.height - BOTTOM - TOP);
  }

  private point(pixel: number | null): void {
    this.at = pixel;
    this.view.redraw();
    if (pixel === null) return this.pointed([]);
    const x = this.low[0]! + (pixel - LEFT) / (this.view.width - LEFT - RIGHT) * (this.high[0]! - this.low[0]!);
    this.pointed(this.data.lines.filter((l) => !l.faint && l.xs.length > 0).map((line): [string, string] => {
      const i = nearest(line.xs, x);
      return [line.name, `${number(line.ys[i]!)} at ${this.data.xLabel(line.xs[i]!)}`];
    }));
  }

  private draw(c: CanvasRenderingContext2D): void {
    const p = palette(), { width, height } = this.view, { data } = this;
    this.drawn = { lines: 0, points: 0, levels: 0, marks: 0 };
    c.fillStyle = p.ground;
    c.fillRect(0, 0, width, height);
    c.font = "11px system-ui, sans-serif";
    c.textBaseline = "middle";
    c.textAlign = "right";
    for (const y of ticks(this.low[1]!, this.high[1]!, (height - BOTTOM) / 45)) {
      c.fillStyle = p.line;
      c.fillRect(LEFT, Math.round(this.y(y)), width - LEFT - RIGHT, 1);
      c.fillStyle = p.faint;
      c.fillText(number(y), LEFT - 6, this.y(y), LEFT - 8);
    }
    c.textAlign = "center";
    for (const x of ticks(this.low[0]!, this.high[0]!, (width - LEFT) / 110)) {
      const label = data.xLabel(x), half = c.measureText(label).width / 2;
      c.fillText(label, Math.min(this.x(x), width - half - 2), height - BOTTOM / 2);
    }
    (data.levels ?? []).forEach((level, i) => this.drawLevel(c, level, i, p));
    for (const line of data.lines) this.drawLine(c, line);
    for (const mark of data.marks ?? []) this.drawMark(c, mark, p.text);
    if (this.at !== null && this.at >= LEFT) {
      c.fillStyle = p.faint;
      c.fillRect(this.at, TOP, 1, height - TOP - BOTTOM);
    }
  }
  private drawLevel(c: CanvasRenderingContext2D, level: Level, place: number, p: Palette): void {
    const isAbove = level.y > this.high[1]!, y = isAbove ? TOP : this.y(level.y);
    c.strokeStyle = p.faint;
    c.setLineDash([6, 4]);
    c.beginPath();
    c.moveTo(LEFT, y);
    c.lineTo(this.view.width - RIGHT, y);
    c.stroke();
    c.setLineDash([]);
    // Side by side, and on the line.
    const name = isAbove ? `${level.name} ↑` : level.name, x = LEFT + 6 + place * 110;
    c.textAlign = "left";
    c.fillStyle = p.ground;
    c.fillRect(x - 3, y - 7, c.measureText(name).width + 6, 14);
    c.fillStyle = p.faint;
    c.fillText(name, x, y);
    c.textAlign = "center";
    this.drawn.levels++;
  }
  // Where a pixel has many points, its least and its most.
  private drawLine(c: CanvasRenderingContext2D, line: Line): void {
    const many = line.xs.length > this.view.width * 2;
    c.strokeStyle = c.fillStyle = line.color;
    c.globalAlpha = line.faint ? 0.35 : 1;
    c.lineWidth = line.faint ? 1 : 1.75;
    c.beginPath();
    let open = false, pixel = NaN, low = 0, high = 0;
    const flush = () => {
      if (Number.isNaN(pixel)) return;
      if (open) c.lineTo(pixel, low); else c.moveTo(pixel, low);
      if (high !== low) c.lineTo(pixel, high);
      open = true;
    };
    for (let i = 0; i < line.xs.length; i++) {
      const y = line.ys[i]!;
      if (!Number.isFinite(y)) { flush(); open = false; pixel = NaN; continue; }
      const px = many ? Math.round(this.x(line.xs[i]!)) : this.x(line.xs[i]!), py = this.y(y);
      this.drawn.points++;
      if (many && px === pixel) { low = Math.min(low, py); high = Math.max(high, py); continue; }
      flush();
      [pixel, low, high] = [px, py, py];
    }
    flush();
    c.stroke();
    if (line.xs.length <= 60 && !line.faint) {
      for (let i = 0; i < line.xs.length; i++) {
        if (!Number.isFinite(line.ys[i]!)) continue;
        c.beginPath();
        c.arc(this.x(line.xs[i]!), this.y(line.ys[i]!), 2.5, 0, 7);
        c.fill();
      }
    }
    c.globalAlpha = 1;
    this.drawn.lines++;
  }
  private drawMark(c: CanvasRenderingContext2D, mark: Mark, color: string): void {
    const x = this.x(mark.x), y = this.y(mark.y);
    c.strokeStyle = c.fillStyle = color;
    c.lineWidth = 2;
    c.beginPath();
    c.arc(x, y, 7, 0, 7);
    c.stroke();
    c.textAlign = x > this.view.width / 2 ? "right" : "left";
    c.font = "bold 11px system-ui, sans-serif";
    c.fillText(mark.name, x + (x > this.view.width / 2 ? -11 : 11), Math.max(y - 11, 8));
    c.textAlign = "center";
    c.font = "11px system-ui, sans-serif";
    this.drawn.marks++;
  }
}

// Which of numbers that grow is nearest.
export function nearest(xs: number[], x: number): number {
  let low = 0, high = xs.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (xs[middle]! < x) low = middle + 1; else high = middle;
  }
  return low > 0 && x - xs[low - 1]! < xs[low]! - x ? low - 1 : low;
}
