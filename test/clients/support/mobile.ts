import { createHash } from 'node:crypto';
import {
  type Answer,
  type App,
  type DescribeData,
  type GraphQLFailure,
  namesOf,
  nextCursorOf,
  type Outcome,
  type OverviewData,
  type PageData,
  toOverview,
} from './client.ts';

/** An operation as the code generator of a mobile client hands it to the app. */
export interface Operation {
  readonly name: string;
  readonly type: 'query' | 'mutation';
  readonly text: string;
  /** The id that stands for the text: its SHA-256, in both libraries. */
  readonly id: string;
}

/** The operations of an app. */
export interface Operations {
  readonly overview: Operation;
  readonly page: Operation;
  readonly describe: Operation;
}

/** Runs an operation by the rules of a library: throws what the library throws. */
export type Execute = <Data>(operation: Operation, variables: Variables) => Promise<Answer<Data>>;

/** Variables of an operation; those that are absent are not sent. */
export type Variables = Readonly<Record<string, unknown>>;

/** An answer that the library hands to the app as an exception, with what the app can read of it. */
export class ClientError extends Error {
  override readonly name = 'ClientError';
  readonly errors: readonly GraphQLFailure[] | undefined;

  constructor(message: string, errors?: readonly GraphQLFailure[]) {
    super(message);
    this.errors = errors;
  }
}

/** An operation with the id that code generators give it. */
export function toOperation(text: string, id: string = createHash('sha256').update(text).digest('hex')): Operation {
  const [, type, name = ''] = /^(\w+) (\w+)/.exec(text) ?? [];
  return { name, type: type === 'mutation' ? type : 'query', text, id };
}

/** The manifest that both code generators write (`persistedQueryManifest` in Kotlin, `persistedQueries` in Swift). */
export function toManifest(operations: Operations): string {
  const listed = Object.values(operations).map(({ id, text, name, type }: Operation) => ({
    id,
    body: text,
    name,
    type,
  }));
  return JSON.stringify({ format: 'apollo-persisted-query-manifest', version: 1, operations: listed }, null, 2);
}

/** An app on such a client. */
export function createApp(execute: Execute, { overview, page, describe }: Operations): App {
  return {
    overview: async (project) => toOverview(dataOf(await execute<OverviewData>(overview, { project }))),
    twoPages: async (project) => {
      const first = dataOf(await execute<PageData>(page, { project, first: 2 }));
      const second = dataOf(await execute<PageData>(page, { project, first: 2, after: nextCursorOf(first) }));
      return [...namesOf(first), ...namesOf(second)];
    },
    describe: async (input) => {
      const { updateDashboard } = dataOf(await execute<DescribeData>(describe, { input }));
      return updateDashboard?.dashboard?.description;
    },
  };
}

/** The outcome that the app sees of an operation that may fail. */
export async function outcomeOf(answer: Promise<Answer<unknown>>): Promise<Outcome> {
  try {
    const { data, errors } = await answer;
    return errors === undefined ? { data } : { code: errors[0]?.extensions?.code };
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    return { code: error.errors?.[0]?.extensions?.code ?? error.message };
  }
}

function dataOf<Data>({ data, errors }: Answer<Data>): Data {
  if (data === undefined || data === null) throw new ClientError(errors?.[0]?.message ?? 'expected data');
  return data;
}
