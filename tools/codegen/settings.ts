import { settings } from '../../src/settings/declaration.ts';

/** A text whose part between the markers is the table of all settings but limits, which the page explains by hand. */
export function withSettingsTable(text: string): string {
  const first = new Map<string, string>();
  const shownHere = Object.entries(settings).filter(([name]) => !name.startsWith('MAX_'));
  const rows = shownHere.map(([name, { fallback, meaning, expected }]) => {
    const shown = fallback === undefined ? '' : `\`${fallback}\``;
    const values = valuesIn(expected);
    const earlier = first.get(expected);
    first.set(expected, earlier ?? name);
    const cell = earlier !== undefined && values.length > 30 ? `as \`${earlier}\`` : values;
    return `| \`${name}\` | ${shown} | ${meaning} | ${cell} |`;
  });
  const table = ['| Variable | Default | Meaning | Values |', '|---|---|---|---|', ...rows].join('\n');
  const marked = /(<!-- settings -->\n)[\s\S]*?(\n<!-- end of settings -->)/;
  if (!marked.test(text)) throw new Error('expected the markers <!-- settings --> and <!-- end of settings -->');
  return text.replace(marked, (_all, start: string, end: string) => `${start}\n${table}\n${end}`);
}

/** What is expected as a cell of the table: ranges and choices short, addresses as code, else a page makes links of them. */
function valuesIn(expected: string): string {
  return expected
    .replace(/^a (?:whole )?number from (\d+) to (\d+)/, '$1–$2')
    .replace(/^one of |^an? (?=path$|password$)/, '')
    .replace(/^on or off$/, 'on, off')
    .replace(/^the path of a (?:PEM file with certificates|JSON file|file with an? [\w ]+)$/, 'path')
    .replace(/^the path of an? /, 'path of a ')
    .replaceAll(/\b[a-z]+(?:\+[a-z]+)?:\/\/\S*[^\s,]/g, '`$&`');
}

/** The settings as a file `.env` that changes nothing. */
export function environmentExample(): string {
  const lines = Object.entries(settings).map(
    ([name, { fallback, meaning, expected }]) => `# ${meaning}.\n# Expected: ${expected}.\n# ${name}=${fallback ?? ''}`,
  );
  return `# Copy this file to .env and take the # away before what you want to change.\n\n${lines.join('\n\n')}\n`;
}
