import { settings } from '../../src/config.ts';

/** A text whose part between the markers is the table of all settings. */
export function withSettingsTable(text: string): string {
  const rows = Object.entries(settings).map(([name, { fallback, meaning }]) => {
    const shown = fallback === undefined ? '' : `\`${fallback}\``;
    return `| \`${name}\` | ${shown} | ${meaning} |`;
  });
  const table = ['| Variable | Default | Meaning |', '|---|---|---|', ...rows].join('\n');
  const marked = /(<!-- settings -->\n)[\s\S]*?(\n<!-- end of settings -->)/;
  if (!marked.test(text)) throw new Error('expected the markers <!-- settings --> and <!-- end of settings -->');
  return text.replace(marked, (_all, start: string, end: string) => `${start}\n${table}\n${end}`);
}

/** The settings as a file `.env` that changes nothing. */
export function environmentExample(): string {
  const lines = Object.entries(settings).map(
    ([name, { fallback, meaning }]) => `# ${meaning}.\n# ${name}=${fallback ?? ''}`,
  );
  return `# Copy this file to .env and take the # away before what you want to change.\n\n${lines.join('\n\n')}\n`;
}
