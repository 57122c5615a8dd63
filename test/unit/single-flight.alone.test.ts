import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { createContext, runInContext } from 'node:vm';
import { expect, onTestFinished, test, vi } from 'vitest';
import { SharedWork, SingleFlight } from '../../src/rest/single-flight.ts';

interface Waiter {
  readonly name: string;
}

class Work extends SharedWork<Waiter> {
  cancelled = 0;

  override cancel(): void {
    this.cancelled += 1;
  }
}

function createFlight(): SingleFlight<Work> {
  return new SingleFlight(100);
}

function start(flight: SingleFlight<Work>, name: string): Work {
  const work = new Work();
  flight.add(name, work);
  work.add({ name: 'first' });
  return work;
}

test('work is not joined once its join window has passed; newer work takes its place and outlives its end', () => {
  const flight = createFlight();
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const old = start(flight, 'GET /');
  vi.advanceTimersByTime(100);
  expect(flight.find('GET /')).toBeUndefined();
  const fresh = start(flight, 'GET /');
  old.end();
  expect(flight.find('GET /')).toBe(fresh);
});

test('work that has ended is not joined, and settles for those who waited once', () => {
  const flight = createFlight();
  const work = start(flight, 'GET /');
  work.add({ name: 'second' });
  expect(work.end()).toEqual([{ name: 'first' }, { name: 'second' }]);
  expect([work.end(), flight.find('GET /')]).toEqual([[], undefined]);
});

test('only the last waiter to leave cancels the work, and once', () => {
  const flight = createFlight();
  const work = start(flight, 'GET /');
  const [first] = work.waiters;
  const second = { name: 'second' };
  work.add(second);
  if (first !== undefined) work.leave(first);
  expect([work.cancelled, work.waiters]).toEqual([0, [second]]);
  work.leave(second);
  work.leave(second);
  expect([work.cancelled, flight.find('GET /')]).toEqual([1, undefined]);
});

test('work that has ended is garbage of the young generation, although works overlap without end', () => {
  const flight = createFlight();
  const underWay: Work[] = [];
  const oldSpace = (): number =>
    getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.space_used_size ?? 0;
  class HeavyWork extends Work {
    readonly payload = Array.from({ length: 1000 }, (_, index) => ({ index }));
  }
  const runWorks = (count: number): void => {
    for (let index = 0; index < count; index += 1) {
      const work = new HeavyWork();
      flight.add(`GET /${index}`, work);
      underWay.push(work);
      if (underWay.length > 16) underWay.shift()?.end();
    }
  };
  setFlagsFromString('--expose-gc');
  const context = createContext();
  const collect = (type: 'major' | 'minor'): void => void runInContext(`gc({ type: '${type}' })`, context);
  runWorks(100);
  collect('major');
  const before = oldSpace();
  for (let collections = 0; collections < 20; collections += 1) {
    runWorks(100);
    collect('minor');
  }
  // One work has about 30 KiB; a third of the 2,000 stayed when old tables of the map led to them.
  expect(oldSpace() - before).toBeLessThan(100 * 30 * 1024);
});
