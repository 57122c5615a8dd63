import { defineConfig } from 'vitest/config';

export default defineConfig({
  // Vite's own resolution would load graphql a second time, as CommonJS: two realms, and every schema check fails.
  ssr: { resolve: { conditions: ['module-sync', 'node'] } },
  test: {
    include: ['test/**/*.test.ts'],
    // Files share the modules of their process: loading the gateway for each costs more than half a second. A test file
    // that imported another would keep that one's tests from running in the same process.
    isolate: false,
    globalSetup: ['test/support/compile-cache.ts'],
    // Processes, at most as many as a small CI machine has cores: signals and child processes behave as in production.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 20_000,
    restoreMocks: true,
    unstubEnvs: true,
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      // They run in processes of their own, which are not counted: see test/start and operations/tracing.
      exclude: [
        'src/**/generated/**',
        'src/main.ts',
        'src/serving.ts',
        'src/exit.ts',
        'src/cluster/{primary,worker,worker-handle}.ts',
        'src/commands/**',
        'src/telemetry/tracing/**',
      ],
      reporter: ['text', 'json-summary'],
      thresholds: { lines: 95 },
    },
  },
});
