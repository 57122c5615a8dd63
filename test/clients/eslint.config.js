/** The rules of @graphql-eslint for the documents of an app, with the published SDL as their schema. */
import * as graphql from '@graphql-eslint/eslint-plugin';
import { defineConfig } from 'eslint/config';

const graphQLConfig = { schema: '../../schema.graphql', documents: 'graphql-request/*.graphql' };

export default defineConfig([
  {
    files: ['**/*.graphql'],
    languageOptions: { parser: graphql.parser, parserOptions: { graphQLConfig } },
    plugins: { '@graphql-eslint': graphql },
  },
  {
    files: ['graphql-request/*.graphql'],
    rules: {
      ...graphql.configs['flat/operations-recommended'].rules,
      // These apps have no cache that needs it.
      '@graphql-eslint/require-selections': 'off',
    },
  },
  {
    files: ['schema.graphql'],
    rules: {
      '@graphql-eslint/relay-connection-types': 'error',
      '@graphql-eslint/relay-edge-types': ['error', { listTypeCanWrapOnlyEdgeType: false }],
      '@graphql-eslint/relay-page-info': 'error',
      '@graphql-eslint/require-description': ['error', { types: true, rootField: true, FieldDefinition: true }],
    },
  },
]);
