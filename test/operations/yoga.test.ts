/** What the fast path does not share with Yoga, Yoga does as well: the same tests without the fast path. */
process.env['TEST_FAST_PATH'] = 'off';

await import('./graphql-over-http.test.ts');
await import('./persisted.test.ts');
await import('./compression.test.ts');
await import('./hostile-input.test.ts');
