#!/usr/bin/env node
import './v8.js';
import { takeHangUps } from './hang-up.ts';

// This comes first: until the handler is set, a SIGHUP ends the process, and loading the rest takes a while.
takeHangUps();
const { runCommandLine } = await import('./command-line.ts');
await runCommandLine(process.argv.slice(2));
// Servers have started. Commands have ended.
const { allowOptimizationSoon } = await import('./optimization.ts');
allowOptimizationSoon();
