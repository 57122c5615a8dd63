import { settings } from '../../src/settings/declaration.ts';

/** A text whose part between the markers is the table of all settings. */
export function withSettingsTable(text: string): string {
  const rows = Object.entries(settings).map(([name, { fallback, meaning, expected }]) => {
    const shown = fallback === undefined ? '' : `\`${fallback}\``;
    return `| \`${name}\` | ${shown} | ${meaning} | ${withCode(expected)} |`;
  });
  const table = ['| Variable | Default | Meaning | Expected |', '|---|---|---|---|', ...rows].join('\n');
  const marked = /(<!-- settings -->\n)[\s\S]*?(\n<!-- end of settings -->)/;
  if (!marked.test(text)) throw new Error('expected the markers <!-- settings --> and <!-- end of settings -->');
  return text.replace(marked, (_all, start: string, end: string) => `${start}\n${table}\n${end}`);
}

/** Addresses as code: else a page makes links of them. */
function withCode(text: string): string {
  return text.replaceAll(/\b[a-z]+(?:\+[a-z]+)?:\/\/\S*[^\s,]/g, '`$&`');
}

/** The settings as a file `.env` that changes nothing. */
export function environmentExample(): string {
  const lines = Object.entries(settings).map(
    ([name, { fallback, meaning, expected }]) => `# ${meaning}.\n# Expected: ${expected}.\n# ${name}=${fallback ?? ''}`,
  );
  return `# Copy this file to .env and take the # away before what you want to change.\n\n${lines.join('\n\n')}\n`;
}
