import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerHeaders } from '../http/response.ts';
import { createSend } from '../http/send.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** Answers a scrape. */
export type MetricsEndpoint = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Serves metrics. All scrapes in one turn of the event loop get the same text: making it takes milliseconds, and a scrape
 * needs no key.
 */
export function createMetricsEndpoint(
  metrics: Pick<Metrics, 'contentType' | 'render'>,
  compression: boolean,
): MetricsEndpoint {
  const send = createSend({ compression, vary: 'Accept-Encoding' });
  let rendering: Promise<string> | undefined;
  return (request, response) => {
    rendering ??= metrics.render().finally(() => {
      setImmediate(() => {
        rendering = undefined;
      });
    });
    rendering.then(
      (body) => {
        const headers = { 'content-type': metrics.contentType, ...answerHeaders };
        send(request, response, { status: 200, headers, body });
      },
      () => response.writeHead(500, answerHeaders).end(),
    );
  };
}
