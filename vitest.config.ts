import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * True if the tests are those of `npm test`, which are for every change. The slow ones are left out: attacks, loads, processes
 * and browsers. CI sets TEST_FORM to run those, too, and `npx vitest run` runs all.
 */
const isQuick = process.env['npm_lifecycle_event'] === 'test' && process.env['TEST_FORM'] === undefined;

/** Test files that no run takes, and those that a quick run leaves out. */
const leftOut = [...configDefaults.exclude, ...(isQuick ? ['test/**/*.slow.test.ts'] : [])];

/** Tests that replace something of their whole process, as timers, or measure it, as memory. */
const alone = 'test/**/*.alone*.test.ts';

/** Runs the slow files first, so that the last ones are short and no process is idle for long at the end. */
class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isSlow = ({ moduleId }: TestSpecification): boolean => moduleId.includes('.slow.');
    // oxlint-disable-next-line unicorn/no-array-sort -- that of vitest, which is no array's
    return (await super.sort(files)).toSorted((one, other) => Number(isSlow(other)) - Number(isSlow(one)));
  }
}

export default defineConfig({
  // Vite's own resolution would load graphql a second time, as CommonJS: two realms, and every schema check fails.
  ssr: { resolve: { conditions: ['module-sync', 'node'] } },
  test: {
    projects: [
      {
        test: {
          name: 'tests',
          include: ['test/**/*.test.ts'],
          exclude: [...leftOut, alone],
          // Files share the modules of their process: loading the gateway for each costs more than half a second. A test
          // file that imported another would keep that one's tests from running in the same process.
          isolate: false,
        },
      },
      // Each file in a process of its own: what an earlier one left running would set its timers on the fake clock.
      { test: { name: 'alone', include: [alone], exclude: leftOut, isolate: true } },
    ],
    globalSetup: ['test/support/compile-cache.ts'],
    // Processes, because signals and child processes then behave as in production: at most as many as a small CI
    // machine has cores. A third one would use the cores better, but some tests require a client or a server to act
    // within seconds.
    pool: 'forks',
    maxWorkers: 2,
    sequence: { sequencer: SlowFirst },
    // A dozen times what the longest take on a calm machine: none fails because a machine is slow.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    restoreMocks: true,
    unstubEnvs: true,
    coverage: {
      provider: 'v8',
      include: ['{src,workspace}/**/*.ts'],
      // The others run in processes of their own, which are not counted: see test/start and operations/tracing.
      exclude: [
        '{src,workspace}/**/generated/**',
        'src/main.ts',
        'src/process/serving.ts',
        'src/process/start-failures.ts',
        'src/process/stop-on-signal.ts',
        'src/cluster/{primary,primary-link,worker-handle}.ts',
        'src/commands/**',
        'src/telemetry/tracing/**',
      ],
      reporter: ['text', 'json-summary'],
      thresholds: { lines: 95 },
    },
  },
});
