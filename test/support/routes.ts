import type { IncomingHttpHeaders } from 'node:http';
import { type Json, notFound, Reply, reply } from './replies.ts';

/** One request, as a handler sees it. */
export interface UpstreamRequest {
  readonly method: string;
  /** Path and query, byte for byte. */
  readonly target: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** The path's segments that a route names with a colon, byte for byte. */
  readonly params: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A JSON value is answered with status 200. */
export type Answer = Json | Reply;

/** Answers one request; what it throws becomes the failure of the test server. */
export type Handler = (request: UpstreamRequest) => Answer | Promise<Answer>;

/**
 * Answers by `METHOD target`, `METHOD path` or a pattern such as `GET /api/projects/:id/`, tried in this order.
 * Everything else does not exist.
 */
export type Routes = Readonly<Record<string, Answer | Handler>>;

/** One handler out of many. */
export function route(routes: Routes): Handler {
  const patterns = Object.entries(routes).map(([line, answer]) => ({ pattern: patternOf(line), answer }));
  return (request) => {
    const line = `${request.method} ${request.path}`;
    const exact = [routes[`${request.method} ${request.target}`], routes[line]].find((answer) => answer !== undefined);
    if (exact !== undefined) return answerOf(exact, request);
    for (const { pattern, answer } of patterns) {
      const match = pattern.exec(line);
      if (match !== null) return answerOf(answer, { ...request, params: { ...match.groups } });
    }
    return notFound;
  };
}

/** The HTTP response that an answer stands for. */
export function toReply(answer: Answer): Reply {
  return answer instanceof Reply ? answer : reply({ body: JSON.stringify(answer) });
}

/** A request as handlers see it; no route has named its segments yet. */
export function toRequest(received: Omit<UpstreamRequest, 'path' | 'query' | 'params'>): UpstreamRequest {
  const start = received.target.indexOf('?');
  const path = start === -1 ? received.target : received.target.slice(0, start);
  const query = new URLSearchParams(start === -1 ? '' : received.target.slice(start));
  return { ...received, path, query, params: {} };
}

function answerOf(answer: Answer | Handler, request: UpstreamRequest): Answer | Promise<Answer> {
  return typeof answer === 'function' ? answer(request) : answer;
}

function patternOf(line: string): RegExp {
  const segments = line.split('/').map((segment) => {
    return segment.startsWith(':') ? `(?<${segment.slice(1)}>[^/]+)` : RegExp.escape(segment);
  });
  return new RegExp(`^${segments.join('/')}$`);
}
