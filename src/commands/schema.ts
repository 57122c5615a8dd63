import { parseArgs } from 'node:util';
import { introspectionFromSchema, printSchema } from 'graphql';
import { createSchema } from '../schema.ts';
import type { Outcome } from './command.ts';

/** `schema [--json]`: the public schema as SDL, or as the result of introspection. */
export function schema(args: string[]): Outcome {
  const { values } = parseArgs({ args, options: { json: { type: 'boolean' } } });
  const served = createSchema();
  const text = values.json === true ? JSON.stringify(introspectionFromSchema(served), null, 2) : printSchema(served);
  return { text, exitCode: 0 };
}
