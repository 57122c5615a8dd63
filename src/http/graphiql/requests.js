/**
 * Runs in the page. Every request takes the key of the page, unless its tab has a header `Authorization` of its own.
 *
 * GraphiQL has no place for request extensions, but one for headers: with `"explain": "plan"` or `"explain": "trace"`
 * among them the extensions are sent instead. The schema is read as always. A plan has no data, which GraphiQL would take
 * for a broken answer.
 *
 * GraphiQL takes answers in parts, too, but does not say in which format: it knows the one of 2022.
 */
const send = window.fetch.bind(window);

const inParts = 'multipart/mixed; deferSpec=20220824, application/json';

/** The key within a text that may be a whole header, as it is copied from a `curl` line. */
function keyIn(text) {
  return text.trim().replace(/^(?:authorization:\s*)?bearer\s+/i, '');
}

/**
 * The text of a document as it stands in the editor, so that the locations of errors are those that its reader sees; the
 * bundle's own printer sends one line. Operations of the text that do not run are no part of `definitions`: spaces take
 * their place.
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

/** The headers, and the key of the page unless they have one. */
function withKey(headers) {
  const key = sessionStorage.getItem('gateway:key') ?? settings.demoKey;
  const hasOwnKey = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
  return hasOwnKey || key === '' ? headers : { ...headers, authorization: `Bearer ${key}` };
}

/** A request with these extensions. GraphiQL asks for streams by GET, and by POST for all else. */
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
