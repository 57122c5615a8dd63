import { afterEach, expect, test, vi } from 'vitest';
import { HeapGrowth } from '../../src/rest/cache/heap-growth.ts';

afterEach(() => void vi.useRealTimers());

test('V8 collects sooner at first and while much comes into the cache, and as it likes else', () => {
  vi.useFakeTimers();
  const told: number[] = [];
  const growth = new HeapGrowth(1000, (percent) => told.push(percent));
  expect(told).toEqual([30]);
  growth.kept(300);
  vi.advanceTimersByTime(10_000);
  expect(told).toEqual([30]);
  growth.kept(249);
  vi.advanceTimersByTime(10_000);
  expect(told).toEqual([30, 0]);
  // Little, again and again.
  for (let times = 0; times < 5; times += 1) {
    growth.kept(200);
    vi.advanceTimersByTime(10_000);
  }
  expect(told).toEqual([30, 0]);
  growth.kept(249);
  growth.kept(1);
  expect(told).toEqual([30, 0, 30]);
  vi.advanceTimersByTime(20_000);
  expect(told).toEqual([30, 0, 30, 0]);
});
