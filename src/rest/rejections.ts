import { requestColumns } from './generated/views.ts';
import { isObject } from './values.ts';

/** The upstream's complaint about a field of a request body, by its REST name; null if it names no field. */
export interface Rejection {
  readonly field: string | null;
  readonly message: string;
}

/** The most rejections that are passed on, and the limits of their messages and paths. */
const maximumRejections = 20;
const maximumMessage = 200;
const maximumDepth = 6;
/** Most levels of objects and lists; lists in lists add nothing to a path. */
const maximumNesting = 20;

/** Words that stand for the object around them in the errors of Django REST framework. */
const ownWords: ReadonlySet<string> = new Set(['non_field_errors', 'detail', 'errors', '__all__']);

/** The fields for which a text in place of a list is a message. Other members of an error may hold anything. */
const requestColumnNames: ReadonlySet<string> = new Set([
  ...Object.values(requestColumns).flat(),
  'tile',
  'toDashboard',
  'template',
]);

/** Members of an error itself. No input has fields of these names. */
const errorWords: ReadonlySet<string> = new Set(['type', 'code', 'attr', 'status']);

/**
 * The validation errors in a JSON body: `{"name": ["…"]}`, nested and in lists, and `{"detail": "…", "attr": "a__b"}`.
 * Errors of other forms are left out, and so are texts that are not `isSafe`.
 */
export function rejectionsOf(body: unknown, isSafe: (text: string) => boolean): readonly Rejection[] {
  const found: Rejection[] = [];
  const add = (path: readonly string[], message: string): void => {
    const isFit = message !== '' && message.length <= maximumMessage && isSafe(message) && path.every(isName);
    if (!isFit || found.length === maximumRejections) return;
    // A name may be a secret, too.
    found.push({ field: path.length > 0 && path.every(isSafe) ? path.join('.') : null, message });
  };
  const visit = (value: unknown, path: readonly string[], isListed: boolean, nesting: number): void => {
    if (path.length > maximumDepth || nesting > maximumNesting || found.length === maximumRejections) return;
    if (typeof value === 'string') {
      if (isListed || requestColumnNames.has(path[0] ?? '')) add(path, value);
    } else if (Array.isArray(value)) visitItems(value, path, nesting + 1);
    else if (isObject(value) && isMessage(value)) add(path, value['message']);
    else if (isObject(value)) {
      for (const [name, member] of Object.entries(value)) {
        if (path.length > 0 || !errorWords.has(name))
          visit(member, ownWords.has(name) ? path : [...path, name], false, nesting + 1);
      }
    }
  };
  const visitItems = (items: readonly unknown[], path: readonly string[], nesting: number): void => {
    for (const [index, item] of items.entries()) {
      const isItem = isObject(item) && !isMessage(item);
      visit(item, isItem ? [...path, String(index)] : path, true, nesting);
    }
  };
  if (isObject(body) && typeof body['attr'] === 'string' && typeof body['detail'] === 'string') {
    add(body['attr'].split('__'), body['detail']);
  } else visit(body, [], false, 0);
  return found;
}

/** True for a message with its code. Django REST framework gives full details in this form. */
function isMessage(value: unknown): value is { readonly message: string } {
  return isObject(value) && typeof value['message'] === 'string' && typeof value['code'] === 'string';
}

/** True for the name of a member, or an index. No other part of a path is passed on. */
function isName(text: string): boolean {
  return /^(?:[a-z$][\w$]{0,63}|\d{1,4})$/i.test(text);
}
