// What the JSON of tools/history/history.h holds, and how a figure stands beside its peers.
export interface Commit { commit: string; date: string; subject: string; changed: boolean; machine: string }
export interface Point { commit: number; value: number; least: number; most: number; worsening?: number; regression?: boolean }
export interface Figure {
  machine: string; name: string; unit: string; better: string; intensity?: number; peers: Record<string, number>; points: Point[];
}
export interface History { commits: Commit[]; figures: Figure[] }

export interface Best { name: string; value: number; ratio: number }  // how many times better than it we are

// The best of the peers that measured the same; what the processor can do is none.
export function bestPeer(figure: Figure): Best | null {
  const value = figure.points.at(-1)!.value;
  const all = Object.entries(figure.peers).filter(([name, v]) => name !== "peak" && v > 0)
    .map(([name, v]) => ({ name, value: v, ratio: figure.better === "more" ? value / v : v / value }));
  return all.reduce<Best | null>((best, p) => best === null || p.ratio < best.ratio ? p : best, null);
}

export function geometricMean(values: number[]): number {
  return Math.exp(values.reduce((sum, v) => sum + Math.log(v), 0) / values.length);
}
