/** The embedded workspace with its throttle, as a process of its own. Its parent asks what it has answered. */
import { subscribe } from 'node:diagnostics_channel';
import { IncomingMessage, ServerResponse } from 'node:http';
import { isObject } from '../../src/rest/values.ts';
import { windows } from '../../src/settings/kinds.ts';
import { startWorkspace } from '../../workspace/workspace.ts';
import { compressed, compressedRates, latencyMs } from './scale.ts';
import { type ServiceReport, teamKey } from './service.ts';

let calls = 0;
let throttled = 0;

subscribe('http.server.response.finish', (message) => {
  const { request, response } = isObject(message) ? message : {};
  if (!(request instanceof IncomingMessage) || !(response instanceof ServerResponse)) return;
  if (request.headers.authorization !== `Bearer ${teamKey}`) return;
  calls += 1;
  if (response.statusCode === 429) throttled += 1;
});

const rates = windows.read(compressedRates);
const { url } = await startWorkspace({ port: 0, host: '127.0.0.1', rates, latencyMs: compressed(latencyMs) });

function report(): void {
  process.send?.({ url, calls, throttled } satisfies ServiceReport);
}

process.on('disconnect', () => process.exit());
process.on('message', report);
report();
