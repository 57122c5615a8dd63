import { runMain } from '../../support/process.ts';

/** Gateways over embedded workspaces, each a process of its own. */
export interface Gateways {
  /** Without a setting. */
  readonly plain: RunningGateway;
  /** With the manifests of all clients. */
  readonly listed: RunningGateway;
  /** With the manifests, and nothing else is run. */
  readonly only: RunningGateway;
  /** Without automatic persisted queries. */
  readonly withoutApq: RunningGateway;
}

/** A gateway that listens. */
export interface RunningGateway {
  readonly url: string;
  readonly key: string;
}

const manifests = {
  PERSISTED_DOCUMENTS: 'test/clients/*/{generated/*.json,*.graphql}',
  PERSISTED_DOCUMENTS_STRICT: 'on',
};

/** Starts them side by side. What has been started is disposed with `started`. */
export async function startGateways(started: AsyncDisposableStack): Promise<Gateways> {
  const start = async (settings: Readonly<Record<string, string>>): Promise<RunningGateway> => {
    const running = started.use(runMain([], { PORT: '0', WORKSPACE_PORT: '0', ...settings }));
    const [, url = '', key = ''] = await running.printed(/^Gateway +(\S+)[\s\S]*^Demo key +(\S+)/m);
    return { url, key };
  };
  const [plain, listed, only, withoutApq] = await Promise.all([
    start({}),
    start(manifests),
    start({ ...manifests, PERSISTED_DOCUMENTS_MODE: 'only' }),
    start({ APQ: 'off' }),
  ]);
  return { plain, listed, only, withoutApq };
}
