import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { latePackage } from '../../src/late-packages.ts';

test('the compiler of operations is loaded without the serializer that it never uses, and without its validator', () => {
  expect(latePackage('graphql-jit').compileQuery).toBeTypeOf('function');
  const loaded = Object.keys(createRequire(import.meta.url).cache);
  expect(loaded.filter((path) => path.includes('/node_modules/ajv/'))).toEqual([]);
});
