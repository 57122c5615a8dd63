import { meros } from 'meros/browser';
import type { TypedDocumentString } from '../generated/graphql.ts';
import { Answer, type Result } from './Answer.ts';
import { firstFailure, GatewayError, noAnswer } from './GatewayError.ts';
import { errorsOf, notePlaces, type Part, type Places, withPart } from './parts.ts';
import { request } from './request.ts';

/** Answers in parts if something of the document is deferred, else as one document. */
const accept = 'multipart/mixed;incrementalSpec=v0.2, application/graphql-response+json';

/**
 * Asks the gateway for a document by its id, and answers once the first part is there. Throws a GatewayError if nothing at
 * all is answered.
 */
export async function execute<Data, Variables>(
  document: TypedDocumentString<Data, Variables>,
  variables: Variables,
  signal?: AbortSignal,
): Promise<Answer<Data>> {
  const response = await request(document, variables, accept, signal);
  const parts = partsOf<Data>(response);
  const first = await firstOf(parts).catch((cause: unknown) => {
    throw signal?.aborted ? cause : noAnswer(cause);
  });
  const { data } = first;
  if (data === undefined || data === null) {
    throw (
      firstFailure(first.errors, response.headers) ?? new GatewayError('UNKNOWN', 'The gateway answered without data.')
    );
  }
  const answer = new Answer<Data>(resultOf(data, first, response.headers));
  // Even if the component has gone by then: what is kept of an answer is all of it.
  if (!answer.result.isComplete) void readOn(answer, first, parts);
  return answer;
}

async function* partsOf<Data>(response: Response): AsyncGenerator<Part<Data>, undefined> {
  const parts = await meros<Part<Data>>(response);
  if (parts instanceof Response) {
    const whole: Part<Data> = await parts.json();
    yield whole;
  } else {
    for await (const part of parts) if (part.json) yield part.body;
  }
}

async function firstOf<Data>(parts: AsyncGenerator<Part<Data>, undefined>): Promise<Part<Data>> {
  const { value } = await parts.next();
  if (value === undefined) throw new Error('the answer has no part');
  return value;
}

function resultOf<Data>(data: Data, part: Part<unknown>, headers?: Headers): Result<Data> {
  const errors = errorsOf(part);
  return {
    data,
    failure: firstFailure(errors, headers),
    failedPaths: new Set(errors.map(({ path = [] }) => path.join('.'))),
    isComplete: part.hasNext !== true,
  };
}

async function readOn<Data>(answer: Answer<Data>, first: Part<Data>, parts: AsyncIterable<Part<Data>>): Promise<void> {
  const places: Places = new Map();
  notePlaces(places, first);
  try {
    for await (const part of parts) {
      notePlaces(places, part);
      answer.grow(resultOf(withPart(answer.result.data, part, places), part));
    }
    if (!answer.result.isComplete) throw new Error('the answer has no last part');
  } catch (cause) {
    answer.grow({ ...answer.result, failure: noAnswer(cause), isComplete: true });
  }
}
