#!/usr/bin/env node
import './v8.js';
import { registerHooks } from 'node:module';
import { handleHangUps } from './process/hang-up.ts';
import { allowOptimizationSoon } from './process/optimization.ts';

// This comes first: until the handler is set, a SIGHUP ends the process, and loading the rest takes a while.
handleHangUps();
// Most imports name a file relative to their own. Node would look for each file, its real path and its package, which
// is a sixth of the CPU time of a start. If a file is missing, the attempt to read it fails instead. Paths in `require`
// are left to Node, because they need no extension.
const hooks = registerHooks({
  resolve: (specifier, context, next) =>
    /^\.\.?\//.test(specifier) && context.conditions.includes('import')
      ? { url: new URL(specifier, context.parentURL).href, shortCircuit: true }
      : next(specifier, context),
});
const { runCommandLine } = await import('./process/command-line.ts');
await runCommandLine(process.argv.slice(2));
// By now, a server has started or a command has ended. Later imports are few.
hooks.deregister();
allowOptimizationSoon();
