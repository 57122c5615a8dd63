import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { isObject } from '../../src/rest/values.ts';
import { listen } from './listen.ts';

/** One span as OTLP's JSON tells it, its attributes by name. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  /** 2 is a server's, 3 a client's. */
  readonly kind: unknown;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Ids of the spans that it links to. */
  readonly links: readonly unknown[];
  readonly status: unknown;
}

/** An OpenTelemetry collector on loopback. */
export interface Collector extends AsyncDisposable {
  readonly url: string;
  /** `METHOD path` of each request. */
  readonly requests: readonly string[];
  readonly bodies: readonly string[];
  readonly spans: readonly ReceivedSpan[];
  /** Attributes of the resource of the last request. */
  readonly resource: Readonly<Record<string, unknown>>;
  /** Forgets all requests so far. */
  reset(): void;
}

/** Starts a collector that takes OTLP over HTTP as JSON. */
export async function startCollector(): Promise<Collector> {
  const requests: string[] = [];
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    void text(request).then((body) => {
      bodies.push(body);
      response.setHeader('content-type', 'application/json').end('{}');
    });
  });
  const port = await listen(server);
  const resources = (): unknown[] => bodies.flatMap((body) => listIn(JSON.parse(body), 'resourceSpans'));
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    bodies,
    get spans() {
      return resources()
        .flatMap((resource) => listIn(resource, 'scopeSpans'))
        .flatMap((scope) => listIn(scope, 'spans'))
        .map(toSpan);
    },
    get resource() {
      const last = resources().at(-1);
      return attributesOf(isObject(last) ? last['resource'] : undefined);
    },
    reset: () => {
      requests.length = 0;
      bodies.length = 0;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function toSpan(span: unknown): ReceivedSpan {
  if (!isObject(span)) throw new Error('expected a span to be an object');
  const word = (name: string): string => {
    const value = span[name] ?? '';
    if (typeof value !== 'string') throw new Error(`expected ${name} of a span to be text`);
    return value;
  };
  return {
    traceId: word('traceId'),
    spanId: word('spanId'),
    parentSpanId: word('parentSpanId'),
    name: word('name'),
    kind: span['kind'],
    attributes: attributesOf(span),
    links: listIn(span, 'links').map((link) => (isObject(link) ? link['spanId'] : undefined)),
    status: span['status'],
  };
}

/** `[{key, value: {stringValue}}]` as `{key: value}`. */
function attributesOf(holder: unknown): Readonly<Record<string, unknown>> {
  const pairs = listIn(holder, 'attributes').map((attribute) => {
    if (!isObject(attribute) || !isObject(attribute['value'])) throw new Error('expected an attribute');
    return [String(attribute['key']), Object.values(attribute['value'])[0]] as const;
  });
  return Object.fromEntries(pairs);
}

function listIn(holder: unknown, name: string): readonly unknown[] {
  const list = isObject(holder) ? holder[name] : undefined;
  return Array.isArray(list) ? list : [];
}
