/** The types behind the interface, for fragments on it: https://www.apollographql.com/docs/react/data/fragments */
export const possibleTypes = { Node: ['Dashboard', 'Event', 'Organization', 'Plugin', 'Project'] };
