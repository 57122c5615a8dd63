import {
  type Attributes,
  type Context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { shownName } from '../../operation/operation-report.ts';
import type { OperationSpan, Tracing } from '../../operation/operation-run.ts';
import { statusOf } from '../../rest/errors.ts';
import { reasonOf } from '../../rest/failure-reasons.ts';
import type { RestOperation } from '../../rest/rest-operations.ts';
import type { CallSpan, TraceContext } from '../../rest/rest-run.ts';
import { TransportError } from '../../rest/transport/transport.ts';

/**
 * Makes a span for each operation and, below it, one for each REST call. OpenTelemetry's semantic conventions for
 * GraphQL servers and HTTP clients define their names and attributes. No span holds a key, or an id or a text from the
 * upstream.
 */
export function createTracing(tracer: Tracer, upstreamUrl: string): Tracing {
  const upstream = serverOf(upstreamUrl);
  return {
    begin: ({ trace: parent, method, requestId, tool }): OperationSpan => {
      const route = tool === undefined ? '/graphql' : '/mcp';
      const attributes: Attributes = { 'http.request.method': method, 'http.route': route, 'request.id': requestId };
      if (tool !== undefined) Object.assign(attributes, { 'mcp.method.name': 'tools/call', 'gen_ai.tool.name': tool });
      const incoming = propagation.extract(ROOT_CONTEXT, parent);
      const span = tracer.startSpan('GraphQL Operation', { kind: SpanKind.SERVER, attributes }, incoming);
      const below = trace.setSpan(ROOT_CONTEXT, span);
      return {
        trace: headersOf(span),
        begin: (endpoint, resends) => beginCall(tracer, below, endpoint, resends, upstream),
        share: (other) => {
          const context = trace.getSpanContext(propagation.extract(ROOT_CONTEXT, other));
          if (context !== undefined) span.addLink({ context });
        },
        end: (prepared, code) => {
          const { operation, listed } = prepared ?? {};
          const type = operation?.operation;
          const shown = shownName(operation?.name?.value);
          if (type !== undefined) {
            // The span is named after a listed operation only, because clients may send any number of other names.
            span.updateName(listed === true && shown !== undefined ? `${type} ${shown}` : type);
            span.setAttribute('graphql.operation.type', type);
          }
          if (shown !== undefined) span.setAttribute('graphql.operation.name', shown);
          if (code !== undefined) fail(span, code);
          span.end();
        },
      };
    },
  };
}

function beginCall(
  tracer: Tracer,
  parent: Context,
  { method, route }: RestOperation,
  resends: number,
  upstream: Attributes,
): CallSpan {
  const attributes: Attributes = { ...upstream, 'http.request.method': method, 'url.template': route };
  if (resends > 0) attributes['http.request.resend_count'] = resends;
  const span = tracer.startSpan(`${method} ${route}`, { kind: SpanKind.CLIENT, attributes }, parent);
  return {
    trace: headersOf(span),
    answered: (status) => span.setAttribute('http.response.status_code', status).end(),
    failed: (error) => {
      const status = statusOf(error);
      if (status !== undefined) span.setAttribute('http.response.status_code', status);
      fail(span, errorTypeOf(error, status));
      span.end();
    },
  };
}

/** The reason why a call failed, as in the log and metrics, or the status with which the API refused it. */
function errorTypeOf(error: unknown, status = 0): string {
  if (error instanceof TransportError && error.fault === 'aborted') return error.fault;
  return reasonOf(error) ?? String(status);
}

function fail(span: Span, reason: string): void {
  span.setAttribute('error.type', reason).setStatus({ code: SpanStatusCode.ERROR, message: reason });
}

function serverOf(url: string): Attributes {
  const { hostname, port, protocol } = new URL(url);
  const usual = protocol === 'https:' ? 443 : 80;
  return { 'server.address': hostname, 'server.port': port === '' ? usual : Number(port) };
}

/** A span as `traceparent` and `tracestate` name it (W3C Trace Context §3). */
function headersOf(span: Span): TraceContext {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  const traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
  const tracestate = traceState?.serialize() ?? '';
  return tracestate === '' ? { traceparent } : { traceparent, tracestate };
}
