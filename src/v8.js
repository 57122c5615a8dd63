// Plain JavaScript: to strip the types of a first file, Node loads what strips types, and the cache below comes too late.
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';

// Flags come before the cache: code that was compiled under other flags is refused.
// Else V8 keeps the code of every operation that was ever compiled, long after the gateway has forgotten it.
setFlagsFromString('--no-compilation-cache');
// Else V8 may come to allocate parts of operations as long-lived from the start, if many lived long while it warmed up. All
// that they refer to is kept until the next full collection then: half as much memory again, and up to twice the CPU.
setFlagsFromString('--no-allocation-site-pretenuring');

// Else V8 optimizes a function after 3000 calls. The path of one operation is hundreds of functions long, so that a gateway
// would answer tens of thousands of operations, at up to twice the CPU time, before it is warm.
setFlagsFromString('--invocation-count-for-turbofan=800');

// Where only those can write who can write the code itself. If the folder is read-only, each start takes as long as the first.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/node-compile-cache', import.meta.url)));
