import { expect } from 'vitest';

const isWhole = process.env['TEST_FORM'] === 'whole';

/**
 * The size of a long test: `short` in CI and before a change; `whole`, which the project promises, with
 * `TEST_FORM=whole npx vitest run …`. In the whole form a test prints what it measured.
 */
export function inForm<T>(short: T, whole: T): T {
  return isWhole ? whole : short;
}

/**
 * Holds a time against what the project promises, in the whole form only: in CI it says how busy the machine is, and there
 * a test fails by what has happened.
 */
export function expectWithin(tookMs: number, promisedMs: number): void {
  if (isWhole) expect(tookMs).toBeLessThan(promisedMs);
}

/** Prints what a test measured in its whole form. */
export function measured(what: string, facts: Readonly<Record<string, unknown>>): void {
  if (isWhole) process.stdout.write(`${what}: ${JSON.stringify(facts)}\n`);
}

/**
 * The seed of random cases: that of a variable such as `PLAN_SEED` if it is set. Else the short form takes the same cases each
 * time, so that no change fails by the luck of another one, and the whole form new ones.
 */
export function seedOf(variable: string): number {
  return Number(process.env[variable] ?? inForm(20_261_122, Date.now() % 2 ** 31));
}
