#!/usr/bin/env node
import './v8.js';
import { takeHangUps } from './hang-up.ts';

// First of all: until it is taken a SIGHUP ends the process, and to load the rest takes a while.
takeHangUps();
const { runCommandLine } = await import('./command-line.ts');
await runCommandLine(process.argv.slice(2));
