/** What a row of the endpoint table is, and what all rows need. */
import type { DialectName, Family } from '@gateway/shared/catalog';
import { GatewayError } from '@gateway/shared/failures';
import type { Call } from './call.ts';
import type { Dialect } from './dialects/dialect.ts';
import type { Upgrade } from './exchange/realtime.ts';
import type { RelayKind } from './exchange/relay-kinds.ts';
import type { Services } from './services.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export type BodyType = RelayKind['body'];

/** One row: a method, a path in the router's syntax (`*` is the rest), and what answers there. */
export interface Endpoint {
  method: Method;
  path: string;
  family: Family | 'free';
  /** What the body must be, by its content type. */
  body: BodyType | 'any';
  /** Serves the path as a WebSocket; throws what is to be told instead of the upgrade. */
  upgrade?(call: Call, services: Services, upgrade: Upgrade): Promise<void>;
  /** Throws the failure that the client is to be told in its own format. `rest` is what `*` stands for. */
  answer(call: Call, services: Services, rest: string): Promise<void>;
}

/** A chat format by name. Throws `not_found` where this node does not speak it. */
export function dialectOf({ dialects }: Services, name: DialectName, call: Call): Dialect {
  const dialect = dialects[name];
  if (!dialect) throw notServed(call.path);
  return dialect;
}

/** The failure for a path that leads nowhere. */
export function notServed(path: string): GatewayError {
  return new GatewayError('not_found', `There is nothing at ${path.slice(0, 200)}. Check the path.`);
}
