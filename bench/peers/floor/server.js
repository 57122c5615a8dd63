/**
 * The floor: no GraphQL. It looks at `operationName` and `variables`, makes exactly the needed REST calls, all that do
 * not need each other's answers at once, and puts the answer together by hand.
 */
import { createServer } from 'node:http';
import { Pool } from 'undici';
import { operations } from './operations.js';

const pool = new Pool(process.env.UPSTREAM, { connections: 512 });

/** Collects one answer of the upstream. */
class Collector {
  constructor(resolve, reject) {
    this.resolve = resolve;
    this.reject = reject;
    this.chunks = [];
    this.status = 0;
  }

  onRequestStart() {}

  onResponseStart(_, status) {
    this.status = status;
  }

  onResponseData(_, chunk) {
    this.chunks.push(chunk);
  }

  onResponseEnd() {
    if (this.status !== 200) this.reject(new Error(`the upstream answered ${this.status}`));
    else this.resolve(JSON.parse(textOf(this.chunks)));
  }

  onResponseError(_, error) {
    this.reject(error);
  }
}

function textOf(chunks) {
  return (chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)).toString();
}

function createGet(authorization) {
  const headers = ['authorization', authorization, 'accept', 'application/json'];
  return (path) =>
    new Promise((resolve, reject) => {
      pool.dispatch({ method: 'GET', path, headers }, new Collector(resolve, reject));
    });
}

async function answer({ operationName, variables }, request, response) {
  let body;
  try {
    const data = await operations[operationName](variables, createGet(request.headers.authorization));
    body = JSON.stringify({ data });
  } catch (error) {
    body = JSON.stringify({ errors: [{ message: error.message }] });
  }
  response.writeHead(200, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    const { searchParams } = new URL(request.url, 'http://floor.invalid');
    const variables = JSON.parse(searchParams.get('variables'));
    void answer({ operationName: searchParams.get('operationName'), variables }, request, response);
    return;
  }
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => void answer(JSON.parse(textOf(chunks)), request, response));
});
server.listen(Number(process.env.PORT), '127.0.0.1');
