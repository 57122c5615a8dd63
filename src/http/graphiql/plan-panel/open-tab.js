/** Runs in the page: the operation of the open tab of GraphiQL. */

/** The parameters of a tab's operation, or why it has none. */
function paramsOf({ query, variables, operationName, headers }) {
  const values = objectOf(variables);
  if (values === undefined) return { problem: 'The variables are no JSON object.' };
  return {
    query: query ?? '',
    variables: values,
    operationName: operationName ?? undefined,
    credentials: credentialsOf(objectOf(headers) ?? {}),
  };
}

/**
 * The credentials for a request for a plan. If the gateway takes tokens, a plan depends on the caller: the tab's token
 * is sent, or else the page's. If it takes API keys, a plan is the same for all callers, and no key is sent.
 */
function credentialsOf(headers) {
  const own = Object.entries(headers).filter(([name]) => name.toLowerCase() === 'authorization');
  return settings.takesTokens ? withKey(Object.fromEntries(own)) : {};
}

/** True if a text has nothing but comments. */
function isBlank(query) {
  return query.replaceAll(/#.*/g, '').trim() === '';
}

/** A text that is equal for parameters with the same plan. */
function keyOf({ query, variables, operationName, credentials }) {
  return JSON.stringify([query, variables, operationName, credentials]);
}

function postPlan({ query, variables, operationName, credentials }, signal) {
  return send(location.pathname, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', ...credentials },
    body: JSON.stringify({ query, variables, operationName, extensions: { explain: 'plan' } }),
    signal,
  });
}
