import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { EventLoopYield } from '../event-loop-yield.ts';
import { callerOf } from '../http/caller.ts';
import type { Caller } from '../rest/caller.ts';
import type { RestClient } from '../rest/client.ts';
import { OperationCalls } from '../rest/operation-calls.ts';
import { OperationDeadline } from '../rest/operation-deadline.ts';
import { bodyRoomLimitsFor } from '../rest/transport/body-room.ts';
import { createUpstream, type Upstream } from '../rest/upstream.ts';
import type { Config } from '../settings/config.ts';
import { ConfigError } from '../settings/settings.ts';
import type { Outcome } from './command.ts';
import { readText } from './documents.ts';
import { type Findings, type Found, findingsOf } from './drift-findings.ts';
import { getOperations, readAll } from './drift-reads.ts';
import { counted, table } from './table.ts';

/**
 * `drift [--json]`: reads each GET operation of the upstream once and says how the answers differ from the OpenAPI
 * document. Fails if they do.
 */
export async function drift(args: string[], config: Config, announce: (line: string) => void): Promise<Outcome> {
  const { values } = parseArgs({ args, options: { json: { type: 'boolean' } } });
  const caller = callerIn(config);
  const upstream = connect(config);
  announce(
    `Reads each GET operation once: at most ${counted(getOperations, 'REST call')}, and one more for each that fails.`,
  );
  try {
    const findings = findingsOf(await readAll(() => clientFor(upstream, caller, config)), openapi());
    const text = values.json === true ? JSON.stringify(findings, null, 2) : describe(findings);
    return { text, exitCode: findings.differences.length === 0 ? 0 : 1 };
  } finally {
    await upstream.close();
  }
}

function callerIn({ driftKeyFile: file }: Config): Caller {
  if (file === undefined) throw new ConfigError('DRIFT_KEY_FILE: expected a path, but it is not set');
  const key = readText(file).trim();
  const caller = callerOf({ authorization: `Bearer ${key}` });
  if (caller === undefined) throw new ConfigError('DRIFT_KEY_FILE: expected a file that holds one API key');
  return caller;
}

function connect(config: Config): Upstream {
  const { upstreamUrl, upstreamRoute, maxAnswerBytes } = config;
  if (upstreamUrl === undefined) throw new ConfigError('UPSTREAM_URL: expected the URL to read, but it is not set');
  return createUpstream({
    url: upstreamUrl,
    route: upstreamRoute,
    connections: 1,
    maxInFlight: 1,
    bodyRoomLimits: bodyRoomLimitsFor(maxAnswerBytes),
    eventLoop: new EventLoopYield(),
    log: () => undefined,
  });
}

/** Each read has its own deadline. */
function clientFor(upstream: Upstream, caller: Caller, { operationDeadlineMs }: Config): RestClient {
  return upstream.clientFor(caller, {
    deadline: new OperationDeadline(operationDeadlineMs),
    calls: new OperationCalls(1),
  });
}

/** The OpenAPI document as the gateway was made from it. */
function openapi(): string {
  return readText(join(import.meta.dirname, '../../schema/rest.openapi.yaml'));
}

function describe({ differences, unread, patch, calls }: Findings): string {
  const rows = table<Found>(differences, [
    { title: 'operation', text: ({ operation }) => operation },
    { title: 'difference', text: ({ kind }) => kind },
    { title: 'column', text: ({ column }) => column },
  ]);
  const notRead = unread.map(({ operation, reason }) => `not read: ${operation}, ${reason}`);
  return [
    ...(differences.length === 0 ? [] : [rows, '']),
    ...notRead,
    ...(patch === '' ? [] : [patch.trimEnd(), '']),
    `${counted(differences.length, 'difference')} in ${counted(calls, 'answer')}`,
  ].join('\n');
}
