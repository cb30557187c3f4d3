// What runs on a device, under its roof: how much arithmetic it does for a byte, and how much in a
// nanosecond.  Both axes are logarithmic.
import { Canvas, palette } from "./dom.js";
import type { Roof } from "./model.js";

const LEFT = 56, BOTTOM = 26, TOP = 12, RIGHT = 12;

export interface Point { kind: number; x: number; y: number }  // FLOP for a byte, GFLOP/s

export class Roofline {
  readonly view: Canvas;
  private x: [number, number] = [-2, 3];  // powers of ten
  private y: [number, number] = [-1, 3];

  // The chosen kind, if it is one, is drawn above the others.
  constructor(label: string, readonly points: Point[], private roof: Roof, private chosen = -1) {
    this.view = new Canvas(label, (c) => this.draw(c));
    const floor = (f: (p: Point) => number, least: number) => Math.floor(Math.log10(Math.min(least, ...this.points.map(f))));
    const ceil = (f: (p: Point) => number, most: number) => Math.ceil(Math.log10(Math.max(most, ...this.points.map(f))));
    const ridge = roof.flops / roof.bytes;
    this.x = [floor((p) => p.x, ridge / 10), ceil((p) => p.x, ridge * 10)];
    this.y = [floor((p) => p.y, roof.flops / 100), ceil((p) => p.y, roof.flops)];
  }

  private px(v: number): number {
    const { width } = this.view, [a, b] = this.x;
    return LEFT + (Math.log10(v) - a) / (b - a) * (width - LEFT - RIGHT);
  }
  private py(v: number): number {
    const { height } = this.view, [a, b] = this.y;
    return height - BOTTOM - (Math.log10(v) - a) / (b - a) * (height - BOTTOM - TOP);
  }

  private draw(c: CanvasRenderingContext2D): void {
    const p = palette(), { width, height } = this.view;
    c.fillStyle = p.ground;
    c.fillRect(0, 0, width, height);
    c.font = "11px system-ui, sans-serif";
    c.textBaseline = "middle";
    c.fillStyle = p.faint;
    c.textAlign = "center";
    for (let e = this.x[0]; e < this.x[1]; e++) c.fillText(`${10 ** e}`, this.px(10 ** e), height - BOTTOM + 9);
    c.textAlign = "left";
    for (let e = this.y[0]; e <= this.y[1]; e++) c.fillText(`${10 ** e}`, 6, this.py(10 ** e), LEFT - 10);
    c.fillText("FLOP for a byte", width - RIGHT - 84, height - BOTTOM + 9);
    c.fillText("GFLOP/s", LEFT + 4, TOP + 4);
    const ridge = this.roof.flops / this.roof.bytes;
    c.strokeStyle = p.text;
    c.lineWidth = 2;
    c.beginPath();
    c.moveTo(this.px(10 ** this.x[0]), this.py(10 ** this.x[0] * this.roof.bytes));
    c.lineTo(this.px(ridge), this.py(this.roof.flops));
    c.lineTo(this.px(10 ** this.x[1]), this.py(this.roof.flops));
    c.stroke();
    for (const point of this.points) if (point.kind !== this.chosen) this.dot(c, point, p.series[0]!, 4);
    const chosen = this.points.find((point) => point.kind === this.chosen);
    if (chosen) this.dot(c, chosen, p.series[5]!, 7);
  }
  private dot(c: CanvasRenderingContext2D, point: Point, fill: string, radius: number): void {
    c.fillStyle = fill;
    c.strokeStyle = palette().text;
    c.lineWidth = 1;
    c.beginPath();
    c.arc(this.px(point.x), this.py(point.y), radius, 0, 7);
    c.fill();
    c.stroke();
  }
}
