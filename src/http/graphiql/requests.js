/**
 * Runs in the page: changes the requests of GraphiQL. Every request gets the key of the page, unless its tab has its
 * own `Authorization` header.
 *
 * GraphiQL has no field for request extensions, but one for headers. The header `"explain": "plan"` or `"explain":
 * "trace"` is therefore sent as an extension, except with a query of the schema. A plan has no data, so empty data is
 * added: GraphiQL would otherwise show a broken answer.
 *
 * GraphiQL accepts answers in parts, but its `Accept` header does not name their format. GraphiQL can read the format
 * of 2022, so requests with `@defer` get a header that names this format.
 */
const send = window.fetch.bind(window);

const inParts = 'multipart/mixed; deferSpec=20220824, application/json';

/** The key in a text, which may also be a whole header copied from a `curl` line. */
function keyIn(text) {
  return text.trim().replace(/^(?:authorization:\s*)?bearer\s+/i, '');
}

/**
 * The text of a document as it stands in the editor, so that the locations of errors fit the editor. The bundle's own
 * printer would put everything on one line. `definitions` lacks the operations that do not run. They are replaced by
 * spaces.
 */
function printAsWritten({ definitions }) {
  const text = definitions[0].loc.source.body;
  let end = 0;
  let printed = '';
  for (const { loc } of definitions) {
    printed += blank(text.slice(end, loc.start)) + text.slice(loc.start, loc.end);
    end = loc.end;
  }
  return printed;
}

function blank(text) {
  return text.replaceAll(/[^\r\n]/g, ' ');
}

/** The headers, with the key of the page unless they have a key themselves. */
function withKey(headers) {
  const key = sessionStorage.getItem('gateway:key') ?? settings.demoKey;
  const hasOwnKey = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
  return hasOwnKey || key === '' ? headers : { ...headers, authorization: `Bearer ${key}` };
}

/** A request with these extensions. GraphiQL requests streams by GET, and everything else by POST. */
function withExtensions(url, options, extensions) {
  if (options.body !== undefined) {
    return [url, { ...options, body: JSON.stringify({ ...JSON.parse(options.body), extensions }) }];
  }
  const asked = new URL(url, location.href);
  asked.searchParams.set('extensions', JSON.stringify(extensions));
  return [asked.href, options];
}

window.fetch = async (url, options = {}) => {
  const { explain, ...own } = options.headers ?? {};
  const isDeferring = options.body?.includes('@defer');
  const request = { ...options, headers: withKey(isDeferring ? { ...own, accept: inParts } : own) };
  if (explain === undefined || options.body?.includes('__schema')) return send(url, request);
  const response = await send(...withExtensions(url, request, { explain, cost: true }));
  if (explain !== 'plan') return response;
  const answer = await response.json();
  const shown = answer.errors === undefined ? { ...answer, data: answer.data ?? {} } : answer;
  return Response.json(shown, { status: response.status });
};
