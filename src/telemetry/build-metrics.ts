import { packageVersion } from '../version.ts';
import { type Instruments, labelledGauge } from './instruments.ts';

/** Measures the build of the gateway: labels of a metric that is always 1. */
export function measureBuild(instruments: Instruments): void {
  const labels = { version: packageVersion(), node: process.versions.node };
  const help = 'Always 1; its labels are the versions of the gateway and of Node.';
  // All workers are the same program.
  labelledGauge(instruments, 'gateway_build_info', help, Object.keys(labels), 'first', () => [[labels, 1]]);
}
