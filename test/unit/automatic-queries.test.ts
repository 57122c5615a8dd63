import { describe, expect, test, vi } from 'vitest';
import { createMemoryStore, createRegistrations } from '../../src/operation/persisted/automatic.ts';

describe('A store in memory', () => {
  test('forgets the texts that were asked for least recently, by their number', () => {
    const store = createMemoryStore();
    for (let index = 1; index <= 10_000; index += 1) store.set(`${index}`, `text ${index}`);
    expect(store.get('1')).toBe('text 1');
    store.set('10001', 'text 10001');
    expect(['1', '2', '10001'].map((hash) => store.get(hash))).toEqual(['text 1', undefined, 'text 10001']);
  });

  test('holds no more than its bytes, and nothing that is larger than all of them', () => {
    const store = createMemoryStore();
    // Of 4 MiB each, for a character counts as two bytes.
    for (let index = 10; index < 60; index += 1) store.set(`${index}`, 'x'.repeat(2 ** 21 - 2));
    const known = Array.from({ length: 50 }, (_, index) => store.get(`${index + 10}`)).filter(Boolean);
    expect(known.length).toBe(8);
    store.set('huge', 'x'.repeat(2 ** 24));
    expect(store.get('huge')).toBeUndefined();
    expect(store.get('59')).toBeDefined();
  });
});

describe('Registrations', () => {
  test('keep for this process what only others knew, and give them a text once, when they are told to', async () => {
    const near = createMemoryStore();
    const far = createMemoryStore();
    const store = createRegistrations(near, far);
    far.set('a', 'A');
    expect(await store.get('a')).toBe('A');
    expect(near.get('a')).toBe('A');
    store.set('b', 'B');
    expect([near.get('b'), far.get('b')]).toEqual(['B', undefined]);
    expect(store.publishOf('a', 'A')).toBeUndefined();
    store.publishOf('b', 'B')?.('caller');
    expect(far.get('b')).toBe('B');
    expect(store.publishOf('b', 'B')).toBeUndefined();
    store.set('b', 'B');
    expect(store.publishOf('b', 'B')).toBeDefined();
    expect(await store.get('c')).toBeUndefined();
  });

  test('give others again what is in use after a minute: they may have lost it', async () => {
    const far = new Map<string, string>();
    const store = createRegistrations(createMemoryStore(), {
      get: (hash) => far.get(hash),
      set: (hash, text) => void far.set(hash, text),
    });
    const now = performance.now();
    const clock = vi.spyOn(performance, 'now').mockReturnValue(now);
    store.set('a', 'A');
    store.publishOf('a', 'A')?.('caller');
    far.clear();
    expect(store.publishOf('a', 'A')).toBeUndefined();
    clock.mockReturnValue(now + 61_000);
    // The cache of these notes looks at the clock once a millisecond at most.
    await vi.waitFor(() => expect(store.publishOf('a', 'A')).toBeDefined(), { interval: 1 });
    store.publishOf('a', 'A')?.('caller');
    expect(far.get('a')).toBe('A');
  });
});
