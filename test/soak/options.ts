/** Reads the arguments of `npm run soak`. */
import { parseArgs } from 'node:util';

const MINUTE_MS = 60_000;
const WARM_UP_MS = MINUTE_MS;
const REST_MS = MINUTE_MS;
/** Between the names of attacks that run at the same time. */
export const AND = ' + ';
/** Longest part without attacks before a single attack, in ms. */
const QUIET_MAX_MS = 5 * MINUTE_MS;

/** The plan of a run. */
export interface SoakPlan {
  seed: number;
  heapMegabytes: number;
  /** Names of the attacks of each part, in their order. The attacks of a part run at the same time. */
  parts: string[][];
  /** Time without attacks, in ms. */
  quietMs: number;
  /** Time of each part with attacks, in ms. */
  attackMs: number;
  /** Time before the first figure, in ms. */
  warmUpMs: number;
  /** Time between the last attack and the last figure, in ms. */
  restMs: number;
}

/**
 * The plan. Without `--attack`, half of the minutes are without attacks and the others are shared by all
 * attacks; with it, each named attack lasts for all minutes. `--attack 'sign-ins + unknown keys'` runs two at
 * the same time. Throws an Error that says what is wrong, with the names of all attacks if one is unknown.
 */
export function readPlan(args: string[], known: readonly string[]): SoakPlan {
  const { values } = parseArgs({
    args,
    options: {
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      minutes: { type: 'string', default: '20' },
      heap: { type: 'string', default: '512' },
      attack: { type: 'string', multiple: true },
    },
  });
  const named = (values.attack ?? []).map((names) => names.split(AND));
  const unknown = named.flat().filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new Error(`There is no attack "${unknown.join('", "')}". Name one of:\n${known.join('\n')}`);
  const durationMs = positive('minutes', values.minutes) * MINUTE_MS;
  const times =
    named.length > 0
      ? { quietMs: Math.min(durationMs, QUIET_MAX_MS), attackMs: durationMs }
      : { quietMs: durationMs / 2, attackMs: durationMs / 2 / known.length };
  return {
    seed: positive('seed', values.seed),
    heapMegabytes: positive('heap', values.heap),
    parts: named.length > 0 ? named : known.map((name) => [name]),
    ...times,
    warmUpMs: Math.min(WARM_UP_MS, durationMs / 4),
    restMs: REST_MS,
  };
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`--${name} is "${text}". Give a number above 0.`);
  return value;
}
