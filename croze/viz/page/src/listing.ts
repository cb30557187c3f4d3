// The disassembly of a kernel beside its loops: basic blocks, the loops of both matched, registers
// that light up wherever they stand.
import { allLoops, blocksOf, instructionsOf, machineLoops, matched, programLoops, registerOf, type Block, type Instruction, type Loop } from "./assembly.js";
import { element } from "./dom.js";
import { count, percent } from "./format.js";

const MOST = 4000;  // instructions that are shown
const REGISTER = /%[a-z]+\d*[a-z]*/g;

export class Listing {
  readonly root = element("div", { class: "sides" });
  readonly instructions: Instruction[];
  readonly blocks: Block[];
  readonly loops: [Loop, Loop][];  // of the code and of the kernel
  readonly kernelLoops: number;
  private lit = -1;
  private register_ = "";  // that is lit
  private lines = new Map<string, HTMLElement[]>();  // that name a register

  readonly sampled: number;  // samples in the kernel; 0: none were taken

  constructor(assembly: string, program: string, private samples: Map<number, number>) {
    this.sampled = [...samples.values()].reduce((sum, n) => sum + n, 0);
    this.instructions = instructionsOf(assembly).slice(0, MOST);
    this.blocks = blocksOf(this.instructions);
    const machine = machineLoops(this.instructions);
    const kernelLoops = programLoops(program);
    this.loops = matched(machine, kernelLoops);
    this.kernelLoops = allLoops(kernelLoops).length;
    const unmatched = this.kernelLoops - this.loops.length;
    const code = element("pre", { class: "code listing", tabindex: "0", "aria-label": "Disassembly" }, ...this.blocks.map((b, i) => this.block(b, i)));
    const kernel = element("pre", { class: "code listing", tabindex: "0", "aria-label": "Loops" }, ...this.kernelLines(program));
    this.root.append(
      element("figure", {}, element("figcaption", {}, `${count(this.instructions.length)} instructions in ${this.blocks.length} blocks, ${this.loops.length} loops matched${unmatched > 0 ? `, ${unmatched} of the kernel not found` : ""}${this.sampled > 0 ? `, ${count(this.sampled)} samples` : ""}`), code),
      element("figure", {}, element("figcaption", {}, "the loops they come from"), kernel));
  }

  // The innermost matched loop around an instruction or a line of the program; -1: none.
  private around(place: number, side: 0 | 1): number {
    let best = -1;
    this.loops.forEach((pair, i) => { if (pair[side].first <= place && place <= pair[side].last) best = i; });
    return best;
  }
  light(loop: number): void {
    this.lit = this.lit === loop ? -1 : loop;
    for (const line of this.root.querySelectorAll<HTMLElement>("[data-loops]")) {
      line.classList.toggle("lit", line.dataset.loops!.split(" ").includes(String(this.lit)));
    }
    this.root.scrollIntoView({ block: "nearest" });
    for (const pane of this.root.querySelectorAll("pre")) {
      const first = pane.querySelector(".lit")?.getBoundingClientRect(), box = pane.getBoundingClientRect();
      if (first) pane.scrollTop += first.top - box.top - box.height / 4;
    }
  }
  // By the keyboard: the next register, or the one before, in the order of the code.
  stepRegister(by: number): void {
    const all = [...this.lines.keys()], at = all.indexOf(this.register_);
    if (all.length === 0) return;
    this.lightRegister(all[at < 0 && by < 0 ? all.length - 1 : (at + by + all.length) % all.length]!);
    this.root.querySelector(".register.lit")?.scrollIntoView({ block: "nearest" });
  }
  // Lights a register, or none.
  lightRegister(register: string | null): void {
    this.register_ = register ?? "";
    for (const e of this.root.querySelectorAll(".register.lit")) e.classList.remove("lit");
    if (register) for (const e of this.lines.get(register) ?? []) e.classList.add("lit");
  }

