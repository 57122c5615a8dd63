import type { CodegenConfig } from '@graphql-codegen/cli';

const config: CodegenConfig = {
  // Or the URL of a gateway that runs with INTROSPECTION=on.
  schema: '../../schema.graphql',
  documents: 'src/**/*.graphql',
  generates: {
    'src/generated/': {
      preset: 'client',
      presetConfig: {
        // Requests carry the id of a document. Its text goes into persisted-documents.json, for the gateway, not into the bundle.
        persistedDocuments: { mode: 'replaceDocumentWithHash' },
        fragmentMasking: false,
      },
      config: {
        documentMode: 'string',
        useTypeImports: true,
        strictScalars: true,
        scalars: { DateTime: 'string', JSON: 'unknown', TimeZone: 'string', UUID: 'string' },
      },
    },
  },
};

export default config;
