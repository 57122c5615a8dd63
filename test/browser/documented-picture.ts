import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** With `PICTURES=write` pictures are taken anew, instead of being compared. */
const writes = process.env['PICTURES'] === 'write';

const root = resolve(import.meta.dirname, '../..');

/** Parts of texts that differ each time: durations, dates and times, and counts of new events. */
const passing = [
  /\d[\d.,–]* m?s\b/g,
  /[A-Z][a-z]{2} \d+, (?:\d{4}, )?[\d:]+\s[AP]M/g,
  /\d{4}-\d\d-\d\dT[\d:.+Z-]+/g,
  /\d+(?= new events)/g,
];

/**
 * Compares a page with its picture in the documentation. Fonts, and with them pixels, differ between machines, so what is
 * compared are the texts that the page had when the picture was taken. They stand beside it, with its hash: one cannot be
 * changed without the other. `passes` selects elements whose texts are others each time.
 */
export async function expectDocumented(page: Page, path: string, passes?: string): Promise<void> {
  const picture = resolve(root, path);
  const texts = picture.replace(/\.png$/, '.txt');
  const shown = await textsOf(page, passes);
  if (writes) {
    await page.mouse.move(0, 0);
    writeFileSync(texts, described(await page.screenshot({ path: picture }), shown));
  }
  expect(described(readFileSync(picture), shown)).toBe(readFileSync(texts, 'utf8'));
}

function described(picture: Buffer, texts: string): string {
  const sha256 = createHash('sha256').update(picture).digest('hex');
  return `What the picture shows; PICTURES=write npx vitest run test/browser takes it anew.\nsha256 ${sha256}\n\n${texts}\n`;
}

/** The texts of a page, line by line. Of an editor the first ten: how many it has room for depends on the fonts, too. */
async function textsOf(page: Page, passes = '#none'): Promise<string> {
  const texts = await page.evaluate(`{
    const editors = [...document.querySelectorAll('.monaco-editor')];
    const hidden = [...editors, ...document.querySelectorAll(${JSON.stringify(passes)})];
    const topOf = (line) => Number.parseFloat(line.style.top);
    const linesOf = (editor) =>
      [...editor.querySelectorAll('.view-line')]
        .toSorted((one, other) => topOf(one) - topOf(other))
        .slice(0, 10)
        .map((line) => line.textContent);
    const edited = editors.map((editor) => linesOf(editor).join('\\n'));
    const displays = hidden.map((element) => element.style.display);
    for (const element of hidden) element.style.display = 'none';
    const text = document.body.innerText;
    hidden.forEach((element, index) => (element.style.display = displays[index]));
    [text, ...edited].join('\\n');
  }`);
  const lines = String(texts).replaceAll('\u00a0', ' ').split('\n');
  const fixed = passing.reduce(
    (text, pattern) => text.replaceAll(pattern, '…'),
    lines
      .map((line) => line.trim())
      .filter(Boolean)
      .join('\n'),
  );
  return fixed;
}
