import type { DriftKind } from './compare.ts';

/** Differences of one kind in one column of one route's answers. */
export interface DriftSeries {
  /** Such as `/api/projects/:id/dashboards/`; `other` for all that have no series of their own. */
  readonly route: string;
  readonly column: string;
  readonly kind: DriftKind | 'other';
}

/** The number of answers with a difference. */
export interface DriftCount extends DriftSeries {
  readonly count: number;
}

/** Called when a difference is first seen. Called with `other` once there are more differences than series. */
export type OnFirstSight = (series: DriftSeries) => void;

/** The most series that are counted by name. */
export const mostDriftSeries = 50;

/** The series of all further differences. */
export const otherDrift = { route: 'other', column: 'other', kind: 'other' } as const;

/** Counts differences, bounded however many there are. */
export class DriftCounts {
  readonly #counts = new Map<string, DriftSeries & { count: number }>();
  readonly #onFirstSight: OnFirstSight;

  constructor(onFirstSight: OnFirstSight) {
    this.#onFirstSight = onFirstSight;
  }

  /** Counts an answer with this difference; undefined stands for one that must not be shown. */
  add(series: DriftSeries | undefined): void {
    const { route, column, kind } = series ?? otherDrift;
    const key = `${route} ${column} ${kind}`;
    const known = this.#counts.get(key);
    if (known !== undefined) known.count += 1;
    else if (series !== undefined && this.#counted < mostDriftSeries) this.#start(key, series);
    else if (this.#counts.has(otherKey)) this.add(undefined);
    else this.#start(otherKey, otherDrift);
  }

  all(): readonly DriftCount[] {
    return [...this.#counts.values()];
  }

  get #counted(): number {
    return this.#counts.size - (this.#counts.has(otherKey) ? 1 : 0);
  }

  #start(key: string, series: DriftSeries): void {
    this.#counts.set(key, { ...series, count: 1 });
    this.#onFirstSight(series);
  }
}

const otherKey = `${otherDrift.route} ${otherDrift.column} ${otherDrift.kind}`;
