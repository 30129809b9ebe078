/** Validates configuration records of the control plane: unknown values in, typed records or an error out. */
import { FAMILIES, GROUPS, PROTOCOLS } from '@gateway/shared/catalog';
import { QUIRK_KINDS, quirkProblem } from '@gateway/shared/quirks';
import type { Quirk } from '@gateway/shared/quirks';
import { ROUTING_POLICIES } from '@gateway/shared/routing';
import { AUTH_KINDS, REQUEST_STYLES } from '@gateway/shared/clouds/access';
import type { UpstreamAccess } from '@gateway/shared/clouds/access';
import type { ConfigKind, ConfigRecord, FrozenModelRecord } from '@gateway/shared/records';

/** A value has the wrong shape. The message names the field and the expected shape, never the value. */
export class DecodeError extends Error {
  readonly #place: string;
  readonly #expected: string;

  constructor(place: string, expected: string) {
    super(`${place} is not ${expected}`);
    this.name = 'DecodeError';
    this.#place = place;
    this.#expected = expected;
  }

  /** The same error of a value within another one. */
  within(place: string): DecodeError {
    return new DecodeError(`${place}/${this.#place}`, this.#expected);
  }
}

type Decoder<Value> = (value: unknown, place: string) => Value;
type Shape<Value> = { [Field in keyof Value]-?: Decoder<Value[Field]> };

const TEXT_LIMIT = 20_000;
const LIST_LIMIT = 10_000;
const MICROS_SHAPE = /^\d{1,13}$/;
const RATIO_SHAPE = /^\d{1,4}(\.\d{1,4})?$/;
const DIGEST_SHAPE = /^[0-9a-f]{64}$/;

const text: Decoder<string> = (value, place) => {
  if (typeof value !== 'string' || value.length > TEXT_LIMIT)
    throw new DecodeError(place, `a text of ≤ ${TEXT_LIMIT} characters`);
  return value;
};
const name: Decoder<string> = (value, place) => {
  if (text(value, place) === '') throw new DecodeError(place, 'a non-empty text');
  return value as string;
};
const flag: Decoder<boolean> = (value, place) => {
  if (typeof value !== 'boolean') throw new DecodeError(place, 'true or false');
  return value;
};
/** False if it is absent: an older control plane does not send it. */
const flagOrFalse: Decoder<boolean> = (value, place) => (value === undefined ? false : flag(value, place));
const whole: Decoder<number> = (value, place) => {
  if (!Number.isSafeInteger(value) || (value as number) < 0)
    throw new DecodeError(place, 'a whole number ≥ 0');
  return value as number;
};
/** 0 if it is absent: an older control plane does not send it. */
const wholeOrZero: Decoder<number> = (value, place) => (value === undefined ? 0 : whole(value, place));
const number: Decoder<number> = (value, place) => {
  if (typeof value !== 'number') throw new DecodeError(place, 'a number');
  return value;
};
const micros = shaped(MICROS_SHAPE, 'micro-dollars as a decimal text');
const ratio = shaped(RATIO_SHAPE, 'a ratio as a decimal text');
const digest = shaped(DIGEST_SHAPE, 'a SHA-256 digest in hex');
const address: Decoder<string> = (value, place) => {
  if (!/^https?:$/.test(URL.parse(text(value, place))?.protocol ?? ''))
    throw new DecodeError(place, 'an http(s) address');
  return value as string;
};

function shaped(shape: RegExp, expected: string): Decoder<string> {
  return (value, place) => {
    if (typeof value !== 'string' || !shape.test(value)) throw new DecodeError(place, expected);
    return value;
  };
}

function nullable<Value>(decode: Decoder<Value>): Decoder<Value | null> {
  return (value, place) => (value === null || value === undefined ? null : decode(value, place));
}

/** Shared by all empty lists, to save memory: most keys have one. */
const EMPTY_LIST: never[] = [];
Object.freeze(EMPTY_LIST);

function list<Value>(decode: Decoder<Value>): Decoder<Value[]> {
  return (value, place) => {
    if (!Array.isArray(value) || value.length > LIST_LIMIT)
      throw new DecodeError(place, `a list of ≤ ${LIST_LIMIT}`);
    if (value.length === 0) return EMPTY_LIST;
    try {
      return value.map((item: unknown, at) => decode(item, String(at)));
    } catch (error) {
      throw error instanceof DecodeError ? error.within(place) : error;
    }
  };
}

function oneOf<const Word extends string>(words: readonly Word[]): Decoder<Word> {
  return (value, place) => {
    const word = words.find((each) => each === value);
    if (word === undefined) throw new DecodeError(place, `one of ${words.join(', ')}`);
    return word;
  };
}

/** Ignores fields that the shape does not name: a newer control plane may send more than this node knows. */
function object<Value>(shape: Shape<Value>): Decoder<Value> {
  const fields = Object.entries(shape) as [string, Decoder<unknown>][];
  return (value, place) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new DecodeError(place, 'an object');
    const source = value as Record<string, unknown>;
    // A snapshot has a million objects, so no intermediate objects or texts are created, and all get the same
    // hidden class.
    const result: Record<string, unknown> = {};
    try {
      for (const [field, decode] of fields) result[field] = decode(source[field], field);
    } catch (error) {
      throw error instanceof DecodeError ? error.within(place) : error;
    }
    return result as Value;
  };
}

