import { arrayOf, isObject, type JsonObject, objectOf, omit } from '../json.ts';
import { fillVariables } from './variables.ts';

/** A template for dashboards. */
export interface DashboardTemplate {
  readonly name: string;
  readonly description: string;
  readonly tags: readonly unknown[];
  readonly filters: JsonObject;
  readonly tiles: readonly JsonObject[];
}

/** A tile that shows an insight on half the width of a dashboard; `position` counts from 0. */
export function insightTile(name: string, event: string, position: number): JsonObject {
  return {
    layouts: { sm: { x: (position % 2) * 6, y: Math.floor(position / 2) * 5, w: 6, h: 5 } },
    color: ['blue', 'green', 'purple', null][position % 4],
    insight: {
      name,
      filters: { insight: 'TRENDS', events: [{ id: event, type: 'events', math: 'dau' }], date_from: '-30d' },
    },
    text: null,
  };
}

/** A tile that holds text on the full width of a dashboard. */
export function textTile(body: string, position: number): JsonObject {
  return {
    layouts: { sm: { x: 0, y: Math.floor(position / 2) * 5, w: 12, h: 2 } },
    color: null,
    insight: null,
    text: { body },
  };
}

/** The templates that `use_template` can name. */
export const templates: Readonly<Record<string, DashboardTemplate>> = {
  DEFAULT_APP: {
    name: 'My App Dashboard',
    description: 'The numbers most teams look at first.',
    tags: [],
    filters: {},
    tiles: [
      insightTile('Daily active users', '$pageview', 0),
      insightTile('Weekly active users', '$pageview', 1),
      insightTile('Retention', '$pageview', 2),
      insightTile('Referring domain', '$pageview', 3),
    ],
  },
  'Website traffic': {
    name: 'Website traffic',
    description: 'Where visitors come from, and what they look at.',
    tags: ['marketing'],
    filters: {},
    tiles: [insightTile('Page views', '$pageview', 0), insightTile('Page leaves', '$pageleave', 1)],
  },
};

/** Reads a template that a request carries in full, its variables at their defaults. Members that are missing are empty. */
export function toTemplate(given: JsonObject): DashboardTemplate {
  const template = fillVariables(given);
  const name = template.template_name ?? template.name;
  const description = template.dashboard_description ?? template.description;
  return {
    name: typeof name === 'string' ? name : 'Untitled dashboard',
    description: typeof description === 'string' ? description : '',
    tags: arrayOf(template.tags),
    filters: objectOf(template.dashboard_filters ?? template.filters),
    // Tiles get ids of their own.
    tiles: arrayOf(template.tiles)
      .filter(isObject)
      .map((tile) => omit(tile, ['id'])),
  };
}
