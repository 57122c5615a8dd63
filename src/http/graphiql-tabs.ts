/**
 * GraphiQL leaves tabs displaced as if they had not yet slid to their places, and hides it but for the one with the focus.
 * So a tab would leap away from under the pointer that presses it, and the first click would be lost.
 */
export const tabsStyle = '.graphiql-tab:focus-within { transform: none !important; }';

/**
 * GraphiQL keeps its tabs over a reload, and opens one more unless one of them has the query and the variables that it
 * kept apart, which it does for edited ones only. This script, which runs in the page before it, puts there what the tab
 * has that was open, or the one with the query of the address.
 */
export const tabsScript = `
{
  const { tabs = [], activeTabIndex } = JSON.parse(localStorage.getItem('graphiql:tabState')) ?? {};
  const query = new URL(location.href).searchParams.get('query');
  const tab = query === null ? tabs[activeTabIndex] : tabs.find((other) => other.query === query);
  if (tab !== undefined) {
    localStorage.setItem('graphiql:query', tab.query ?? '');
    localStorage.setItem('graphiql:variables', tab.variables ?? '');
  }
}
`;
