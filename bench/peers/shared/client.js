/** An undici pool as a function: `get(path, authorization)` answers the parsed JSON of a GET. */
export function createClient(Pool) {
  const pool = new Pool(process.env.UPSTREAM, { connections: 512 });
  return async (path, authorization) => {
    const headers = { authorization, accept: 'application/json' };
    const { statusCode, body } = await pool.request({ method: 'GET', path, headers });
    if (statusCode === 200) return body.json();
    await body.dump();
    throw new Error(`the upstream answered ${statusCode}`);
  };
}

/** `get` for one operation: what was read is remembered, and read once. */
export function createRead(get, authorization) {
  const reads = new Map();
  return (path) => {
    let reading = reads.get(path);
    if (reading === undefined) reads.set(path, (reading = get(path, authorization)));
    return reading;
  };
}
