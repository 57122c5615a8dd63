import { type NodeType, ownerTypeOf } from './nouns.ts';

/** The part of a key's rights that the gateway leaves to a caller. */
export interface Rights {
  /** Undefined for all that the key sees. If it is set, the caller has limited reach. */
  readonly reach: Reach | undefined;
  /** The mutations that the caller may run, by name. Each has a reach of its own, because roles may limit it. */
  readonly mutations: ReadonlyMap<string, Reach | undefined>;
}

/** Objects within reach, as upstream ids. Everything below a project or an organization is reached with it. */
export interface Reach {
  /** In the order in which the GraphQL field `projects` lists them. */
  readonly projects: ReadonlySet<string>;
  /** In lower case. */
  readonly organizations: ReadonlySet<string>;
}

/** The address of an object, as in its `Key`. `scope` is the id of its owner; empty for projects and organizations. */
export interface Reachable {
  readonly noun: NodeType;
  readonly scope: string;
  readonly id: string;
}

/** True if an object is within reach. Without a reach, every object is. `@current` is never within a reach. */
export function reaches(reach: Reach | undefined, { noun, scope, id }: Reachable): boolean {
  if (reach === undefined) return true;
  const owner = ownerTypeOf(noun);
  const [type, text] = owner === undefined ? [noun, id] : [owner, scope];
  if (type === 'Organization') return reach.organizations.has(text.toLowerCase());
  return type === 'Project' && reach.projects.has(text);
}

/** True if queries and all allowed mutations reach all that the key sees. */
export function reachesAll({ reach, mutations }: Rights): boolean {
  return [reach, ...mutations.values()].every((one) => one === undefined);
}

const owner = /^\/api\/(?<word>projects|organizations)\/(?<id>[^/?]+)/;

/** The only paths that name no project or organization: pages of the list of projects. */
const nameless = /^\/api\/projects\/(?:$|\?)/;

/** True if a REST call stays within reach. A path of a new form is outside until it is added here. */
export function reachesTarget(reach: Reach | undefined, method: string, target: string): boolean {
  if (reach === undefined) return true;
  const { word, id = '' } = owner.exec(target)?.groups ?? {};
  if (word === undefined) return method === 'GET' && nameless.test(target);
  const noun = word === 'projects' ? 'Project' : 'Organization';
  return reaches(reach, { noun, scope: '', id });
}
