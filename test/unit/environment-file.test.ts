import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readConfig } from '../../src/settings/config.ts';
import { settings } from '../../src/settings/declaration.ts';
import { readEnvironmentFile } from '../../src/settings/environment-file.ts';
import type { EnvironmentFile } from '../../src/settings/settings-reader.ts';
import { createFolder } from '../support/persisted.ts';

const known = Object.keys(settings);

/** The variables that a file with this text sets, and the faults in it. */
function read(text: string): EnvironmentFile {
  using folder = createFolder();
  return readEnvironmentFile(folder.write('settings.env', text), known);
}

test('a file that does not exist sets nothing', () => {
  using folder = createFolder();
  expect(readEnvironmentFile(join(folder.path, 'settings.env'), known)).toEqual({ values: {}, faults: [] });
});

test('values may be quoted, exported and followed by comments', () => {
  const text = '# of this machine\n\nPORT = 4100 # free\nexport HOST="127.0.0.1"\n  OTEL_SERVICE_NAME=x\r\nhttp_proxy=';
  expect(read(text)).toEqual({
    values: { PORT: '4100', HOST: '127.0.0.1', OTEL_SERVICE_NAME: 'x', http_proxy: '' },
    faults: [],
  });
});

test('a byte order mark at the beginning is no part of the first name', () => {
  expect(read('\uFEFFPORT=4100\r\n').values).toEqual({ PORT: '4100' });
});

test.each([
  ['MAX_DEPHT=3', /^MAX_DEPHT: there is no such setting \(in \S+\); expected MAX_DEPTH$/],
  ['port=3', /^port: .*; expected PORT$/],
  ['APP=3', /^APP: .*; see --help$/],
  ['HOST=::1\n# a comment\nPORT: 4100\n', /settings\.env: expected NAME=value in line 3, but it has no =$/],
])('%j is refused, and the fault says what is expected', (text, fault) => {
  expect(read(text).faults).toEqual([expect.stringMatching(fault)]);
});

test('a piece of a key that was pasted is not shown', () => {
  const { faults } = read('PORT=4100\nMIIEvQhunter2==\nexport qhunter2 = x\n');
  expect(faults).toEqual([
    expect.stringMatching(/settings\.env: expected the name of a setting in line 2, but the line has another name$/),
    expect.stringMatching(/settings\.env: expected the name of a setting in line 3, but the line has another name$/),
  ]);
});

test('the line of a wrong name is the one that sets it, and not one that mentions it', () => {
  expect(read('# qhunter2=x\nCURSOR_SECRET=qhunter2=x\n qhunter2 = x\n').faults).toEqual([
    expect.stringMatching(/expected the name of a setting in line 3, but the line has another name$/),
  ]);
});

test('everything that is wrong with a file is told, and the rest of it counts', () => {
  const { values, faults } = read('COLOUR=red\nPORT=4100\nMAX_DEPHT=3\nHOST\n');
  expect(faults).toEqual([
    expect.stringMatching(/^COLOUR: there is no such setting/),
    expect.stringMatching(/^MAX_DEPHT: there is no such setting/),
    expect.stringMatching(/expected NAME=value in line 4, but it has no =$/),
  ]);
  expect(values).toMatchObject({ PORT: '4100' });
});

test('a misspelt name is told once', () => {
  expect(() => readConfig({}, read('MAX_DEPHT=3'))).toThrow(/^MAX_DEPHT: [^:]*; expected MAX_DEPTH$/);
});

test('a name without two of its letters is known, whichever they are', () => {
  const letters = Array.from('UPSTREAM_CONNECTIONS');
  const names = letters.flatMap((_, one) =>
    letters.slice(one + 1).map((__, next) =>
      letters
        .toSpliced(one + 1 + next, 1)
        .toSpliced(one, 1)
        .join(''),
    ),
  );
  const { faults } = read(names.map((name) => `${name}=1\n`).join(''));
  expect(faults.filter((fault) => !fault.endsWith('; expected UPSTREAM_CONNECTIONS'))).toEqual([]);
  expect(faults).toHaveLength(new Set(names).size);
});

test('lines of a value that has several are not taken for lines without a value', () => {
  expect(read('CURSOR_SECRET="one\ntwo"\n')).toEqual({ values: { CURSOR_SECRET: 'one\ntwo' }, faults: [] });
});

test('a folder of that name is refused by name', () => {
  using folder = createFolder();
  const path = join(folder.path, '.env');
  mkdirSync(path);
  expect(readEnvironmentFile(path, known).faults).toEqual([
    `${path}: expected a file that can be read, but it is a folder`,
  ]);
});
