/** Runs in the page: what the open tab of GraphiQL asks. */

/** What the open tab has before GraphiQL reports a change: the query of the address comes first, see `keepTabs`. */
function storedTab() {
  const stored = JSON.parse(localStorage.getItem('graphiql:tabState')) ?? {};
  const { tabs = settings.graphiql.defaultTabs, activeTabIndex = 0 } = stored;
  const query = new URL(location.href).searchParams.get('query');
  if (query === null) return named(tabs[activeTabIndex] ?? {});
  const variables = localStorage.getItem('graphiql:variables');
  return named(tabs.find((tab) => tab.query === query) ?? { query, variables });
}

/** A tab that GraphiQL has not stored yet runs the first of its operations, as it does once it is stored. */
function named({ query, operationName = firstNameIn(query), ...others }) {
  return { ...others, query, operationName };
}

/** The name of the first operation that has one; undefined if none has. */
function firstNameIn(query) {
  return /^ *(?:query|mutation|subscription) +(\w+)/m.exec(query ?? '')?.[1];
}

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

/** The JSON object that an editor holds; undefined if it holds something else. */
function objectOf(text) {
  try {
    const value = JSON.parse(text?.trim() ? text : '{}');
    return typeof value === 'object' && !Array.isArray(value) ? (value ?? {}) : undefined;
  } catch {
    return undefined;
  }
}

/** Only the plans of tenants depend on who asks. If clients bring keys, none is sent for a plan. */
function credentialsOf(headers) {
  const own = Object.entries(headers).filter(([name]) => name.toLowerCase() === 'authorization');
  return settings.takesTokens ? withKey(Object.fromEntries(own)) : {};
}

/** Whether a text has nothing but comments. */
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
