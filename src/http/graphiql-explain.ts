/**
 * GraphiQL has no place for request extensions, but one for headers: with `"explain": "plan"` or `"explain": "trace"`
 * among them this script, which runs in the page, sends the extensions instead. The schema is read as always. A plan has
 * no data, which GraphiQL would take for a broken answer.
 */
export const explainScript = `
const send = window.fetch.bind(window);
window.fetch = async (url, options = {}) => {
  const { explain, ...headers } = options.headers ?? {};
  if (explain === undefined) return send(url, options);
  const params = JSON.parse(options.body);
  if (params.query.includes('__schema')) return send(url, { ...options, headers });
  const body = JSON.stringify({ ...params, extensions: { explain, cost: true } });
  const response = await send(url, { ...options, headers, body });
  const answer = await response.json();
  const shown = answer.errors === undefined ? { ...answer, data: answer.data ?? {} } : answer;
  return Response.json(shown, { status: response.status });
};
`;
