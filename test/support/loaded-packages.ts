/** Loaded by Node before a gateway: when the process ends it prints the packages that were loaded, and the parts of Node. */
import { registerHooks } from 'node:module';

const packages = new Set<string>();

registerHooks({
  load(url, context, next) {
    const [, name] = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(url) ?? [];
    if (name !== undefined) packages.add(name);
    return next(url, context);
  },
});

process.on('exit', () => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Node's own list, which its types do not have
  const { moduleLoadList: parts } = process as unknown as { readonly moduleLoadList: readonly string[] };
  console.log(`loaded ${JSON.stringify([...packages, ...parts])}`);
});
