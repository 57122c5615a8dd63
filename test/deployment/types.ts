import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** A value that should have a type, which a module exports. */
export interface Typed {
  readonly type: string;
  readonly from: string;
  readonly value: unknown;
}

/** The errors of the compiler for values as literals of their types, unknown members among them; empty if all fit. */
export function typeErrors(values: readonly Typed[]): string {
  const lines = values.map(
    ({ type, from, value }, index) =>
      `import type { ${type} as T${index} } from '${from}';\nexport const value${index}: T${index} = ${JSON.stringify(value)};\n`,
  );
  const cache = join(root, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'types-'));
  try {
    writeFileSync(join(folder, 'values.ts'), lines.join(''));
    const compilerOptions = { module: 'nodenext', strict: true, noEmit: true, skipLibCheck: true, types: [] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['values.ts'] }));
    const { stdout, stderr } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8' });
    return `${stdout}${stderr}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
