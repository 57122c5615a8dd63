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

/**
 * GraphiQL keeps its tabs over a reload, and opens one more unless one of them has the query and the variables that it
 * kept apart, which it does for edited ones only. So what the open tab has, or the one with the query of the address, is
 * put there. At first, when it has kept none, it shows the query of the address in a tab that has another: so that gets a
 * tab of its own.
 */
function keepTabs() {
  const { tabs = [], activeTabIndex } = JSON.parse(localStorage.getItem('graphiql:tabState')) ?? {};
  const query = new URL(location.href).searchParams.get('query');
  const tab = query === null ? tabs[activeTabIndex] : tabs.find((other) => other.query === query);
  if (tab !== undefined) {
    localStorage.setItem('graphiql:query', tab.query ?? '');
    localStorage.setItem('graphiql:variables', tab.variables ?? '');
  } else if (query !== null && tabs.length === 0) settings.graphiql.defaultTabs.unshift({ query });
  if (tabs.length === 0) openPanelAtFirst();
}

/** Opens the panel at the first visit. On a telephone it would push the query out of sight. */
function openPanelAtFirst() {
  const isWide = matchMedia('(width >= 48rem)').matches;
  if (settings.limits !== undefined && isWide) localStorage.setItem('graphiql:visiblePlugin', 'REST calls');
}

/**
 * What assistive technologies cannot use of GraphiQL (WCAG 4.1.2, 2.5.3): tabs with buttons in them become a list of
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
