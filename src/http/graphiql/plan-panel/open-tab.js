/** Runs in the page: what the open tab of GraphiQL asks. */

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

/** Only the plans of tenants depend on who asks. If clients bring keys, none is sent for a plan. */
function credentialsOf(headers) {
  const own = Object.entries(headers).filter(([name]) => name.toLowerCase() === 'authorization');
  return settings.takesTokens ? withKey(Object.fromEntries(own)) : {};
}

/** True if a text has nothing but comments. */
function isBlank(query) {
  return query.replaceAll(/#.*/g, '').trim() === '';
}

/** Equal for parameters whose plan is the same. */
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
