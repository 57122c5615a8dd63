/** The message of what was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The code of an error from the system or from Node, such as `ENOENT`; undefined if the error has none. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

const causes: Readonly<Record<string, string>> = {
  ENOENT: 'there is no file at that path',
  ENOTDIR: 'there is no file at that path',
  ENAMETOOLONG: 'there is no file at that path',
  EISDIR: 'it is a folder',
  EACCES: 'this process may not read the file',
  EPERM: 'this process may not read the file',
  EFTYPE: 'it is not a regular file',
  EFBIG: 'the file has more than 10 MiB',
};

/** The reason for which a file cannot be read, without its path. */
export function unreadableBecause(error: unknown): string {
  const code = codeOf(error) ?? 'an unknown error';
  return causes[code] ?? `the file cannot be read (${code})`;
}
