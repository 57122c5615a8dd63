/**
 * Loaded by Node before a gateway: notes from the start who allocates what, and writes what of it is still held when the
 * process gets SIGUSR2. HEAP_FILE names the file.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { getHeapCodeStatistics, getHeapSpaceStatistics } from 'node:v8';

const file = process.env['HEAP_FILE'] ?? '';

const session = new Session();
session.connect();
await session.post('HeapProfiler.startSampling', { samplingInterval: 8192, stackDepth: 64 });
process.on('SIGUSR2', () => void write());

async function write(): Promise<void> {
  await session.post('HeapProfiler.collectGarbage');
  const { profile } = await session.post('HeapProfiler.getSamplingProfile');
  const spaces = getHeapSpaceStatistics();
  const recorded = { head: profile.head, spaces, code: getHeapCodeStatistics(), memory: process.memoryUsage() };
  writeFileSync(`${file}.part`, JSON.stringify(recorded));
  renameSync(`${file}.part`, file);
}
