// Plain JavaScript: if the entry file were TypeScript, Node would load its type stripper before the cache below is
// enabled.
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';

// The largest modules of Node are loaded before the first flag is set. Node has compiled code of them, but V8 refuses
// code that was compiled under other flags. To compile the modules again takes 40 ms.
for (const name of ['cluster', 'crypto', 'http', 'http2', 'tls', 'zlib']) process.getBuiltinModule(`node:${name}`);

// Flags are set before the cache is enabled: V8 refuses cached code that was compiled under other flags.

// Without this flag, V8 keeps the code of every operation that was ever compiled, long after the gateway has forgotten
// it.
setFlagsFromString('--no-compilation-cache');

// Without this flag, V8 may allocate objects of operations as long-lived from the start, if many such objects lived
// long while V8 warmed up. Everything that these objects refer to is then kept until the next full collection. The
// gateway would need one and a half times the memory, and up to twice the CPU time.
setFlagsFromString('--no-allocation-site-pretenuring');

// Without these flags, V8 optimizes a function first after 400 calls, and fully after 3000. The path of one operation is
// hundreds of functions long. The first ten seconds of a gateway under load would cost up to a third more CPU time.
setFlagsFromString('--invocation-count-for-maglev=150');
setFlagsFromString('--invocation-count-for-turbofan=1500');

// Without this flag, a start would take one and a half times the CPU time. V8 would optimize functions that are soon no
// longer called, such as those of Node's loader of modules. `allowOptimization` takes the flag back.
setFlagsFromString('--no-opt');

// Without this flag, functions that become hot while the flag above is set would never be fully optimized: without a
// later compiler, V8's middle compiler, Maglev, makes code that does not count calls. A gateway that gets requests in
// its first second would need up to 1.4 times the CPU time, for as long as it runs.
setFlagsFromString('--force-emit-interrupt-budget-checks');

// Only those who can write the code itself can write to this folder. If it is read-only, each start takes as long as
// the first.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/node-compile-cache', import.meta.url)));