const price = object({ base: micros, ratio, price: micros });
const prices: Decoder<Partial<Record<(typeof GROUPS)[number], ReturnType<typeof price>>>> = (
  value,
  place,
) => {
  if (typeof value !== 'object' || value === null) throw new DecodeError(place, 'an object');
  const source = value as Record<string, unknown>;
  return Object.fromEntries(
    GROUPS.filter((group) => source[group] !== undefined && source[group] !== null).map((group) => [
      group,
      price(source[group], `${place}/${group}`),
    ]),
  );
};
const concurrency = object({ perWallet: whole, perKey: whole });
const limits = object({ maxChoices: whole, maxInputs: whole, maxBodyBytes: whole, serviceTiers: list(text) });
const timeouts = object({
  connectMs: whole,
  headersMs: whole,
  firstContentMs: whole,
  idleMs: whole,
  totalMs: whole,
});
const families = list(oneOf(FAMILIES));
/** Absent in records of older control planes, and in copies of pools. */
const routing: Decoder<(typeof ROUTING_POLICIES)[number]> = (value, place) =>
  value === undefined ? 'FIXED' : oneOf(ROUTING_POLICIES)(value, place);
const pairs = list(object({ name, value: text }));
const access = object<UpstreamAccess>({
  auth: oneOf(AUTH_KINDS),
  tenantId: nullable(name),
  clientId: nullable(name),
  scope: nullable(name),
  region: nullable(name),
  service: nullable(name),
  roleArn: nullable(name),
  audience: nullable(name),
  serviceAccount: nullable(name),
  tokenUrl: nullable(address),
  style: oneOf(REQUEST_STYLES),
  pathTemplate: nullable(name),
  headers: pairs,
  query: pairs,
  proxyUrl: nullable(address),
});
const frozenModel = {
  id: name,
  name,
  displayName: text,
  description: text,
  contextTokens: whole,
  traits: list(text),
  families,
  prices,
  limits,
  passUnknown: flagOrFalse,
  storesState: flagOrFalse,
  stateRetentionDays: wholeOrZero,
  routing,
  hedged: flagOrFalse,
  createdAt: whole,
};

