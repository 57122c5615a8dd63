import * as fc from 'fast-check';
import { type GraphQLScalarType, parseConstValue } from 'graphql';
import { describe, expect, test } from 'vitest';
import { DateTime, JSONValue, TimeZone, UUID } from '../../src/graphql/scalars.ts';
import { UpstreamError } from '../../src/rest/errors.ts';
import { exactNumber, parseJson, refuseDeep } from '../../src/rest/json.ts';
import { collectionPath, rowPath, target } from '../../src/rest/paths.ts';
import { exactDigits, idText, naturalNumber } from '../../src/rest/values.ts';

describe('parseJson', () => {
  test('writes integers of any length out again as they came', () => {
    const integers = fc.array(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }));
    fc.assert(
      fc.property(integers, fc.string(), (numbers, name) => {
        const text = `{${JSON.stringify(name)}:[${numbers.join()}]}`;
        expect(JSON.stringify(parseJson(text))).toBe(text);
      }),
    );
  });

  test.each([
    '9007199254740993',
    '-9007199254740993',
    '[9007199254740993]',
    '{"a":9007199254740993}',
    '[1,9007199254740993,2]',
    '["9007199254740993","x\\\\",12345678901234567890]',
    '{"9007199254740993":12345678901234567890123}',
  ])('keeps the digits of %s', (text) => {
    expect(JSON.stringify(parseJson(text))).toBe(text);
  });

  test('leaves texts, floats and exponents as JSON.parse has them', () => {
    const text = '["12345678901234567890", 1234567890123456.5, 1e30, 12345678901234567890.0, 9007199254740991]';
    expect(parseJson(text)).toEqual(JSON.parse(text));
  });

  test.each(['', ' ', '{', '[1,]', "{'a':1}", 'undefined', '[12345678901234567890', '01', 'NaN', '\u0000'])(
    'refuses %j with a SyntaxError',
    (text) => {
      expect(() => parseJson(text)).toThrow(SyntaxError);
    },
  );

  test('is what a reviver with access to the source makes of any text, valid or not', () => {
    // Slow and exact: it visits every value.
    const reference = (text: string): unknown =>
      JSON.parse(text, (_name, value: unknown, context?: { source?: string }) => {
        const source = context?.source ?? '';
        const isLong = typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source);
        return isLong ? JSON.rawJSON(source) : value;
      });
    const outcome = (parse: (text: string) => unknown, text: string): string => {
      try {
        return JSON.stringify(parse(text));
      } catch {
        return 'no JSON';
      }
    };
    const digits = fc.stringMatching(/^-?[0-9]{14,30}$/);
    const piece = fc.oneof(
      digits,
      digits.map((text) => `"${text}"`),
      digits.map((text) => `"\\"${text}\\\\"`),
      digits.map((text) => `"a":${text}`),
      digits.map((text) => `${text}.5`),
      digits.map((text) => `${text}e1`),
      fc.json(),
      fc.constantFrom(...'[]{},:"\\ \n-1.'.split(''), '"__proto__":', '"a":', 'null'),
    );
    const text = fc.oneof(
      fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')),
      fc.array(piece, { maxLength: 12 }).map((pieces) => `[${pieces.join()}]`),
      fc.array(piece, { maxLength: 12 }).map((pieces) => `{${pieces.map((one, at) => `"${at}":${one}`).join()}}`),
    );
    fc.assert(
      fc.property(text, (one) => {
        expect(outcome(parseJson, one)).toBe(outcome(reference, one));
      }),
      { numRuns: 3000 },
    );
  });

  test('visits no text twice, however many strings or long integers it has', () => {
    const integers = `[${'12345678901234567890,'.repeat(20_000)}1]`;
    const strings = `[${'"1234567890123456",'.repeat(20_000)}12345678901234567890]`;
    for (const text of [integers, strings]) expect(JSON.stringify(parseJson(text))).toBe(text);
  });

  test('refuses long integers in what nests deeper than 500, and reads it if there are none', () => {
    const deep = (depth: number, leaf: string): string => '['.repeat(depth) + leaf + ']'.repeat(depth);
    expect(() => parseJson(deep(20_000, '12345678901234567890'))).toThrow(SyntaxError);
    expect(parseJson(deep(5000, '1'))).toBeInstanceOf(Array);
    expect(JSON.stringify(parseJson(deep(500, '12345678901234567890')))).toBe(deep(500, '12345678901234567890'));
  });

  test('keeps a member named __proto__ a member', () => {
    const value = parseJson('{"__proto__":{"polluted":12345678901234567890}}');
    expect(JSON.stringify(value)).toBe('{"__proto__":{"polluted":12345678901234567890}}');
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });
});

