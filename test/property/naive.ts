import { UpstreamError } from '../../src/rest/errors.ts';
import { isObject, type Row } from '../../src/rest/values.ts';
import { pageTarget } from './contract.ts';
import type { ListPart, Source } from './facts.ts';
import { answerOf, resultsOf } from './upstream.ts';
import type { World } from './world.ts';

/** A source that makes one GET for whatever it is asked, and notes whether something was not there. */
export class NaiveSource implements Source {
  readonly #world: World;
  metAbsence = false;

  constructor(world: World) {
    this.#world = world;
  }

  readonly row: Source['row'] = ({ path, id }) => {
    const row = this.#get(`${path}${id}/`);
    return isObject(row) ? row : null;
  };

  readonly window: Source['window'] = ({ list, offset, limit }) => this.#page(pageTarget(list, offset, limit));

  readonly count: Source['count'] = ({ list }) => this.#page(pageTarget(list, 0, 1));

  readonly any: Source['any'] = ({ path }) => this.#page(`${path}?limit=1`)?.rows[0] ?? null;

  readonly report: Source['report'] = ({ target }) => this.#get(target);

  #page(target: string): ListPart | null {
    const page = this.#get(target);
    return page === null ? null : partOf(page);
  }

  #get(target: string): unknown {
    try {
      return answerOf(this.#world, target);
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      this.metAbsence = true;
      return null;
    }
  }
}

function partOf(page: unknown): ListPart {
  const rows: readonly Row[] = resultsOf(page);
  const [count, next] = isObject(page) ? [page['count'], page['next']] : [undefined, null];
  return { rows, count: typeof count === 'number' ? count : undefined, goesOn: next !== null };
}
