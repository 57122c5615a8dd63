import { Ajv2020 } from 'ajv/dist/2020.js';
import { assert, asyncProperty, gen } from 'fast-check';
import { expect, test } from 'vitest';
import { createCursorCodec } from '../../src/graphql/cursors.ts';
import type { JsonSchema } from '../../src/mcp/json-schema.ts';
import { UpstreamError } from '../../src/rest/errors.ts';
import { createSchema } from '../../src/schema.ts';
import {
  type AgentGateway,
  askMcp,
  type ListedTool,
  type McpResult,
  sentencesOf,
  startAgents,
} from '../support/agents.ts';
import { inForm, measured, seedOf } from '../support/form.ts';
import { notFound, type Reply, refusal, reply } from '../support/replies.ts';
import { until } from '../support/until.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { operationOf } from './operations.ts';
import { Random } from './random.ts';
import { type ToolDocument, toolDocumentOf } from './tool-documents.ts';
import { answerOf } from './upstream.ts';
import { type World, worldOf } from './world.ts';

/** `TOOL_CASES=100 TOOL_SEED=1 npx vitest run test/property/mcp` for a long run; each case is 25 documents. */
const numRuns = Number(process.env['TOOL_CASES'] ?? inForm(4, 20));
const seed = seedOf('TOOL_SEED');
const documentsOfCase = 25;

const schema = createSchema();
const cursorSecret = 'secret of the properties';
const cursors = createCursorCodec(cursorSecret);
const maxPageSize = 10;
const ajv = new Ajv2020({ strict: false, validateFormats: false });

/** Reasons, which no schema can tell, to refuse a tool whose schema takes the arguments. */
const allowed = [
  /to be a cursor of this (?:list|log)/,
  /either `first` or `last`/,
  /to be a global id/,
  /belongs to another/,
  /to be the (?:global )?id of an? /,
  /Expected the global id of/,
  /limit/,
  // Ids may be of objects that are not there.
  /does not know this object/,
  /must (?:not )?be/,
  /Expected a file in `files` or `deletedFiles`/,
  /to name files with an extension/,
  // The upstream's answer to changes in these tests.
  /not allowed to do this/,
];

function handlerOf(world: World) {
  return ({ method, target }: { readonly method: string; readonly target: string }): Reply => {
    if (method !== 'GET') return refusal(403, 'permission_denied', 'No.');
    try {
      const answer = answerOf(world, target);
      const isCsv = target.includes('format=csv');
      const headers = { 'content-type': isCsv ? 'text/csv' : 'application/json' };
      return reply({ body: isCsv ? 'event\nopened\n' : JSON.stringify(answer), headers });
    } catch (error) {
      if (error instanceof UpstreamError) return notFound;
      throw error;
    }
  };
}

/** A value that a schema takes. */
function valueFor(random: Random, one: JsonSchema, known: readonly unknown[]): unknown {
  const types = typeof one.type === 'string' ? [one.type] : (one.type ?? ['object']);
  const type = random.pick(types);
  if (type === 'null') return null;
  if (type === 'boolean') return random.once(2);
  if (type === 'integer') return random.number(one.minimum ?? 0, Math.min(one.maximum ?? 10, 1000));
  if (type === 'number') return random.number(0, 10);
  if (type === 'array') {
    const { items = {} } = one;
    return Array.from({ length: random.number(0, Math.min(one.maxItems ?? 3, 12)) }, () =>
      valueFor(random, items, known),
    );
  }
  if (type === 'object') {
    const members = Object.entries(one.properties ?? {}).filter(
      ([name]) => one.required?.includes(name) === true || random.once(2),
    );
    return Object.fromEntries(members.map(([name, member]) => [name, valueFor(random, member, known)]));
  }
  const { pattern, enum: names } = one;
  if (names !== undefined) return random.pick(names.filter((name) => name !== null));
  if (pattern === undefined) return random.pick(['text', '', 'a & b', 'ü', '$pageview']);
  const texts = [
    ...known,
    '1',
    '2',
    '3',
    '@current',
    '99',
    '2024-05-01T10:00:00Z',
    '018f1c4e-0000-7000-8000-00000000000a',
    'UTC',
  ];
  const fitting = texts.filter((text) => typeof text === 'string' && new RegExp(pattern, 'u').test(text));
  return random.pick(fitting.length === 0 ? ['UHJvamVjdDox', 'RGFzaGJvYXJkOjE6MTAx'] : fitting);
}

/** Arguments of a tool: those that its author had in mind, or any. */
function argumentsFor(random: Random, { values }: ToolDocument, tool: ListedTool): Readonly<Record<string, unknown>> {
  const known = Object.values(values).flat();
  const isOwn = random.once(2);
  const { properties = {}, required = [] } = tool.inputSchema;
  const chosen = Object.entries(properties).flatMap(([name, one]): [string, unknown][] => {
    if (isOwn && name in values && !random.once(5)) return [[name, values[name]]];
    return required.includes(name) || random.once(3) ? [[name, valueFor(random, one, known)]] : [];
  });
  return Object.fromEntries(chosen);
}