describe('refuseDeep', () => {
  test.each(['[[[]]]', '{"a":{"b":{}}}', '[{"a":[]}]'])('counts the brackets of %s', (text) => {
    expect(() => refuseDeep(text, 3)).not.toThrow();
    expect(() => refuseDeep(text, 2)).toThrow('deeper than 2');
  });

  test.each(['["[[[["]', '["\\"[[[["]', '["\\\\",["[["]]', '{"[[[":"]]]"}', '[[],[],[]]', '"[[['])(
    'does not count brackets in the texts of %s',
    (text) => {
      expect(() => refuseDeep(text, 2)).not.toThrow();
    },
  );
});

describe('exact numbers', () => {
  test('are numbers if a double holds them, and keep their digits if it does not', () => {
    expect(exactNumber('9007199254740991')).toBe(2 ** 53 - 1);
    expect(exactDigits(exactNumber('9007199254740992'))).toBe('9007199254740992');
    expect(exactDigits(7)).toBeUndefined();
  });

  test.each([
    [7, '7'],
    [0, '0'],
    ['7', '7'],
    ['', undefined],
    [1.5, undefined],
    [2 ** 53, undefined],
    [Number.NaN, undefined],
    [null, undefined],
    [undefined, undefined],
    [true, undefined],
    [{}, undefined],
    [exactNumber('12345678901234567890'), '12345678901234567890'],
  ])('as an id, %j is %s', (value, text) => {
    expect(idText(value)).toBe(text);
  });

  test.each([
    [0, 0],
    [7, 7],
    [-1, undefined],
    [1.5, undefined],
    ['7', undefined],
    [null, undefined],
    [2 ** 53, undefined],
  ])('as a count, %j is %s', (value, count) => {
    expect(naturalNumber(value)).toBe(count);
  });
});

describe('target', () => {
  test('gives back to a server every name and value that went in, and changes nothing of the path', () => {
    const text = fc.string({ unit: 'grapheme' }).filter((value) => value.isWellFormed());
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text)), (query) => {
        const url = new URL(target('/api/projects/1/events/', query), 'http://upstream');
        expect(url.pathname).toBe('/api/projects/1/events/');
        expect([...url.searchParams]).toEqual(query);
        expect(url.hash).toBe('');
      }),
    );
  });

  test('leaves out what has no value, and keeps what is empty', () => {
    expect(target('/a/', [['b', undefined]])).toBe('/a/');
    expect(
      target('/a/', [
        ['b', ''],
        ['c', undefined],
        ['d', '+00:00'],
      ]),
    ).toBe('/a/?b=&d=%2B00%3A00');
  });
});

describe('paths', () => {
  test('have one segment for each id, whatever it is', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('.', '..', '1/..', '%2e')), (id) => {
        let path: string;
        try {
          path = rowPath({ noun: 'Event', scope: '1', id });
        } catch {
          return;
        }
        const { pathname } = new URL(path, 'http://upstream');
        expect(pathname.split('/').map(decodeURIComponent)).toEqual(['', 'api', 'projects', '1', 'events', id, '']);
        // A server that decodes twice finds nothing more to decode.
        expect(decodeURIComponent(pathname)).not.toMatch(/%[\da-f]{2}|\\/i);
      }),
    );
  });

  test.each(['', '.', '..', 'a/b', 'a b', '%2e', 'a?b', 'a#b', 'é', 'x'.repeat(201), 'a\n'])(
    'have none for %j',
    (id) => {
      expect(() => rowPath({ noun: 'Plugin', scope: '@current', id })).toThrow(UpstreamError);
      expect(() => collectionPath({ noun: 'Dashboard', scope: id })).toThrow(UpstreamError);
    },
  );
});

function refusal(scalar: GraphQLScalarType, value: unknown): string {
  try {
    return `accepted: ${String(scalar.coerceInputValue(value))}`;
  } catch (error) {
    return error instanceof Error ? error.message : 'no error';
  }
}

