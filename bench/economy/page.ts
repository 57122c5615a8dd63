/** ECONOMY.md. */
import { number, table } from '../report/text.ts';
import { type ContenderName, contenderNames, contenders } from './contenders.ts';
import type { Figures } from './record.ts';
import type { Economy } from './results.ts';
import { latencyMs, lifetimes, speed, staleSeconds } from './scale.ts';

/** The page that tells what was measured. */
export function economyPageOf(economy: Economy): string {
  return `${[introduction(economy), economyTable(economy), notes(economy), method(economy)].join('\n\n')}\n`;
}

/** The ways to the service that the README shows, with their names there. ECONOMY.md also has the peers. */
const summarized: readonly (readonly [name: ContenderName, title: string])[] = [
  ['direct', 'a REST client, without a gateway'],
  ['neither', 'this gateway'],
  ['both', '**this gateway with budget and cache**'],
];

/** The table of the README. */
export function economySummary({ figures }: Pick<Economy, 'figures'>): string {
  const head = ['Clients use', 'REST calls a minute', '429 answers in 80 minutes', 'Operations refused'];
  const rows = summarized.flatMap(([name, title]) => {
    const own = figures[name];
    if (own === undefined) return [];
    const refused = percent(own.refused / own.operations);
    return [[title, number(own.callsPerMinute), number(own.throttled), refused]];
  });
  return table(head, rows);
}

/** The table alone. */
export function economyTable({ figures }: Pick<Economy, 'figures'>): string {
  const head = [
    '',
    'REST calls a minute',
    '429s',
    'operations refused',
    'age of answers, p50 / p99',
    'age on the screen, p50 / p99',
    'blank screens',
    "answers without one's own edit",
    'export',
  ];
  const rows = contenderNames.flatMap((name) => {
    const own = figures[name];
    return own === undefined ? [] : [[contenders[name].title, ...cellsOf(own)]];
  });
  return table(head, rows);
}

function cellsOf(own: Figures): readonly string[] {
  return [
    number(own.callsPerMinute),
    number(own.throttled),
    `${number(own.refused)} of ${number(own.operations)} (${percent(own.refused / own.operations)})`,
    `${number(own.ageP50)} s / ${number(own.ageP99)} s`,
    `${number(own.screenP50)} s / ${number(own.screenP99)} s`,
    percent(own.blank),
    number(own.unseenEdits),
    own.exportMinutes === undefined ? 'not done' : `${number(own.exportMinutes)} min`,
  ];
}

function percent(share: number): string {
  return `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;
}

function introduction({ machine, day }: Economy): string {
  return `# What a team's key is spent on

<!-- Written by bench/economy.ts. -->

${day.people} people share one key of the service, which may make 480 calls a minute and 4,800 an hour, of which endpoints of events have
limits of their own. Each has two of an application's five pages open at a time, which poll every 10 to 60 seconds; now
and then they change a dashboard, and one of them exports events. The same ${day.length} minutes, once for each way to the service.

Measured on ${machine.date}, Node ${machine.node}: ${machine.processor}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.system}.`;
}

function notes({ missing, figures }: Economy): string {
  const edits = number(figures.both?.edits ?? 0);
  const left = contenderNames.flatMap((name: ContenderName) => {
    const why = missing[name];
    return why === undefined ? [] : [`- ${contenders[name].title} is missing: ${why}`];
  });
  return `- **REST calls, 429s**: requests that the service has answered to the team's key, and those that it refused.
- **Operations refused**: pages, edits and steps of the export that were not answered, or not as a whole. They are tried
  again after \`Retry-After\`, or when the page would have polled next.
- **Age**: for how long what is shown had been replaced by something newer, as the log of all writes tells; 0 if it was the
  newest. Of answers as they come, and of what stands on open pages at any time. Another tool, with a key of its own,
  changes every project and a dashboard of each every 8 seconds: so there is always something newer that a cache does not
  hear of.
- **Blank screens**: the share of the time of open pages in which none of their reads had been answered yet.
- **Answers without one's own edit**: answers to a person that did not show what that person had changed before, and been told
  was done. There were ${edits} such changes in each day.
- **Export**: how long it took one person to read the walls of dashboards and the newest 500 events of all projects.${left.length === 0 ? '' : `\n${left.join('\n')}`}`;
}

function method({ day }: Economy): string {
  const kept = Object.entries(lifetimes).map(([noun, seconds]) => `${noun} ${seconds} s`);
  return `## How a day is compressed

It goes ${speed} times faster than a clock, in ${number(day.length * (60 / speed))} seconds, and every length of time goes with it: the windows of the
service's throttle and of the gateway's budget (a minute is ${60 / speed} seconds, an hour ${3600 / speed}), how long answers are kept
(${kept.join(', ')}, then up to ${staleSeconds} s while a newer one is read), polls, visits, edits, the deadline of an operation, and the ${latencyMs} ms that
the service takes for an answer. Hours in which nothing new would happen are left out. What cannot be compressed counts as
it is, times ${speed}: a millisecond of a processor is ${speed} of the day, and \`Retry-After\`, in whole seconds, is rounded up to the
next ${speed} seconds of the day. Ways may be lived side by
side: none needs more than a fifth of a core.

Peers keep answers for the same time, and for each key apart. Tailcall's \`@cache\` keeps what a field was read from until its
time is over, also what an edit has changed: so it makes the fewest calls. This gateway reads all anew that the key had read
before an edit. Hive Gateway's response cache keeps whole answers, each as long as the shortest-lived of its rows, and drops
those with an object that a mutation has answered; with Hive's compiler on it does not, so that is off here. Both are
configured in [peers/](peers/).`;
}
