// Two texts line by line: what of them is the same, and what is in one of them alone.
export interface Line { text: string; what: "same" | "gone" | "made" }

const MOST = 3_000_000;  // pairs of lines that are looked at

// The fewest lines that are not the same.  Texts with too many lines are not compared: what lies
// between their equal beginnings and ends is all gone, and all made.
export function difference(before: string[], after: string[]): Line[] {
  let first = 0, end = 0;
  while (first < before.length && first < after.length && before[first] === after[first]) first++;
  while (end < before.length - first && end < after.length - first && before.at(-1 - end) === after.at(-1 - end)) end++;
  const same = (lines: string[]): Line[] => lines.map((text) => ({ text, what: "same" }));
  return [...same(before.slice(0, first)), ...middle(before.slice(first, before.length - end), after.slice(first, after.length - end)),
          ...same(end > 0 ? before.slice(-end) : [])];
}

function middle(before: string[], after: string[]): Line[] {
  const [n, m] = [before.length, after.length];
  const gone = (text: string): Line => ({ text, what: "gone" }), made = (text: string): Line => ({ text, what: "made" });
  if (n * m > MOST || n * m === 0) return [...before.map(gone), ...after.map(made)];
  // Of the ends from i and from j, the most lines that are the same.
  const width = m + 1, most = new Int32Array((n + 1) * width);
  for (let i = n - 1; i >= 0; i--) for (let j = m - 1; j >= 0; j--) {
    most[i * width + j] = before[i] === after[j] ? most[(i + 1) * width + j + 1]! + 1
      : Math.max(most[(i + 1) * width + j]!, most[i * width + j + 1]!);
  }
  const lines: Line[] = [];
  let i = 0, j = 0;
  while (i < n && j < m) {
    if (before[i] === after[j]) {
      lines.push({ text: before[i]!, what: "same" });
      i++;
      j++;
    } else if (most[(i + 1) * width + j]! >= most[i * width + j + 1]!) lines.push(gone(before[i++]!));
    else lines.push(made(after[j++]!));
  }
  return [...lines, ...before.slice(i).map(gone), ...after.slice(j).map(made)];
}
