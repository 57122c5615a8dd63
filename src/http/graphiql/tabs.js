/** Runs in the page: reads the tabs of GraphiQL. */

/** The tab that is open before GraphiQL reports a change. A query in the address takes precedence (see `keepTabs`). */
function storedTab() {
  const stored = JSON.parse(localStorage.getItem('graphiql:tabState')) ?? {};
  const { tabs = settings.graphiql.defaultTabs, activeTabIndex = 0 } = stored;
  const query = new URL(location.href).searchParams.get('query');
  if (query === null) return named(tabs[activeTabIndex] ?? {});
  const variables = localStorage.getItem('graphiql:variables');
  return named(tabs.find((tab) => tab.query === query) ?? { query, variables });
}

/**
 * A tab with its operation name. If GraphiQL has not stored a name yet, it is the name of the tab's first operation.
 * GraphiQL will store the same name.
 */
function named({ query, operationName = firstNameIn(query), ...others }) {
  return { ...others, query, operationName };
}

/** The name of the first operation that has one; undefined if none has. */
function firstNameIn(query) {
  return /^ *(?:query|mutation|subscription) +(\w+)/m.exec(query ?? '')?.[1];
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
