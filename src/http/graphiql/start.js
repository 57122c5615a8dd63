/** Runs in the page, behind GraphiQL's own script: the field of the key, what is stored, and the start. */

/** One key for all tabs. The session's storage keeps it over a reload, and forgets it with the browser's tab. */
const keyField = document.querySelector('#key');
keyField.value = sessionStorage.getItem('gateway:key') ?? settings.demoKey;
keyField.addEventListener('input', () => sessionStorage.setItem('gateway:key', keyIn(keyField.value)));

/** GraphiQL keeps the headers of tabs in its history, whatever its settings are. Headers may hold keys. */
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

/** Says something to the reader, below the field of the key. */
function tell(text) {
  document.querySelector('#told').textContent = text;
}

/**
 * Opens the tab that the address holds, if none has the same text. Once: the address forgets it, so that a reload brings what
 * has become of it. Nothing runs before the reader says so.
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
 * GraphiQL keeps its tabs over a reload, and opens one more unless one of them has the query and the variables that it
 * kept apart, which it does for edited ones only. So what the open tab has, or the one with the query of the address, is
 * put there. At first, when it has kept none, it shows the query of the address in a tab that has another: so that gets a
 * tab of its own.
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

/** Opens the panel at the first visit. On a telephone it would push the query out of sight. */
function openPanelAtFirst() {
  const isWide = matchMedia('(width >= 48rem)').matches;
  if (settings.limits !== undefined && isWide) localStorage.setItem('graphiql:visiblePlugin', 'REST calls');
}

/**
 * Mends parts of GraphiQL that assistive technologies cannot use (WCAG 4.1.2, 2.5.3): tabs with buttons in them become a list of
 * buttons, items of the history lose a name that hides their text, and fields of the explorer get one.
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

/** Copies what is made of the open tab, or says why it is not. Pages that come by plain HTTP may not copy: they show it. */
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
// A link that is opened over the page itself.
window.addEventListener('hashchange', () => location.reload());

keepTabs();
new MutationObserver(mend).observe(document.querySelector('#root'), {
  subtree: true,
  childList: true,
  attributeFilter: ['aria-selected'],
});
YogaGraphiQL.renderYogaGraphiQL(document.querySelector('#root'), {
  ...settings.graphiql,
  storage,
  print: printAsWritten,
});
