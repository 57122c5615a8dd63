/**
 * Prepares what `npm pack` packs. It is JavaScript, because Node strips no types below `node_modules`. The gateway and
 * the embedded workspace become one package. npm runs `prepack` before it packs, and `postpack` afterwards.
 *
 *   node tools/package.ts prepack    writes dist/, npm-shrinkwrap.json and the package.json of the package
 *   node tools/package.ts postpack   puts the repository's package.json back
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';

type Members = Readonly<Record<string, unknown>>;

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
const manifest = join(root, 'package.json');
const shrinkwrap = join(root, 'npm-shrinkwrap.json');
/** Keeps the repository's package.json while the one of the package is in its place. */
const kept = join(root, 'package.repository.json');

const [step] = process.argv.slice(2);
// Also done by `prepack`, because the last `npm pack` may have been interrupted.
if (existsSync(kept)) renameSync(kept, manifest);
rmSync(shrinkwrap, { force: true });
if (step === 'prepack') {
  build();
  const repository = read(manifest);
  const workspace = read(join(root, 'workspace/package.json'));
  cpSync(manifest, kept);
  const described = packageOf(repository, workspace);
  write(manifest, described);
  write(shrinkwrap, lockOf(described));
} else if (step !== 'postpack') throw new Error(`expected prepack or postpack but got ${step}`);

/** Compiles src/ and workspace/ to dist/, and copies what they read beside them. */
function build(): void {
  rmSync(dist, { recursive: true, force: true });
  execFileSync('tsc', ['-p', 'tsconfig.package.json'], { cwd: root, stdio: 'inherit' });
  const isAsset = (path: string): boolean => !['.ts', '.json'].includes(extname(path));
  cpSync(join(root, 'src'), join(dist, 'src'), { recursive: true, filter: isAsset });
  cpSync(join(root, 'schema'), join(dist, 'schema'), { recursive: true });
  // In the package, the embedded workspace is only a folder.
  const commandLine = join(dist, 'src/process/command-line.js');
  const text = readFileSync(commandLine, 'utf8');
  writeFileSync(commandLine, text.replaceAll("'embedded-workspace'", "'../../workspace/workspace.js'"));
}

/** The package.json of the package. It lacks what only the repository needs, and has the workspace's dependencies. */
function packageOf(repository: Members, workspace: Members): Members {
  const { name, version, description, license, type, engines, optionalDependencies } = repository;
  const all = { ...toMembers(workspace['dependencies']), ...toMembers(repository['dependencies']) };
  const { 'embedded-workspace': _, ...dependencies } = all;
  return {
    ...{ name, version, description, license, type, engines },
    bin: { 'workspace-gateway': 'dist/src/main.js' },
    files: ['dist', 'npm-shrinkwrap.json'],
    ...{ dependencies, optionalDependencies },
  };
}

/** The versions of package-lock.json, so that what is installed is what was tested. */
function lockOf(described: Members): Members {
  const lock = read(join(root, 'package-lock.json'));
  const isNeeded = ([path, entry]: readonly [string, unknown]): boolean => {
    const { dev, devOptional, link } = toMembers(entry);
    return path.startsWith('node_modules/') && dev !== true && devOptional !== true && link !== true;
  };
  const installed = Object.fromEntries(Object.entries(toMembers(lock['packages'])).filter(isNeeded));
  const { name, version } = described;
  return {
    name,
    version,
    lockfileVersion: lock['lockfileVersion'],
    requires: true,
    packages: { '': described, ...installed },
  };
}

function toMembers(value: unknown): Members {
  return Object.fromEntries(Object.entries(value ?? {}));
}

function read(path: string): Members {
  return toMembers(JSON.parse(readFileSync(path, 'utf8')));
}

function write(path: string, content: Members): void {
  writeFileSync(path, `${JSON.stringify(content, undefined, 2)}\n`);
}
