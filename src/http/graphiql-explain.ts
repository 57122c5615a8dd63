/**
 * GraphiQL has no place for request extensions, but one for headers: with `"explain": "plan"` or `"explain": "trace"`
 * among them this script, which runs in the page, sends the extensions instead. The schema is read as always.
 */
export const explainScript = `
const send = window.fetch.bind(window);
window.fetch = (url, options = {}) => {
  const { explain, ...headers } = options.headers ?? {};
  if (explain === undefined) return send(url, options);
  const params = JSON.parse(options.body);
  const extensions = params.query.includes('__schema') ? {} : { extensions: { explain, cost: true } };
  return send(url, { ...options, headers, body: JSON.stringify({ ...params, ...extensions }) });
};
`;
