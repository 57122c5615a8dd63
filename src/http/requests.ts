import { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { parseJson } from '../rest/json.ts';
import { isObject } from '../rest/values.ts';

/**
 * Takes JSON bodies only, and reads them with every digit. Forms, plain text and multipart could be sent across sites
 * without a preflight.
 */
export function useJsonBodies(): Plugin {
  return {
    onRequestParse: ({ request, setRequestParser, endResponse, fetchAPI }) => {
      if (request.method !== 'POST') return;
      if (isJson(request.headers.get('content-type'))) setRequestParser(readParams);
      else endResponse(new fetchAPI.Response(null, { status: 415, headers: { accept: 'application/json' } }));
    },
  };
}

function isJson(contentType: string | null): boolean {
  return contentType !== null && /^application\/json\s*(;|$)/i.test(contentType);
}

async function readParams(request: Request): Promise<Record<string, unknown>> {
  const text = await request.text();
  const params = parsed(text);
  if (!isObject(params)) throw badRequest('Expected the body to be one JSON object with the member `query`.');
  return { ...params };
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw badRequest('Expected the body to be JSON, but it cannot be parsed.');
  }
}

function badRequest(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code: 'BAD_USER_INPUT', http: { status: 400 } } });
}
