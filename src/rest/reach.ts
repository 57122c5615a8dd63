import { type NodeType, ownerTypeOf } from './nouns.ts';

/** The rights of a caller: a part of the rights of the key that the gateway holds for it. */
export interface Rights {
  /** The objects that it may reach; undefined for all that the key sees. If it is set, the caller has limited reach. */
  readonly reach: Reach | undefined;
  /** The mutations that the caller may run, by name. The value is the reach of the mutation, which roles may limit. */
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

/** True if queries and all mutations of a caller reach all that its key sees. */
export function reachesAll({ reach, mutations }: Rights): boolean {
  return [reach, ...mutations.values()].every((one) => one === undefined);
}

/** The project or organization that a path of the API names. */
const owner = /^\/api\/(?<word>projects|organizations)\/(?<id>[^/?]+)/;

/** The only paths that name no project or organization: pages of the list of projects. */
const nameless = /^\/api\/projects\/(?:$|\?)/;

/**
 * True if a REST call stays within reach. `target` is path and query. Unknown paths are outside, so that a new form of
 * path is refused until it is listed here.
 */
export function reachesTarget(reach: Reach | undefined, method: string, target: string): boolean {
  if (reach === undefined) return true;
  const { word, id = '' } = owner.exec(target)?.groups ?? {};
  if (word === undefined) return method === 'GET' && nameless.test(target);
  const noun = word === 'projects' ? 'Project' : 'Organization';
  return reaches(reach, { noun, scope: '', id });
}
