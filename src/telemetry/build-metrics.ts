import { Gauge, type Registry } from 'prom-client';
import { packageVersion } from '../version.ts';

/** Measures the build of the gateway: labels of a metric that is always 1. */
export function measureBuild(registers: Registry[]): void {
  const metric = new Gauge({
    name: 'gateway_build_info',
    help: 'Always 1; its labels are the versions of the gateway and of Node.',
    labelNames: ['version', 'node'],
    registers,
    // All workers are the same program.
    aggregator: 'first',
  });
  metric.set({ version: packageVersion(), node: process.versions.node }, 1);
}
