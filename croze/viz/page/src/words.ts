import type { Trace } from "./reader.js";

// What kernels are found by: their names, their operations, and the rules that rewrote them.
export class KernelWords {
  private known = new Map<number, string>();
  private rules = new Map<string, Set<number>>();  // by the name of the kernel

  constructor(private trace: Trace) {
    // A pass names its kernel with the device and the key: "CPU reduce_4_r8 3e65…".
    for (const pass of trace.passes) {
      const name = pass.kernel.split(" ")[1] ?? pass.kernel;
      let rules = this.rules.get(name);
      if (!rules) this.rules.set(name, rules = new Set());
      for (const m of pass.matches) rules.add(m.rule);
    }
  }
  of(number: number): string {
    const known = this.known.get(number);
    if (known !== undefined) return known;
    const { trace } = this, kernel = trace.kernels[number]!;
    const ops = new Set([...trace.text(kernel.graph).matchAll(/= (\w+)/g)].map((m) => m[1]!));
    const rules = [...this.rules.get(kernel.name) ?? []].map((r) => `${trace.rules[r]!.text} ${trace.rules[r]!.place}`);
    const words = [kernel.name, ...ops, ...rules].join("\n");
    this.known.set(number, words);
    return words;
  }
}
