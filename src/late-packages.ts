import { createRequire, registerHooks } from 'node:module';
import type * as GraphqlJit from 'graphql-jit';
import type * as Ioredis from 'ioredis';
import type * as Jose from 'jose';
import type * as PinoPretty from 'pino-pretty';
import type * as PromClient from 'prom-client';

/** Packages that the start of most gateways does not need. To load one takes 20 to 50 ms and 5 to 15 MB. */
interface LatePackages {
  readonly 'graphql-jit': typeof GraphqlJit;
  readonly ioredis: typeof Ioredis;
  readonly jose: typeof Jose;
  readonly 'pino-pretty': typeof PinoPretty;
  readonly 'prom-client': typeof PromClient;
}

const load: <Name extends keyof LatePackages>(name: Name) => LatePackages[Name] = createRequire(import.meta.url);

/** Loads a package when it is first used, for callers that cannot wait for an `import()`. */
export function latePackage<Name extends keyof LatePackages>(name: Name): LatePackages[Name] {
  if (name === 'graphql-jit') loadCompiler();
  return load(name);
}

let isCompilerLoaded = false;

/**
 * Loads graphql-jit without fast-json-stringify. Only JSON serializers of graphql-jit need that package, and no
 * operation here asks for one. The package would be 87 of 109 modules, and take three quarters of the loading time. All
 * clients wait during that time.
 */
function loadCompiler(): void {
  if (isCompilerLoaded) return;
  const hooks = registerHooks({
    load: (url, context, next) =>
      url.includes('/node_modules/fast-json-stringify/')
        ? { format: 'commonjs', source: '', shortCircuit: true }
        : next(url, context),
  });
  try {
    load('graphql-jit');
    isCompilerLoaded = true;
  } finally {
    hooks.deregister();
  }
}
