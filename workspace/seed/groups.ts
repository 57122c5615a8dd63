import type { Store } from '../store.ts';
import type { SeedProject } from './projects.ts';
import { cycle } from './random.ts';

const companies: readonly [Company, ...Company[]] = [
  { key: 'northwind', properties: { name: 'Northwind Tours', size: 12, plan: 'standard' } },
  { key: 'halcyon', properties: { name: 'Halcyon Events', size: 140, plan: 'premium' } },
  { key: 'meridian', properties: { name: 'Meridian Freight', size: 2300, plan: 'premium' } },
];

interface Company {
  readonly key: string;
  readonly properties: { readonly name: string; readonly size: number; readonly plan: string };
}

/** The key of the company that a person comes from. */
export function companyOf(personId: number): string {
  return cycle(companies, personId).key;
}

/** Stores the companies of a project that has some. */
export function seedGroups({ database }: Store, project: SeedProject): void {
  const insert = database.prepare('INSERT INTO groups VALUES (?, 0, ?, ?)');
  if (!project.hasCompanies) return;
  for (const { key, properties } of companies) insert.run(project.id, key, JSON.stringify(properties));
}
