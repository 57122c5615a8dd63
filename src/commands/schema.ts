import { parseArgs } from 'node:util';
import { introspectionFromSchema, printSchema } from 'graphql';
import { createReadableSchema } from '../schema.ts';
import { readPlainConfig } from '../settings/config.ts';
import type { SettingsReader } from '../settings/reader.ts';
import type { Outcome } from './command.ts';
import { schemaDiff } from './schema-diff.ts';

/**
 * `schema [--json]`: prints the public schema as SDL, or as the result of introspection. `schema diff …`: prints its
 * changes.
 */
export function schema(args: string[], settings: SettingsReader): Outcome {
  const [first, ...others] = args;
  if (first === 'diff') return schemaDiff(others, settings);
  const { values } = parseArgs({ args, options: { json: { type: 'boolean' } } });
  const served = createReadableSchema(readPlainConfig(settings).incremental);
  const text = values.json === true ? JSON.stringify(introspectionFromSchema(served), null, 2) : printSchema(served);
  return { text, exitCode: 0 };
}