/** The fault of a result; undefined if there is none. */
function faultOf(tool: ListedTool, result: McpResult, calls: number): string | undefined {
  const { actual } = result._meta.restCalls;
  const { lower, upper } = tool._meta.restCalls;
  if (actual !== calls) return `told ${actual} calls, but made ${calls}`;
  if (calls > upper) return `made ${calls} calls, but told at most ${upper}`;
  if (result.structuredContent !== undefined) {
    const validate = ajv.compile(tool.outputSchema);
    if (!validate(result.structuredContent))
      return `answered what its schema does not have: ${ajv.errorsText(validate.errors)}`;
  }
  if (!result.isError) return calls < lower ? `made ${calls} calls, but told at least ${lower}` : undefined;
  if (calls > 0 && /either `first`/.test(sentencesOf(result)))
    return `made ${calls} calls for arguments that it refused`;
  const lines = sentencesOf(result)
    .split('\n')
    .filter((line) => !line.startsWith('{') && !line.startsWith('The rest'));
  const other = lines.find((line) => !allowed.some((cause) => cause.test(line)));
  return other && `was refused for another reason: ${other}`;
}

async function checkAll(
  random: Random,
  upstream: Upstream,
  gateway: AgentGateway,
  documents: readonly ToolDocument[],
): Promise<number> {
  const { body } = await askMcp(gateway, 'tools/list');
  let ran = 0;
  for (const tool of body.result.tools) {
    const document = documents.find(({ name }) => name === tool.name);
    if (document === undefined) throw new Error(`there is no document ${tool.name}`);
    const takes = ajv.compile(tool.inputSchema);
    for (let round = 0; round < 3; round += 1) {
      const values = argumentsFor(random, document, tool);
      const isTaken = takes(values);
      upstream.reset();
      const { body: answer } = await askMcp(gateway, 'tools/call', { name: tool.name, arguments: values });
      const { result } = answer;
      // Calls below an object that proves to be absent are given up, perhaps just after they were sent.
      await until(() => upstream.requests.length >= result._meta.restCalls.actual);
      const what = `${document.text}\n${JSON.stringify(values)}\n${JSON.stringify(answer)}\n${upstream.requests.join('\n')}`;
      const calls = upstream.requests.length;
      const untaken =
        result.isError && calls === 0 ? undefined : 'was run with arguments that its schema does not take';
      const fault = isTaken ? faultOf(tool, result, calls) : untaken;
      if (fault !== undefined) throw new Error(`${fault}\n${JSON.stringify(tool._meta)}\n${what}`);
      if (!result.isError) ran += 1;
    }
  }
  return ran;
}

test(`tools take, answer and cost what they say (seed ${seed})`, { timeout: 3_600_000 }, async () => {
  let ran = 0;
  await assert(
    asyncProperty(gen(), async (g) => {
      const random = new Random(g);
      const world = worldOf(random, random.pick([3, 12, 25]));
      const documents = Array.from({ length: documentsOfCase }, (_, at) => {
        const options = { random, world, schema, cursors, maxPageSize, width: 3, absent: true };
        return toolDocumentOf(random, schema, `Tool${at}`, operationOf({ ...options, depth: random.number(1, 4) }));
      });
      await using upstream = await startUpstream(handlerOf(world));
      upstream.release();
      const manifest = Object.fromEntries(documents.map(({ name, text }) => [name, text]));
      await using gateway = await startAgents(upstream, manifest, {
        ...{ cursorSecret, maxPageSize, maxUpstreamCalls: 400, maxUpstreamRows: 100_000 },
      });
      ran += await checkAll(random, upstream, gateway, documents);
      expect(gateway.reported).toEqual([]);
    }),
    // Each case starts a gateway: making it smaller would take minutes.
    { numRuns, seed, endOnFailure: true },
  );
  measured('tools', { documents: numRuns * documentsOfCase, ran });
  expect(ran).toBeGreaterThan(numRuns * documentsOfCase);
});

/** Each mutation as a tool whose one argument is the whole input. */
const changes = Object.values(schema.getMutationType()?.getFields() ?? {}).map(({ name, args }): ToolDocument => {
  const text = `mutation ${name}($input: ${String(args[0]?.type)}) { ${name}(input: $input) { __typename } }`;
  return { name, text, values: {} };
});

test(`tools that change something take and cost what they say (seed ${seed})`, { timeout: 3_600_000 }, async () => {
  const manifest = Object.fromEntries(changes.map(({ name, text }) => [name, text]));
  await assert(
    asyncProperty(gen(), async (g) => {
      const random = new Random(g);
      await using upstream = await startUpstream(handlerOf(worldOf(random, 3)));
      upstream.release();
      await using gateway = await startAgents(upstream, manifest, { tools: changes.map(({ name }) => name) });
      await checkAll(random, upstream, gateway, changes);
      expect(gateway.reported).toEqual([]);
    }),
    { numRuns, seed, endOnFailure: true },
  );
});
