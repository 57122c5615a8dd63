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
import { type PlainConfig, readPlainConfig } from '../settings/config.ts';
import { driftSettings, plainSettings } from '../settings/declaration.ts';
import type { SettingsReader } from '../settings/reader.ts';
import { readRoute } from '../settings/route-settings.ts';
import { embedded } from '../settings/urls.ts';
import type { Outcome } from './command.ts';
import { readText } from './documents.ts';
import { type Findings, type Found, findingsOf } from './drift-findings.ts';
import { getOperations, readAll } from './drift-reads.ts';
import { counted, table } from './table.ts';

/**
 * `drift [--json]`: reads each GET operation of the upstream once and prints the differences between the answers and
 * the OpenAPI document. Fails if there are any.
 */
export async function drift(
  args: string[],
  settings: SettingsReader,
  announce: (line: string) => void,
): Promise<Outcome> {
  const { values } = parseArgs({ args, options: { json: { type: 'boolean' } } });
  const { config, caller, upstream } = connect(settings);
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

/** The settings, the caller and the upstream. Throws a ConfigError with all faults. */
function connect(settings: SettingsReader): {
  readonly config: PlainConfig;
  readonly caller: Caller;
  readonly upstream: Upstream;
} {
  const because = 'the command drift reads the upstream';
  const keyFile = settings.need(driftSettings.driftKeyFile, because);
  const url = settings.need(plainSettings.upstreamUrl, because);
  const isEmbedded = url === embedded;
  if (isEmbedded)
    settings.fault(plainSettings.upstreamUrl.name, 'expected the URL of a REST API, but it is the embedded workspace');
  const caller = keyFile === undefined ? undefined : callerOf({ authorization: `Bearer ${readText(keyFile).trim()}` });
  if (keyFile !== undefined && caller === undefined)
    settings.fault(
      driftSettings.driftKeyFile.name,
      'expected a file that holds one API key, but it holds something else',
    );
  const { upstreamRoute: route } = readRoute(settings, isEmbedded ? undefined : url);
  const config = readPlainConfig(settings);
  const { upstreamUrl, maxAnswerBytes } = config;
  if (caller === undefined || upstreamUrl === undefined) throw new Error('expected a fault of the settings');
  const upstream = createUpstream({
    url: upstreamUrl,
    route,
    connections: 1,
    maxInFlight: 1,
    bodyRoomLimits: bodyRoomLimitsFor(maxAnswerBytes),
    eventLoop: new EventLoopYield(),
    log: () => undefined,
  });
  return { config, caller, upstream };
}

/** Makes a client for one read, with a deadline of its own. */
function clientFor(upstream: Upstream, caller: Caller, { operationDeadlineMs }: PlainConfig): RestClient {
  return upstream.clientFor(caller, {
    deadline: new OperationDeadline(operationDeadlineMs),
    calls: new OperationCalls(1),
  });
}

/** The OpenAPI document that the gateway was made from. */
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
