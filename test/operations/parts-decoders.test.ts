import { spawnSync } from 'node:child_process';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { key } from '../support/gateway.ts';
import { accepts } from '../support/parts.ts';
import { sendForBytes } from '../support/raw-http.ts';
import { project } from '../support/rows.ts';

const formats = ['v0.2', '20220824'] as const;

const query = '{ project(id: "1") { name ... @defer { dashboards { totalCount } } } }';

/** Fails for a stream that is not finished. Each writes what it has decoded. */
const decoders: readonly [name: string, coding: 'gzip' | 'br', isThere: boolean, decode: (body: Buffer) => string][] = [
  ['node', 'gzip', true, (body) => gunzipSync(body).toString()],
  ['node', 'br', true, (body) => brotliDecompressSync(body).toString()],
  [
    'Python',
    'gzip',
    ...command('python3', '-c', 'import gzip, sys; sys.stdout.buffer.write(gzip.decompress(sys.stdin.buffer.read()))'),
  ],
  [
    'Python',
    'br',
    ...command(
      '/usr/bin/python3',
      '-c',
      'import brotli, sys; sys.stdout.buffer.write(brotli.decompress(sys.stdin.buffer.read()))',
    ),
  ],
  [
    'Perl',
    'gzip',
    ...command(
      'perl',
      '-MIO::Uncompress::Gunzip=gunzip,$GunzipError',
      '-e',
      'binmode STDIN; gunzip(\\*STDIN => \\*STDOUT, Strict => 1, BinModeOut => 1) or die $GunzipError',
    ),
  ],
];

/** A decoder that reads from its input; it is there if it can decode anything: an empty input is an error of its own kind. */
function command(program: string, ...parameters: string[]): [isThere: boolean, decode: (body: Buffer) => string] {
  const run = (input: Buffer): ReturnType<typeof spawnSync> => spawnSync(program, parameters, { input });
  const { stderr, error } = run(Buffer.alloc(0));
  return [
    error === undefined && !/ModuleNotFound|Can't locate/.test(String(stderr)),
    (body) => {
      const decoded = run(body);
      if (decoded.status !== 0) throw new Error(String(decoded.stderr));
      return String(decoded.stdout);
    },
  ];
}

describe.each(decoders)('a strict decoder of %s', (_name, coding, isThere, decode) => {
  test.skipIf(!isThere).each(formats)(`reads an answer of %s in ${coding} to its end`, async (format) => {
    const { gateway } = await startBoth({
      'GET /api/projects/1/': project(1),
      'GET /api/projects/1/dashboards/': { count: 0, next: null, previous: null, results: [] },
    });
    const { headers, body } = await sendForBytes(gateway.url, {
      headers: [
        ...['content-type', 'application/json', 'authorization', `Bearer ${key}`],
        ...['accept', accepts[format], 'accept-encoding', coding],
      ],
      body: JSON.stringify({ query }),
    });
    expect(headers['content-encoding']).toBe(coding);
    expect(() => decode(body.subarray(0, -1))).toThrow(/./);
    expect(decode(body)).toMatch(/"hasNext":false\}\r\n-----\r\n$/);
  });
});
