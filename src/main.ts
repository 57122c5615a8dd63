#!/usr/bin/env node
import './v8.js';
import { handleHangUps } from './process/hang-up.ts';
import { allowOptimizationSoon } from './process/optimization.ts';

// This comes first: until the handler is set, a SIGHUP ends the process, and loading the rest takes a while.
handleHangUps();
const { runCommandLine } = await import('./process/command-line.ts');
await runCommandLine(process.argv.slice(2));
// By now, a server has started or a command has ended.
allowOptimizationSoon();