const quirkFields = object<Quirk>({
  kind: oneOf(QUIRK_KINDS),
  member: nullable(text),
  other: nullable(text),
  value: nullable(text),
  min: nullable(number),
  max: nullable(number),
});
const quirk: Decoder<Quirk> = (value, place) => {
  const fields = quirkFields(value, place);
  if (quirkProblem(fields) !== undefined) throw new DecodeError(place, 'a valid quirk');
  return fields;
};
/** Absent in records of older control planes, and in files of older nodes. */
const quirks: Decoder<Quirk[]> = (value, place) => (value === undefined ? [] : list(quirk)(value, place));

type RecordOf<Kind extends ConfigKind> = Extract<ConfigRecord, { kind: Kind }>;

const RECORDS: { [Kind in ConfigKind]: Decoder<RecordOf<Kind>> } = {
  API_KEY: object<RecordOf<'API_KEY'>>({
    kind: oneOf(['API_KEY']),
    id: name,
    digest,
    previousDigest: nullable(digest),
    previousUntil: nullable(whole),
    walletId: name,
    group: oneOf(GROUPS),
    enabled: flag,
    disabledReason: nullable(text),
    poolId: nullable(name),
    allowedModels: nullable(list(text)),
    allowedIps: list(text),
    expiresAt: nullable(whole),
    hasSpendLimit: flag,
    hidden: flag,
  }),
  MODEL: object<RecordOf<'MODEL'>>({ kind: oneOf(['MODEL']), ...frozenModel }),
  PROVIDER: object<RecordOf<'PROVIDER'>>({
    kind: oneOf(['PROVIDER']),
    id: name,
    name: text,
    protocols: list(oneOf(PROTOCOLS)),
    baseUrl: address,
    timeouts,
    concurrencyLimit: nullable(whole),
    allowPrivate: flag,
    quirks,
    access: nullable(access),
  }),
  CREDENTIAL: object<RecordOf<'CREDENTIAL'>>({
    kind: oneOf(['CREDENTIAL']),
    id: name,
    providerId: name,
    origin: address,
    binding: nullable(name),
    sealed: name,
  }),
  ROUTE: object<RecordOf<'ROUTE'>>({
    kind: oneOf(['ROUTE']),
    id: name,
    modelId: name,
    providerId: name,
    upstreamModel: name,
    families,
    priority: whole,
    weight: whole,
    cost: nullable(micros),
    quirks,
  }),
  POOL: object<RecordOf<'POOL'>>({
    kind: oneOf(['POOL']),
    id: name,
    name: text,
    subdomain: name,
    models: list(object<FrozenModelRecord>(frozenModel)),
    rpmCap: whole,
    paidUntil: whole,
  }),
  ACCOUNT: object<RecordOf<'ACCOUNT'>>({
    kind: oneOf(['ACCOUNT']),
    id: name,
    walletId: name,
    frozen: flag,
    suspended: flag,
    // Absent in records of older control planes, and in files of older nodes.
    closed: (value, place) => (value === undefined ? false : flag(value, place)),
  }),
  SETTINGS: object<RecordOf<'SETTINGS'>>({
    kind: oneOf(['SETTINGS']),
    id: oneOf(['settings']),
    publicUrl: address,
    consoleUrl: address,
    poolRequestsFree: flag,
    playgroundKey: nullable(name),
    stateKey: nullable(name),
    // Absent in files of older nodes.
    nodeIds: (value, place) => (value === undefined ? [] : list(name)(value, place)),
    // Absent in records of older control planes, and in files of older nodes.
    concurrentRequests: (value, place) => (value === undefined ? undefined : concurrency(value, place)),
  }),
};

/** Decodes an unknown value as a record of the given kind. Throws DecodeError, which names the bad field. */
export function decodeRecord(kind: ConfigKind, value: unknown, place: string): ConfigRecord {
  const decode: Decoder<ConfigRecord> | undefined = Object.hasOwn(RECORDS, kind) ? RECORDS[kind] : undefined;
  if (!decode) throw new DecodeError(place, 'of a kind that this node knows');
  return decode(value, place);
}
