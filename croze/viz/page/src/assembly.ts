// What stands in a disassembly: instructions, basic blocks and loops; and which loops of the kernel
// the loops of the machine code are.
//
// The code of a kernel keeps its loops: none is unrolled, split or merged behind the back of the
// edits.  So the loops of both nest alike, and are matched from the outside in; where they do not
// nest alike, nothing is claimed.

export interface Instruction { at: number; name: string; operands: string; target: number }  // an index; -1: no jump inside
export interface Block { first: number; last: number; next: number[] }
export interface Loop { first: number; last: number; inner: Loop[]; name: string; trips: string }

const LINE = /^\s*([0-9a-f]+):\s*(\S+)\s*(.*)$/;
const JUMP = /^(?:j\w+|loop\w*|b|b\.\w+|cbn?z|tbn?z)$/;
const RETURN = /^(?:ret\w*|jmp|b|br|ud2)$/;  // what follows is not reached from here

export function instructionsOf(text: string): Instruction[] {
  const list: Instruction[] = [];
  for (const line of text.split("\n")) {
    const m = LINE.exec(line);
    if (m) list.push({ at: parseInt(m[1]!, 16), name: m[2]!, operands: m[3]!, target: -1 });
  }
  const places = new Map(list.map((instruction, i) => [instruction.at, i]));
  list.forEach((instruction, i) => {
    if (!JUMP.test(instruction.name)) return;
    const m = /(#?)(-?\d+)$/.exec(instruction.operands);
    if (!m) return;
    // x86 counts from the end of the instruction, ARM from its beginning.
    const from = m[1] === "#" ? instruction.at : list[i + 1]?.at ?? Infinity;
    instruction.target = places.get(from + Number(m[2])) ?? -1;
  });
  return list;
}

export function blocksOf(list: Instruction[]): Block[] {
  const begins = new Set([0]);
  list.forEach((instruction, i) => {
    if (instruction.target >= 0) begins.add(instruction.target);
    if (JUMP.test(instruction.name) || RETURN.test(instruction.name)) begins.add(i + 1);
  });
  const firsts = [...begins].filter((i) => i < list.length).sort((a, b) => a - b);
  const blocks = firsts.map((first, k): Block => ({ first, last: (firsts[k + 1] ?? list.length) - 1, next: [] }));
  const blockAt = new Map(blocks.map((b, k) => [b.first, k]));
  blocks.forEach((block, k) => {
    const end = list[block.last]!;
    if (end.target >= 0) block.next.push(blockAt.get(end.target)!);
    if (!RETURN.test(end.name) && k + 1 < blocks.length) block.next.push(k + 1);
  });
  return blocks;
}

// Intervals put into each other.
function nested(flat: Loop[]): Loop[] {
  const roots: Loop[] = [], open: Loop[] = [];
  for (const loop of flat.sort((a, b) => a.first - b.first || b.last - a.last)) {
    while (open.length > 0 && open.at(-1)!.last < loop.first) open.pop();
    (open.at(-1)?.inner ?? roots).push(loop);
    open.push(loop);
  }
  return roots;
}

// A jump back, and what lies between.
export function machineLoops(list: Instruction[]): Loop[] {
  const byHead = new Map<number, Loop>();
  list.forEach(({ target }, i) => {
    if (target < 0 || target > i) return;
    const known = byHead.get(target);
    if (known) known.last = Math.max(known.last, i);
    else byHead.set(target, { first: target, last: i, inner: [], name: "", trips: "" });
  });
  return nested([...byHead.values()]);
}

// "loop r5", its range, and "end_loop", by lines of the linear program.
export function programLoops(text: string): Loop[] {
  const flat: Loop[] = [], open: Loop[] = [];
  text.split("\n").forEach((line, i) => {
    const begin = /^\s*loop (\S+)/.exec(line), range = /= range \S+ \[(.*)\]/.exec(line);
    if (begin) {
      const loop = { first: i, last: i, inner: [], name: begin[1]!, trips: "" };
      flat.push(loop);
      open.push(loop);
    } else if (range && open.length > 0 && open.at(-1)!.trips === "") {
      open.at(-1)!.trips = range[1]!;
    } else if (/^\s*end_loop/.test(line)) {
      const loop = open.pop();
      if (loop) loop.last = i;
    }
  });
  return nested(flat);
}

// Pairs of loops, the outer ones first.
export function matched(code: Loop[], kernel: Loop[]): [Loop, Loop][] {
  if (code.length !== kernel.length) return [];
  return code.flatMap((loop, i): [Loop, Loop][] => [[loop, kernel[i]!], ...matched(loop.inner, kernel[i]!.inner)]);
}

export const allLoops = (loops: Loop[]): Loop[] => loops.flatMap((loop) => [loop, ...allLoops(loop.inner)]);

// The register under all of its names: "%ymm3" and "%xmm3" are one, "%eax" and "%rax" too.
export function registerOf(word: string): string {
  const name = word.replace("%", "");
  const vector = /^[xyz]mm(\d+)$/.exec(name);
  if (vector) return `v${vector[1]}`;
  const numbered = /^r(\d+)[dwb]?$/.exec(name);
  if (numbered) return `r${numbered[1]}`;
  const named = /^[re]?(ax|bx|cx|dx|si|di|bp|sp)$/.exec(name) ?? /^([abcd])[lh]$/.exec(name) ?? /^(si|di|bp|sp)l$/.exec(name);
  if (!named) return name;
  return named[1]!.length === 1 ? `${named[1]}x` : named[1]!;
}
