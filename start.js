// Plain JavaScript, so that a Node that cannot run TypeScript can read this file and print the error.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major > 24 || (major === 24 && minor >= 12)) {
  await import('./src/v8.js');
  await import('./src/main.ts');
} else {
  console.error(
    `error: expected Node 24.12 or newer, but this is ${process.versions.node}. On Linux (x64 or arm64), npm ci installs one, and npm start and npm run use it. On other systems, install Node yourself.`,
  );
  process.exitCode = 2;
}
