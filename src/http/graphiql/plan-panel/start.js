/** Runs in the page, before GraphiQL is drawn: `restCalls` and `panel` are what the page's GraphiQL is given. */
const panel = new PanelState();
const restCalls = createPlugin(panel);
settings.graphiql.onTabChange = panel.takeTabs;
// It comes here from the field behind what keeps the key.
document.querySelector('header').addEventListener('input', panel.takeKey);
