import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';

/** The version in package.json, as metrics and protocols report it. */
export function packageVersion(): string {
  const file = findPackageJSON(import.meta.url);
  const content: unknown = file === undefined ? undefined : JSON.parse(readFileSync(file, 'utf8'));
  return typeof content === 'object' && content !== null && 'version' in content ? String(content.version) : '';
}
