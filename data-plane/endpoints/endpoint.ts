/** A row of the endpoint table, and two functions that all rows use. */
import type { DialectName, Family } from '@gateway/shared/catalog';
import { GatewayError } from '@gateway/shared/failures';
import type { Credentials } from '../admission/authenticate.ts';
import type { Call } from '../call/call.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { Upgrade } from '../realtime/open.ts';
import type { RelayKind } from '../exchange/relay-kinds.ts';
import type { Services } from '../services.ts';

/** Methods that some row of the table has. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Kinds of body that an endpoint may require. */
export type BodyType = RelayKind['body'];

/**
 * One row: a method, a path in the router's syntax (`*` stands for the rest of the path), and its handler.
 */
export interface Endpoint {
  method: Method;
  path: string;
  family: Family | 'free';
  /** Where the row takes its key from. */
  credentials: Credentials;
  /** The content types that the body may have. */
  body: BodyType | 'any';
  /** Serves the path as a WebSocket. Throws the failure that is sent instead of accepting the upgrade. */
  upgrade?(call: Call, services: Services, upgrade: Upgrade): Promise<void>;
  /** Serves a request. Throws the failure to send in the client's format. `rest` is what `*` stands for. */
  answer(call: Call, services: Services, rest: string): Promise<void>;
}

/** A chat format by its name. Throws `not_found` if this node does not support it. */
export function dialectOf({ dialects }: Services, name: DialectName, call: Call): Dialect {
  const dialect = dialects[name];
  if (!dialect) throw notFound(call.path);
  return dialect;
}

/** The failure for an unknown path. */
export function notFound(path: string): GatewayError {
  return new GatewayError(
    'not_found',
    `There is nothing at ${path.slice(0, 200)}. Check the path and the base address.`,
  );
}
