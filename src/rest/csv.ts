/** The facts about a CSV text (RFC 4180) that the gateway needs. */
export interface CsvTable {
  /** The number of records. The header line and empty lines do not count. */
  readonly rows: number;
  /** The cell of the first record in the column with this name; undefined if there is none. */
  readonly firstCell: (column: string) => string | undefined;
}

/** Reads a CSV text in one pass. Line breaks within quotes end no record. */
export function readCsv(text: string): CsvTable {
  const first: string[] = [];
  let records = 0;
  for (const record of recordsOf(text)) {
    records += 1;
    if (first.length < 2) first.push(record);
  }
  return {
    rows: Math.max(records - 1, 0),
    firstCell: (column) => {
      const [names = '', row = ''] = first;
      return cellsOf(row)[cellsOf(names).indexOf(column)];
    },
  };
}

const quoteOrLineEnd = /"|\r\n|\r|\n/g;

/** The records that are not empty, with the header line as the first. */
function* recordsOf(text: string): Generator<string> {
  let start = 0;
  // An escaped quote is two quotes, so it changes `isQuoted` twice.
  let isQuoted = false;
  for (const { index, 0: found } of text.matchAll(quoteOrLineEnd)) {
    if (found === '"') isQuoted = !isQuoted;
    else if (!isQuoted) {
      if (index > start) yield text.slice(start, index);
      start = index + found.length;
    }
  }
  if (start < text.length) yield text.slice(start);
}

const cell = /(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g;

function cellsOf(record: string): string[] {
  return [...record.matchAll(cell)].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '');
}
