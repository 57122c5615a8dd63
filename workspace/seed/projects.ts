import { createHash } from 'node:crypto';
import type { JsonObject } from '../json.ts';
import { newProject } from '../projects/fields.ts';
import type { Store } from '../store.ts';
import { daysBeforeEnd } from './clock.ts';
import { bank, type SeedOrganization, travel } from './organizations.ts';
import { uuidOf } from './random.ts';

/** A project of the demonstration data. */
export interface SeedProject {
  readonly id: number;
  readonly name: string;
  readonly organization: SeedOrganization;
  readonly business: 'travel' | 'bank';
  readonly surface: 'web' | 'app';
  readonly host: string;
  readonly events: number;
  /** True if persons come from companies, which are groups of type 0. */
  readonly hasCompanies: boolean;
  /** Differences from a new project. */
  readonly settings: JsonObject;
}

/** Every project, in order of its id. */
export const seedProjects: readonly SeedProject[] = [
  travelProject(1, 'Booking website', 'web', 'www.fernweh.example', 1400, {
    timezone: 'Europe/Berlin',
    week_start_day: 1,
    session_recording_opt_in: true,
    session_recording_sample_rate: '0.25',
    surveys_opt_in: true,
    person_display_name_properties: ['name', 'email'],
    test_account_filters: [{ key: 'email', type: 'person', value: '@fernweh.example', operator: 'not_icontains' }],
  }),
  travelProject(2, 'iOS app', 'app', 'ios.fernweh.example', 900, { timezone: 'Europe/Berlin', week_start_day: 1 }),
  travelProject(3, 'Android app', 'app', 'android.fernweh.example', 800, { timezone: 'Asia/Kolkata' }),
  travelProject(4, 'Partner portal', 'web', 'partners.fernweh.example', 500, {
    timezone: 'Europe/Madrid',
    access_control: true,
  }),
  bankProject(5, 'Mobile banking', 'app', 'app.kestrel.example', 900, {
    timezone: 'Africa/Lagos',
    anonymize_ips: true,
  }),
  bankProject(6, 'Business portal', 'web', 'business.kestrel.example', 500, {
    timezone: 'Asia/Tokyo',
    week_start_day: 0,
    session_recording_minimum_duration_milliseconds: 2000,
  }),
];

function travelProject(...[id, name, surface, host, events, settings]: Particulars): SeedProject {
  return {
    id,
    name,
    surface,
    host,
    events,
    settings,
    organization: travel,
    business: 'travel',
    hasCompanies: id === 4,
  };
}

function bankProject(...[id, name, surface, host, events, settings]: Particulars): SeedProject {
  return { id, name, surface, host, events, settings, organization: bank, business: 'bank', hasCompanies: id === 6 };
}

type Particulars = [
  id: number,
  name: string,
  surface: SeedProject['surface'],
  host: string,
  events: number,
  settings: JsonObject,
];

/** Stores a project whose first dashboard is going to have the id `primaryDashboard`. */
export function seedProject({ projects }: Store, project: SeedProject, primaryDashboard: number): void {
  const identity = {
    uuid: uuidOf(`project ${project.id}`),
    organization: project.organization.id,
    api_token: `phc_${createHash('sha256').update(project.host).digest('base64url')}`,
    created_at: daysBeforeEnd(400 - project.id * 37.31),
  };
  const settings = {
    name: project.name,
    app_urls: [`https://${project.host}`],
    completed_snippet_onboarding: true,
    has_completed_onboarding_for: { product_analytics: true },
    primary_dashboard: primaryDashboard,
    live_events_columns: ['event', 'person', 'timestamp'],
    ...project.settings,
  };
  projects.insert(project.organization.id, {
    ...newProject(identity, settings),
    updated_at: daysBeforeEnd(project.id * 2.17),
    ingested_event: true,
    has_group_types: project.hasCompanies,
    groups_on_events_querying_enabled: project.hasCompanies,
  });
}
