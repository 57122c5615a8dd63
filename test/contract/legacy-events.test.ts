import { isObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { createSchema } from '../../src/schema.ts';

test.each(['events', 'event', 'eventCsv', 'eventValues', 'eventValuesCsv', 'eventsCsv', 'eventRows'])(
  'the description of %s tells that the endpoint is kept for compatibility only, and what is advised instead',
  (name) => {
    const project = createSchema().getType('Project');
    const field = isObjectType(project) ? project.getFields()[name] : undefined;
    const description = field?.description?.replaceAll(/\s+/g, ' ');
    for (const words of ['backwards compatibility', 'query endpoint', 'bulk export', 'outside of this API']) {
      expect(description).toContain(words);
    }
    // There is nothing else to ask here.
    expect(field?.deprecationReason).toBeUndefined();
  },
);
