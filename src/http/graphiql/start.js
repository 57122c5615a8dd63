/** Runs in the page after GraphiQL's own script: sets up the field of the key and the storage, and starts GraphiQL. */

/**
 * The field of the key, which all tabs of GraphiQL share. The session storage keeps the key over a reload until the
 * browser's tab is closed.
 */
const keyField = document.querySelector('#key');
keyField.value = sessionStorage.getItem('gateway:key') ?? settings.demoKey;
keyField.addEventListener('input', () => sessionStorage.setItem('gateway:key', keyIn(keyField.value)));

/**
 * The storage for GraphiQL, without the headers of tabs, which may hold keys. GraphiQL would store them in its history
 * whatever its settings are.
 */
const storage = {
  getItem: (name) => localStorage.getItem(name),
  setItem: (name, value) => localStorage.setItem(name, name === 'graphiql:headers' ? '' : withoutHeaders(value)),
  removeItem: (name) => localStorage.removeItem(name),
  clear: () => localStorage.clear(),
  get length() {
    return localStorage.length;
  },
};

function withoutHeaders(value) {
  if (!value.startsWith('{')) return value;
  try {
    return JSON.stringify(JSON.parse(value), (name, member) => (name === 'headers' ? null : member));
  } catch {
    return value;
  }
}

/** Shows a message in the header of the page. */
function tell(text) {
  document.querySelector('#told').textContent = text;
}

/**
 * Opens the tab that the address holds, or an equal tab if there is one. The tab is then removed from the address, so
 * that a reload keeps the reader's edits. Nothing is executed.
 */
function openLinked() {
  const linked = linkedTab(location.hash);
  if (linked === undefined) return;
  history.replaceState(null, '', location.pathname);
  if (linked.problem !== undefined) return tell(`The link was not opened: ${linked.problem}`);
  const { query, variables, title } = linked.tab;
  const stored = JSON.parse(localStorage.getItem('graphiql:tabState'));
  const tabs = [...(stored?.tabs ?? settings.graphiql.defaultTabs.map(storable))];
  const known = tabs.findIndex((tab) => tab.query === query && (tab.variables ?? '') === (variables ?? ''));
  if (known === -1) tabs.push(storable({ query, variables, title }));
  const activeTabIndex = known === -1 ? tabs.length - 1 : known;
  try {
    localStorage.setItem('graphiql:tabState', JSON.stringify({ tabs, activeTabIndex }));
  } catch {
    tell('The browser has no room to keep the tab of the link.');
  }
}

/** A tab as GraphiQL stores it. */
function storable({ query, variables = null, headers = null, title = firstNameIn(query) ?? '<untitled>' }, index = 0) {
  const operationName = firstNameIn(query) ?? null;
  return {
    id: `${Date.now()}-${index}-${Math.random()}`,
    title,
    query,
    variables,
    headers,
    operationName,
    response: null,
  };
}

/**
 * Keeps GraphiQL from opening a further tab at a reload. GraphiQL stores the last edited query and variables apart from
 * its tabs, and opens a new tab if no stored tab has the same query and variables. This function overwrites them with
 * the query and variables of a stored tab. That is the tab with the query of the address, or the open tab if the
 * address has no query. At the first visit, a query in the address gets a tab of its own.
 */
function keepTabs() {
  if (localStorage.getItem('graphiql:tabState') === null) openPanelAtFirst();
  openLinked();
  const { tabs = [], activeTabIndex } = JSON.parse(localStorage.getItem('graphiql:tabState')) ?? {};
  const query = new URL(location.href).searchParams.get('query');
  const tab = query === null ? tabs[activeTabIndex] : tabs.find((other) => other.query === query);
  if (tab !== undefined) {
    localStorage.setItem('graphiql:query', tab.query ?? '');
    localStorage.setItem('graphiql:variables', tab.variables ?? '');
  } else if (query !== null && tabs.length === 0) settings.graphiql.defaultTabs.unshift({ query });
}

/** Opens the panel at the first visit, except on narrow screens, where it would push the query out of sight. */
function openPanelAtFirst() {
  const isWide = matchMedia('(width >= 48rem)').matches;
  if (settings.limits !== undefined && isWide) localStorage.setItem('graphiql:visiblePlugin', 'REST calls');
}

/**
 * Mends parts of GraphiQL that assistive technologies cannot use (WCAG 4.1.2, 2.5.3). Tabs that contain buttons become
 * a list of buttons, items of the history lose a name that hides their text, and fields of the explorer get a name.
 */
function mend() {
  for (const tab of document.querySelectorAll('.graphiql-tab[aria-selected]')) {
    tab.querySelector('.graphiql-tab-button').setAttribute('aria-current', tab.getAttribute('aria-selected'));
    tab.removeAttribute('aria-selected');
    tab.removeAttribute('role');
    tab.parentElement.removeAttribute('role');
  }
  for (const item of document.querySelectorAll('.graphiql-history-item-label[aria-label]')) {
    item.removeAttribute('aria-label');
  }
  const fields = '.graphiql-explorer-root :is(input, select):not([aria-label])';
  for (const field of document.querySelectorAll(fields)) {
    field.setAttribute('aria-label', field.closest('[data-arg-name]')?.dataset.argName ?? 'Operation');
  }
}

const urlOfWorker = (label) => URL.createObjectURL(new Blob([workers[label]], { type: 'text/javascript' }));
window.MonacoEnvironment = { globalAPI: false, getWorkerUrl: (_module, label) => urlOfWorker(label) };

/**
 * Copies a text made from the open tab, or says why there is none. Browsers forbid copying on pages that came by plain
 * HTTP; there the text is shown.
 */
async function copy(name, { text, problem }) {
  if (problem !== undefined) return tell(problem);
  try {
    await navigator.clipboard.writeText(text);
    tell(`${name} copied.`);
  } catch {
    prompt('Copy this:', text);
  }
}

let openTab;
const { onTabChange } = settings.graphiql;
settings.graphiql.onTabChange = (state) => {
  openTab = state.tabs[state.activeTabIndex];
  onTabChange?.(state);
};
const endpoint = `${location.origin}${location.pathname}`;
document.querySelector('#copy-link').addEventListener('click', () => {
  void copy('Link', linkOf(openTab ?? storedTab(), endpoint));
});
document.querySelector('#copy-curl').addEventListener('click', () => {
  void copy('Command', curlOf(openTab ?? storedTab(), endpoint));
});
// A link that is opened while the page is open changes only the fragment of the page's address.
window.addEventListener('hashchange', () => location.reload());

function start(root) {
  keepTabs();
  // Behind it come the page's own styles, which win.
  document.querySelector('style').before(Object.assign(document.createElement('style'), { textContent: styles }));
  new MutationObserver(mend).observe(root, { subtree: true, childList: true, attributeFilter: ['aria-selected'] });
  YogaGraphiQL.renderYogaGraphiQL(root, { ...settings.graphiql, storage, print: printAsWritten });
}

// During a rolling update, the page may come from one version of the gateway, and its script be asked of another.
if (window.YogaGraphiQL === undefined) {
  const textContent =
    'GraphiQL could not be loaded. Reload the page: the gateway may have been updated. ' +
    'Browsers older than August 2023 cannot load it.';
  const alert = Object.assign(document.createElement('p'), { role: 'alert', textContent });
  document.querySelector('header').append(alert);
} else start(document.querySelector('#root'));
