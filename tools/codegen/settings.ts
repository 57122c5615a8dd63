import { settings } from '../../src/settings/declaration.ts';

/**
 * A text whose part between the markers is the table of settings. The page explains limits by hand, and leaves those of the
 * embedded workspace to its help.
 */
export function withSettingsTable(text: string): string {
  const first = new Map<string, string>();
  const shownHere = Object.entries(settings).filter(([name]) => !/^(?:MAX|WORKSPACE)_/.test(name));
  const rows = shownHere.map(([name, { fallback, meaning, expected }]) => {
    // A default that depends on something is the last sentence of the meaning.
    const [what, dependent = ''] = meaning.split('. Default: ');
    const shown = fallback === undefined ? dependent : `\`${fallback}\``;
    const values = valuesIn(expected);
    const earlier = first.get(expected);
    first.set(expected, earlier ?? name);
    const cell = earlier !== undefined && values.length > 30 ? `as \`${earlier}\`` : values;
    return `| \`${name}\` | ${shown} | ${what} | ${cell} |`;
  });
  const table = ['| Variable | Default | Meaning | Values |', '|---|---|---|---|', ...rows].join('\n');
  const marked = /(<!-- settings -->\n)[\s\S]*?(\n<!-- end of settings -->)/;
  if (!marked.test(text)) throw new Error('expected the markers <!-- settings --> and <!-- end of settings -->');
  return text.replace(marked, (_all, start: string, end: string) => `${start}\n${table}\n${end}`);
}

/** What is expected as a cell of the table, in short: `.env.example` has it in full. URLs are code, else pages link them. */
function valuesIn(expected: string): string {
  return expected
    .replace(/^a (?:whole )?number from (\d+) to (\d+)/, '$1–$2')
    .replace(/^on or off$/, 'on, off')
    .replace(/^the path of a (?:PEM file with [a-z ]+|JSON file|file with an? [A-Za-z ]+)$/, 'path')
    .replace(/^an absolute (http or https URL) without user, query or fragment/, '$1')
    .replace(/^(?:one of |the (?=path )|an? (?=path$|password$)|a URL (?=such as))/, '')
    .replaceAll(/\b[a-z]+(?:\+[a-z]+)?:\/\/\S*[^\s,]/g, '`$&`');
}

/** The settings as a file `.env` that changes nothing. */
export function environmentExample(): string {
  const lines = Object.entries(settings).map(
    ([name, { fallback, meaning, expected }]) => `# ${meaning}.\n# Expected: ${expected}.\n# ${name}=${fallback ?? ''}`,
  );
  return `# Copy this file to .env and take the # away before what you want to change.\n\n${lines.join('\n\n')}\n`;
}
