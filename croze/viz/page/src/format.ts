// Numbers as people read them.

const scaled = (value: number, units: [number, string][]): string => {
  for (const [size, unit] of units) {
    if (Math.abs(value) >= size) {
      const v = value / size;
      return `${v >= 100 ? v.toFixed(0) : v >= 10 ? v.toFixed(1) : v.toFixed(2)} ${unit}`;
    }
  }
  return `${Math.round(value)} ${units[units.length - 1]![1]}`;
};

export const duration = (ns: number): string =>
  scaled(ns, [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]]);
export const bytes = (n: number): string =>
  scaled(n, [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [1024, "KiB"], [1, "B"]]);
export const count = (n: number): string => n.toLocaleString("en-US");
export const percent = (part: number, all: number): string =>
  all > 0 ? `${(part / all * 100).toFixed(1)} %` : "";
export const share = (part: number): string => part > 0 ? `${(part * 100).toFixed(1)} %` : "";
// Of so much in so many nanoseconds: "12.3 G".
export const rate = (amount: number, ns: number): string =>
  ns > 0 && amount > 0 ? (amount / ns).toFixed(2) : "";
export const shape = (dtype: string, sizes: number[]): string => `${dtype}[${sizes.join(", ")}]`;
