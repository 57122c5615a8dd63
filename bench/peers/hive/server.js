/** Composes the supergraph for the upstream at hand, then becomes Hive Gateway, one process of it. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath, pathToFileURL } from 'node:url';

const commandOf = (name) => fileURLToPath(new URL(`node_modules/.bin/${name}`, import.meta.url));
execFileSync(process.execPath, [commandOf('mesh-compose'), '-c', 'mesh.config.js', '-o', 'supergraph.graphql']);
process.argv.splice(1, process.argv.length, commandOf('hive-gateway'), 'supergraph', '--fork', '1');
await import(pathToFileURL(commandOf('hive-gateway')).href);
