import { type Arbitrary, constant, constantFrom, oneof, record, string } from 'fast-check';
import { hashOf } from '../../src/operation/persisted/ids.ts';

/** Documents that are fine at least with the right variables. */
const fine = [
  '{ __typename }',
  '{ project(id: 1) { name } }',
  '{ project(id: 1) { name dashboards(first: 2) { totalCount nodes { id name tiles } } } }',
  'query Q($id: ID!) { project(id: $id) { id name } }',
  'query Q($id: ID! = 1, $first: Int) { project(id: $id) { events(first: $first) { nodes { event } } } }',
  'query A { __typename } query B { a: __typename }',
  'mutation { deleteProject(input: { id: "1" }) { deletedId } }',
  'mutation M($input: CreateProjectInput!) { createProject(input: $input) { project { name } } }',
  '{ project(id: 1) { events(first: 100) { nodes { id event timestamp properties distinctId } } } }',
  '{ missing: project(id: 404) { name } broken: project(id: 403) { name } }',
  '{ projects(first: 1000) { nodes { id } } }',
  '{ __schema { queryType { name } } }',
] as const;

/** Documents that are refused, each at another step on the way to an answer. */
const refused = [
  '{ nope }',
  '{ project { name } }',
  '{',
  '',
  ' ',
  '# nothing',
  'subscription { x }',
  'type A { b: Int }',
  `{ ${'a: __typename '.repeat(40)} }`,
  `{ ${'project(id: 1) { organization { plugins { nodes { organization { '.repeat(4)}id${'} } } }'.repeat(4)} }`,
  `{ __typename ${'# long '.repeat(300)}\n}`,
  '{ project(id: "\u00e9\u{1f600}") { name } }',
  '{ project(id: 1) { name @nope } ... @include(if: true) { __typename } }',
  'query($a: Nope) { __typename }',
  'fragment F on Query { __typename } { ...F }',
] as const;

const unusual: readonly unknown[] = [
  null,
  '',
  0,
  1.5,
  true,
  [],
  {},
  'text',
  [1],
  { a: { b: [null] } },
  12345678901234567890n,
];

const anything = constantFrom(...unusual);

/** Mostly what is right, sometimes anything. */
function mostly(right: Arbitrary<unknown>, wrong: Arbitrary<unknown> = anything): Arbitrary<unknown> {
  return oneof({ weight: 40, arbitrary: right }, { weight: 1, arbitrary: wrong });
}

/** A member that is there in so many of a hundred requests. */
function inHundred(times: number, value: Arbitrary<unknown>): Arbitrary<unknown> {
  return oneof({ weight: times, arbitrary: value }, { weight: 100 - times, arbitrary: constant(undefined) });
}

const documents = [...fine, ...refused];

const document = oneof(
  { weight: 3, arbitrary: constantFrom(...fine) },
  { weight: 1, arbitrary: constantFrom(...refused) },
);

const variables = oneof(
  constantFrom<unknown>(
    {},
    { id: '1' },
    { id: 1 },
    { id: null },
    { id: '404', first: 3 },
    { first: -1 },
    { first: '3' },
  ),
  record({ input: oneof(constant<unknown>({ name: 'new' }), record({ name: anything, extra: anything })) }),
);

const hashes = documents.flatMap((text) => [hashOf(text), `sha256:${hashOf(text)}`, hashOf(text).toUpperCase()]);
const id = oneof(constantFrom(...hashes), constantFrom('unknown', 'sha256:', 'a'.repeat(64)), string({ maxLength: 5 }));

const persistedQuery = record({
  version: mostly(constant(1)),
  sha256Hash: mostly(id),
});

const extensions = oneof(
  record({ persistedQuery: mostly(persistedQuery) }),
  constantFrom<unknown>({}, { cost: true }, { explain: 'plan' }, { explain: 'nope' }),
);

/** A text together with its own hash, as a client registers it. */
const registration = document.map((query) => ({
  query,
  extensions: { persistedQuery: { version: 1, sha256Hash: hashOf(query) } },
}));

const params: Arbitrary<Readonly<Record<string, unknown>>> = oneof(
  {
    weight: 8,
    arbitrary: record({
      query: inHundred(92, mostly(document)),
      variables: inHundred(60, mostly(variables)),
      operationName: inHundred(30, mostly(constantFrom('Q', 'A', 'B', 'M', '', 'Nope'))),
      extensions: inHundred(20, mostly(extensions)),
      documentId: inHundred(4, mostly(id)),
      doc_id: inHundred(2, mostly(id)),
      unknown: inHundred(5, anything),
    }),
  },
  { weight: 1, arbitrary: registration },
);

/** The JSON of a value; long integers keep their digits, as they would from a client in another language. */
function toJson(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'bigint' ? `${member}n` : member,
  ).replaceAll(/"(\d+)n"/g, '$1');
}

/** Larger than the limit of the test. */
const large = constant(`{"query":"{ __typename } # ${'x'.repeat(5000)}"}`);

/** Texts where JSON should be. */
const malformed = constantFrom(
  '',
  ' ',
  '{',
  '[]',
  'null',
  '"{ __typename }"',
  '42',
  '[{"query":"{ __typename }"}]',
  '{"query":"{ __typename }"',
  '{"query":"{ __typename }"} x',
  '\uFEFF{"query":"{ __typename }"}',
  '{"query":"{ __typename }","query":"{ nope }"}',
  '{"__proto__":{"query":"{ __typename }"}}',
  '{"query":"{ __typename }","variables":{"__proto__":{"id":1},"constructor":1}}',
  '{"query":"\\ud800 { __typename }"}',
  'query=%7B__typename%7D',
  `{"query":"{ __typename }","x":${'['.repeat(200)}${']'.repeat(200)}}`,
);

/** Bytes that are no UTF-8. */
const notText = Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]);

/** A request body of any client, honest, sloppy or hostile. */
export const bodies: Arbitrary<string | Buffer> = oneof(
  { weight: 12, arbitrary: params.map(toJson) },
  { weight: 2, arbitrary: malformed },
  { weight: 1, arbitrary: oneof(constant(notText), large) },
);

/** The query of a URL: members as text, objects as JSON; or a text that is not a query. */
export const searches = oneof(
  {
    weight: 10,
    arbitrary: params.map((members) => {
      const given = Object.entries(members).filter(([, value]) => value !== undefined);
      const texts = given.map(([name, value]): [string, string] => [
        name,
        typeof value === 'string' ? value : toJson(value),
      ]);
      return `?${new URLSearchParams(texts).toString()}`;
    }),
  },
  {
    weight: 2,
    arbitrary: constantFrom(
      '',
      '?',
      '?query',
      '?query=%',
      '?query=%ff',
      '?query={__typename}&query={nope}',
      '?query={__typename}&variables={',
      '?query={__typename}&variables=[]&extensions=1',
      '?query={__typename}&variables=',
      '?QUERY={__typename}',
      '?query={__typename}#fragment',
      '??query={__typename}',
      `?query={__typename}&extensions=${encodeURIComponent('['.repeat(200))}`,
      '?query=%7B+__typename+%7D&operationName=',
    ),
  },
);
