// From a run, where a thread asked for it, to its launches on the queues of devices.
import type { Model, Track } from "./model.js";
import { SCOPE } from "./reader.js";

export interface Place { row: number; track: number; index: number }  // of an event in the timeline
export interface Flow { from: Place; to: Place }

const MOST = 200;  // launches of one run

export class Flows {
  constructor(private model: Model) {}

  // Those that begin or end at an event; the launches of a run in the order of time.
  at(place: Place): Flow[] {
    const track = this.trackAt(place), id = track.ids[place.index]!;
    if (track.isQueue) {
      const from = this.placeOfRun(this.model.trace.launches.run.at(id));
      return from ? [{ from, to: place }] : [];
    }
    const run = this.runOf(place.row, id);
    return run < 0 ? [] : this.launchesOf(run).map((to) => ({ from: place, to }));
  }

  private trackAt(place: Place): Track { return this.model.rows[place.row]!.tracks[place.track]!; }
  private rowNamed(row: number, isQueue: boolean): number {
    const { name } = this.model.trace.rows[row]!;
    return this.model.rows.findIndex((r) => r.name === name && r.isQueue === isQueue);
  }
  private find(row: number, start: number, isIt: (id: number) => boolean): Place | null {
    for (const [number, track] of (this.model.rows[row]?.tracks ?? []).entries()) {
      for (let index = track.firstFrom(start); track.starts[index] === start; index++) {
        if (isIt(track.ids[index]!)) return { row, track: number, index };
      }
    }
    return null;
  }
  private placeOfRun(run: number): Place | null {
    const { row, start } = this.model.trace.runs[run]!;
    return this.find(this.rowNamed(row, false), start, (id) => this.model.trace.scopes.what.at(id) === SCOPE.run);
  }
  private runOf(row: number, scope: number): number {
    const { scopes, runs } = this.model.trace;
    if (scopes.what.at(scope) !== SCOPE.run) return -1;
    return runs.findIndex((r) => r.start === scopes.start.at(scope) && this.rowNamed(r.row, false) === row);
  }
  private launchesOf(run: number): Place[] {
    const { launches } = this.model.trace, found: Place[] = [];
    for (let i = 0; i < launches.length && found.length < MOST; i++) {
      if (launches.run.at(i) !== run) continue;
      const place = this.find(this.rowNamed(launches.row.at(i), true), launches.start.at(i), (id) => id === i);
      if (place) found.push(place);
    }
    return found;
  }
}
