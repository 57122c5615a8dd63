/** Runs in the page before GraphiQL is drawn: makes `restCalls` and `panel`, which the page's GraphiQL uses. */
const panel = new PanelState();
const restCalls = createPlugin(panel);
settings.graphiql.onTabChange = panel.takeTabs;
// The event bubbles up from the field of the key, after the field's own listener has stored the key.
document.querySelector('header').addEventListener('input', panel.takeKey);