  // Of the time of the kernel that was seen in so many samples; nothing where it rounds to nothing.
  private shareText(samples: number, before: number): string {
    return samples * 1000 >= this.sampled && samples > 0 ? " ".repeat(before) + percent(samples, this.sampled) : "";
  }
  private loopSamples(loop: number): number {
    const { first, last } = this.loops[loop]![0];
    return this.instructions.slice(first, last + 1).reduce((sum, { at }) => sum + (this.samples.get(at) ?? 0), 0);
  }
  // By the keyboard: where threads were seen most.
  showHottest(): void {
    const most = Math.max(...this.samples.values());
    const line = this.root.querySelector<HTMLElement>(`[data-samples="${most}"]`);
    this.root.querySelector(".hottest")?.classList.remove("hottest");
    line?.classList.add("hottest");
    line?.scrollIntoView({ block: "center" });
  }

  private loopsAt(place: number, side: 0 | 1): string {
    return this.loops.map((_, i) => i).filter((i) => this.loops[i]![side].first <= place && place <= this.loops[i]![side].last).join(" ");
  }
  private loopButton(loop: number): HTMLElement {
    const kernel = this.loops[loop]![1];
    const b = element("button", { type: "button", class: "loop", title: "show where the loop is in both" }, `loop ${kernel.name}: ${kernel.trips}${this.shareText(this.loopSamples(loop), 1)}`);
    b.addEventListener("click", () => this.light(loop));
    return b;
  }
  private block(block: Block, number: number): HTMLElement {
    const next = block.next.map((n) => n <= number ? `back to ${n}` : `${n}`).join(" or ");
    const head = element("span", { class: "block" }, `block ${number}${next ? ` → ${next}` : ""} `);
    this.loops.forEach(([machine], i) => { if (machine.first === block.first) head.append(this.loopButton(i)); });
    const part = element("span", { class: "part", id: `block-${number}` }, head);
    for (let i = block.first; i <= block.last; i++) part.append(this.instruction(i));
    const depth = this.loopsAt(block.first, 0).split(" ").filter((l) => l !== "").length;
    part.style.setProperty("--depth", String(Math.min(depth, 8)));
    return part;
  }
  private instruction(i: number): HTMLElement {
    const { at, name, operands } = this.instructions[i]!;
    const line = element("span", { class: "line", "data-loops": this.loopsAt(i, 0) });
    const seen = this.samples.get(at) ?? 0;
    if (this.sampled > 0) {
      line.dataset.samples = String(seen);
      line.append(element("span", { class: "samples" }, this.shareText(seen, 0).padStart(7)));
    }
    line.append(element("span", { class: "comment" }, at.toString(16).padStart(6)), "  ", element("span", { class: "word" }, name.padEnd(12)), " ");
    let from = 0;
    for (const m of operands.matchAll(REGISTER)) {
      line.append(operands.slice(from, m.index), this.register(m[0]));
      from = m.index + m[0].length;
    }
    line.append(operands.slice(from), "\n");
    return line;
  }
  private register(word: string): HTMLElement {
    const name = registerOf(word), e = element("span", { class: "register" }, word);
    const known = this.lines.get(name);
    if (known) known.push(e); else this.lines.set(name, [e]);
    e.addEventListener("pointerenter", () => this.lightRegister(name));
    e.addEventListener("pointerleave", () => this.lightRegister(null));
    return e;
  }
  private kernelLines(program: string): HTMLElement[] {
    return program.replace(/\n+$/, "").split("\n").map((text, i) => {
      const line = element("span", { class: "line", "data-loops": this.loopsAt(i, 1) }, text);
      const loop = this.loops.findIndex(([, kernel]) => kernel.first === i);
      if (loop >= 0 && this.sampled > 0) line.append(element("span", { class: "samples" }, this.shareText(this.loopSamples(loop), 2)));
      line.append("\n");
      line.addEventListener("click", () => this.light(this.around(i, 1)));
      return line;
    });
  }
  // By the keyboard: the next loop, or the one before.
  step(by: number): void {
    if (this.loops.length === 0) return;
    const next = (this.lit + by + this.loops.length + (this.lit < 0 && by < 0 ? 1 : 0)) % this.loops.length;
    if (next !== this.lit) this.light(next);
  }
}
