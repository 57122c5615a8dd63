import { parseArgs } from 'node:util';
import { introspectionFromSchema, printSchema } from 'graphql';
import { createReadableSchema } from '../schema.ts';
import type { Config } from '../settings/config.ts';
import type { Outcome } from './command.ts';
import { schemaDiff } from './schema-diff.ts';

/** `schema [--json]`: the public schema as SDL, or as the result of introspection. `schema diff …`: what has changed. */
export function schema(args: string[], config: Config): Outcome {
  const [first, ...others] = args;
  if (first === 'diff') return schemaDiff(others, config);
  const { values } = parseArgs({ args, options: { json: { type: 'boolean' } } });
  const served = createReadableSchema(config.incremental);
  const text = values.json === true ? JSON.stringify(introspectionFromSchema(served), null, 2) : printSchema(served);
  return { text, exitCode: 0 };
}
