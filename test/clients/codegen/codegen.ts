import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { type DocumentNode, print } from 'graphql';
import library from '../node_modules/@graphql-codegen/client-preset/package.json' with { type: 'json' };
import {
  type Answer,
  type Client,
  type Connect,
  type Endpoint,
  namesOf,
  nextCursorOf,
  toOverview,
} from '../support/client.ts';
import { parsed } from '../support/traffic.ts';
import { describe, overview, page } from './documents.ts';

/** The part of a request that names its document. */
type Naming = (document: DocumentNode) => Readonly<Record<string, unknown>>;

/** An app on the client preset with `persistedDocuments`, which sends its requests itself. */
export const codegen: Client = {
  name: `graphql-codegen client preset ${library.version}`,
  text: connect((document) => ({ query: print(document) })),
  listed: connect((document) => ({ documentId: hashOf(document) })),
};

/** A document of the client preset. */
interface PresetDocument extends DocumentNode {
  readonly __meta__?: { readonly hash: string };
}

/** The id that the preset gave to a document. */
export function hashOf({ __meta__: meta }: PresetDocument): string {
  if (meta === undefined) throw new Error('expected a document of the client preset');
  return meta.hash;
}

function connect(naming: Naming): Connect {
  return (endpoint) => {
    const execute = async <Data, Variables>(
      document: TypedDocumentNode<Data, Variables>,
      variables: Variables,
    ): Promise<Data> => {
      const { data, errors } = await ask<Data>(endpoint, { ...naming(document), variables });
      if (data === undefined || data === null) throw new Error(errors?.[0]?.message ?? 'expected data');
      return data;
    };
    return {
      overview: async (project) => toOverview(await execute(overview, { project })),
      twoPages: async (project) => {
        const first = await execute(page, { project, first: 2 });
        const second = await execute(page, { project, first: 2, after: nextCursorOf(first) ?? null });
        return [...namesOf(first), ...namesOf(second)];
      },
      describe: async (input) => {
        const { updateDashboard } = await execute(describe, { input });
        return updateDashboard?.dashboard.description;
      },
    };
  };
}

async function ask<Data>(
  { url, authorization, fetch }: Endpoint,
  body: Readonly<Record<string, unknown>>,
): Promise<Answer<Data>> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      accept: 'application/graphql-response+json',
      'content-type': 'application/json',
      authorization,
    },
    body: JSON.stringify(body),
  });
  return parsed<Answer<Data>>(await response.text());
}
