import { defineConfig } from 'oxlint';
import { importLayers } from './tools/import-layers.ts';

export default defineConfig({
  plugins: ['eslint', 'typescript', 'unicorn', 'oxc', 'import', 'node', 'promise', 'vitest'],
  options: { typeAware: true, denyWarnings: true, reportUnusedDisableDirectives: 'error' },
  // The peers of the benchmark and the agent are plain JavaScript in packages of their own, which need not be installed; what
  // is set up for a tool is run with it, in test/clients/tools.slow.test.ts.
  ignorePatterns: [
    '**/generated/**',
    'coverage/**',
    'bench/peers/**',
    'test/clients/eslint.config.js',
    'test/clients/gql-tada/**',
    'test/mcp-clients/agent.js',
  ],
  categories: { correctness: 'error', suspicious: 'error', perf: 'error' },
  rules: {
    // Pages are walked, and calls repeated, one after the other on purpose.
    'no-await-in-loop': 'off',
    // Private helpers follow the function that needs them, and close over its names where that reads better.
    'unicorn/consistent-function-scoping': 'off',
    // A spread keeps rows immutable; they are small.
    'oxc/no-map-spread': 'off',
    // Copying a set to change it while walking it is not useless.
    'unicorn/no-useless-spread': 'off',
    // `tsc` knows which switches are exhaustive.
    'typescript/consistent-return': 'off',
    'promise/always-return': 'off',
    'promise/no-promise-in-callback': 'off',
    'no-underscore-dangle': ['error', { allow: ['__typename', '__schema', '__type', '_meta'] }],

    eqeqeq: 'error',
    'no-var': 'error',
    'no-warning-comments': 'error',
    'prefer-const': 'error',
    'import/no-cycle': 'error',
    'import/no-duplicates': 'error',
    'import/no-unassigned-import': ['error', { allow: ['**/v8.js'] }],
    'unicorn/no-abusive-eslint-disable': 'error',
    'unicorn/prefer-node-protocol': 'error',

    'typescript/ban-ts-comment': 'error',
    // Also refuses `import('x').Type`, which the layers below do not see.
    'typescript/consistent-type-imports': ['error', { disallowTypeAnnotations: true, fixStyle: 'inline-type-imports' }],
    'typescript/no-deprecated': 'error',
    'typescript/no-explicit-any': 'error',
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/no-non-null-assertion': 'error',
    'typescript/no-unnecessary-condition': 'error',
    'typescript/no-unsafe-argument': 'error',
    'typescript/no-unsafe-assignment': 'error',
    'typescript/no-unsafe-call': 'error',
    'typescript/no-unsafe-function-type': 'error',
    'typescript/no-unsafe-member-access': 'error',
    'typescript/no-unsafe-return': 'error',
    'typescript/no-unsafe-type-assertion': 'error',
    'typescript/only-throw-error': 'error',
    'typescript/prefer-nullish-coalescing': 'error',
    'typescript/prefer-promise-reject-errors': ['error', { allowThrowingUnknown: true }],
    'typescript/prefer-readonly': 'error',
    'typescript/return-await': 'error',
    'typescript/switch-exhaustiveness-check': 'error',
    'typescript/use-unknown-in-catch-callback-variable': 'error',
  },
  overrides: [
    {
      files: ['src/**', 'workspace/**'],
      rules: {
        'max-lines': ['error', { max: 500 }],
        'max-lines-per-function': ['error', { max: 80, skipBlankLines: true, skipComments: true }],
        'no-console': 'error',
        'no-restricted-globals': ['error', { name: 'fetch', message: 'Calls go through src/rest.' }],
        'import/no-default-export': 'error',
        'node/no-process-env': 'error',
        'typescript/explicit-module-boundary-types': 'error',
      },
    },
    {
      // They run in a browser, as they stand: plain JavaScript without types, and scripts that use what others declare.
      files: ['src/http/graphiql/**/*.js'],
      rules: {
        'no-unused-vars': 'off',
        'no-restricted-globals': 'off',
        'typescript/explicit-module-boundary-types': 'off',
        'typescript/no-misused-spread': 'off',
        'typescript/no-unsafe-argument': 'off',
        'typescript/no-unsafe-assignment': 'off',
        'typescript/no-unsafe-call': 'off',
        'typescript/no-unsafe-member-access': 'off',
        'typescript/no-unsafe-return': 'off',
        'typescript/prefer-readonly': 'off',
      },
    },
    { files: ['src/process/command-line.ts'], rules: { 'no-console': 'off', 'node/no-process-env': 'off' } },
    ...importLayers(new URL('src/', import.meta.url)),
    {
      files: ['test/**'],
      rules: {
        'max-lines': ['error', { max: 400 }],
        'vitest/no-restricted-vi-methods': [
          'error',
          { mock: 'Real servers, no module mocks.', doMock: 'Real servers, no module mocks.' },
        ],
      },
    },
  ],
});