describe('DateTime', () => {
  test.each([
    ['2024-05-01T10:00:00Z', '2024-05-01T10:00:00Z'],
    ['2024-05-01T10:00:00', '2024-05-01T10:00:00Z'],
    ['2024-05-01 10:00:00', '2024-05-01T10:00:00Z'],
    ['2024-05-01', '2024-05-01T00:00:00Z'],
    ['2024-05-01T10:00', '2024-05-01T10:00:00Z'],
    ['2024-05-01T10:00Z', '2024-05-01T10:00:00Z'],
    ['2024-05-01T10:00:00.5Z', '2024-05-01T10:00:00.5Z'],
    ['2024-05-01T10:00:00.123456Z', '2024-05-01T10:00:00.123456Z'],
    ['2024-05-01T10:00:00.123456+00:00', '2024-05-01T10:00:00.123456Z'],
    ['2024-05-01T10:00:00+02:00', '2024-05-01T08:00:00Z'],
    ['2024-05-01T10:00:00.000001-0530', '2024-05-01T15:30:00.000001Z'],
    ['2024-05-01T10:00:00.1-05:30', '2024-05-01T15:30:00.1Z'],
    ['2024-01-01T00:30:00+01:00', '2023-12-31T23:30:00Z'],
    ['2024-12-31T23:30:00-01:00', '2025-01-01T00:30:00Z'],
    ['2024-02-29T00:00:00z', '2024-02-29T00:00:00Z'],
    ['1969-12-31T23:59:59.999999Z', '1969-12-31T23:59:59.999999Z'],
  ])('sends %s as %s', (text, sent) => {
    expect(DateTime.coerceInputValue(text)).toBe(sent);
    expect(DateTime.coerceInputLiteral?.(parseConstValue(JSON.stringify(text)))).toBe(sent);
  });

  test('sends every instant as the same instant', () => {
    const zone = fc.tuple(fc.constantFrom('+', '-'), fc.nat(13), fc.nat(59)).map(([sign, hours, minutes]) => {
      const two = (number: number): string => String(number).padStart(2, '0');
      return `${sign}${two(hours)}:${two(minutes)}`;
    });
    const dates = fc.date({ min: new Date('1000-01-02T00:00:00Z'), max: new Date('9998-01-01'), noInvalidDate: true });
    fc.assert(
      fc.property(dates, zone, (date, offset) => {
        const text = date.toISOString().replace('Z', offset);
        const sent = DateTime.coerceInputValue(text);
        expect(sent).toMatch(/Z$/);
        expect(Date.parse(sent)).toBe(Date.parse(text));
      }),
    );
  });

  test.each([
    ...['', 'now', '-7d', '2024', '2024-05', '2024-13-01', '2024-02-30T00:00:00Z', '2023-02-29'],
    ...['2024-05-01T24:00:00Z', '2024-05-01T10:60:00Z', '2024-05-01T10:00:60Z'],
    ...['2024-05-01T10:00:00.Z', '2024-05-01T10:00:00 Z', ' 2024-05-01', '2024-05-01\n', '2024-05-01Z'],
    ...['+2024-05-01', '２０２４-05-01', 1_714_557_600, null, {}, true],
  ])('refuses %j', (value) => {
    expect(refusal(DateTime, value)).toMatch(/^Expected an ISO 8601 date-time such as 2024-05-01T10:00:00Z, but got /);
  });

  test('refuses an offset that no place on Earth has', () => {
    expect(refusal(DateTime, '2024-05-01T10:00:00+99:99')).toMatch(/^Expected an ISO 8601/);
  });

  test('refuses a literal that is no text', () => {
    expect(() => DateTime.coerceInputLiteral?.(parseConstValue('20240501'))).toThrow('Expected an ISO 8601');
  });
});

describe('TimeZone', () => {
  test.each([
    ...['UTC', 'GMT', 'Etc/GMT+5', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', 'America/Port-au-Prince'],
    ...['Asia/Calcutta', 'Asia/Kolkata', 'US/Pacific'],
  ])('accepts %s', (name) => {
    expect(TimeZone.coerceInputValue(name)).toBe(name);
  });

  test.each([
    ...['', 'Europe/berlin', 'europe/Berlin', 'Europe/Berlin ', 'Berlin', 'Mars/Base'],
    ...['+02:00', 'UTC+2', 'utc', '../UTC', 7, null],
  ])('refuses %j', (value) => {
    expect(refusal(TimeZone, value)).toMatch(/^Expected an IANA time zone such as Europe\/Berlin, but got /);
  });
});

describe('UUID and JSON', () => {
  test('accept a UUID in its text form only', () => {
    const uuid = '018F1c4e-0000-7000-8000-00000000000a';
    expect(UUID.coerceInputValue(uuid)).toBe(uuid);
    for (const text of [uuid.replaceAll('-', ''), `{${uuid}}`, `${uuid}\n`, uuid.replace('F', 'G'), '', 7]) {
      expect(refusal(UUID, text)).toMatch(/^Expected a UUID, but got /);
    }
  });

  test('read any literal, and keep every digit of integers', () => {
    const literal = '{ a: [1, -2.5, 12345678901234567890, null, true, "x", ENUM], __proto__: { b: 1 } }';
    expect(JSON.stringify(JSONValue.coerceInputLiteral?.(parseConstValue(literal)))).toBe(
      '{"a":[1,-2.5,12345678901234567890,null,true,"x","ENUM"],"__proto__":{"b":1}}',
    );
  });
});
