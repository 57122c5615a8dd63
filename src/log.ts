/** Hears what an operator should know; `fields` stand beside the message on its line. Never hears a key. */
export type Log = (level: 'info' | 'warn' | 'error', message: string, fields?: object) => void;
