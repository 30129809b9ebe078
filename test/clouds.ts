/** Fakes of clouds for tests: token endpoints with short lives, and checks of what upstreams receive. */
import { createVerify, generateKeyPairSync } from 'node:crypto';
import { Signer } from '@gateway/shared/clouds/signature';
import { DEFAULT_ACCESS } from '@gateway/shared/clouds/access';
import type { AwsKeys } from '@gateway/shared/clouds/secrets';
import type { UpstreamAccess } from '@gateway/shared/clouds/access';
import { signWith } from '../data-plane/upstreams/clouds/signing.ts';
import type { Play, SeenRequest } from './upstream.ts';

/** Keys that AWS accepts in tests. */
export const AWS_KEYS = {
  accessKeyId: 'AKIDEXAMPLE12345678',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
};
/** An access with these changes. */
export function accessOf(changes: Partial<UpstreamAccess>): UpstreamAccess {
  return { ...DEFAULT_ACCESS, ...changes };
}

const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
/** The key file of a service account. */
export const KEY_FILE = JSON.stringify({
  type: 'service_account',
  project_id: 'project-1',
  private_key_id: 'key-1234',
  private_key: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }),
  client_email: 'gateway@project-1.iam.gserviceaccount.com',
  client_id: '1',
  token_uri: 'https://elsewhere.example/token',
});

/** Whether the assertion is signed with the key of KEY_FILE; and its claims. */
export function claimsOf(form: URLSearchParams): Record<string, unknown> | undefined {
  const [header = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.');
  const verify = createVerify('RSA-SHA256').update(`${header}.${claims}`);
  if (!verify.verify(pair.publicKey, Buffer.from(signature, 'base64url'))) return undefined;
  const value: unknown = JSON.parse(Buffer.from(claims, 'base64url').toString());
  return typeof value === 'object' && value !== null ? { ...value } : undefined;
}

/** A token endpoint that issues `token-1`, `token-2`, … and records which of them are valid. */
export class TokenServer {
  issued = 0;
  /** Answers with this instead of a token. */
  refusal: Play | undefined;
  readonly #livesMs: number;
  /** ms of a monotonic clock. */
  readonly #now: () => number;
  readonly #validUntil = new Map<string, number>();

  constructor(livesMs: number, now: () => number = () => performance.now()) {
    this.#livesMs = livesMs;
    this.#now = now;
  }

  issue(): Play {
    if (this.refusal) return this.refusal;
    const members = { expires_in: this.#livesMs / 1000, token_type: 'Bearer' };
    return { chunks: [JSON.stringify({ access_token: this.next(), ...members })] };
  }

  /** A new token, without the answer around it. */
  next(): string {
    this.issued += 1;
    const token = `token-${this.issued}`;
    this.#validUntil.set(token, this.#now() + this.#livesMs);
    return token;
  }

  /** Number of tokens that have expired. */
  get expired(): number {
    return [...this.#validUntil.values()].filter((until) => until < this.#now()).length;
  }

  accepts({ headers }: SeenRequest): boolean {
    return this.isValid(/^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? '');
  }

  isValid(token: string): boolean {
    return (this.#validUntil.get(token) ?? 0) > this.#now();
  }
}

/** The answer of AWS's token service with temporary keys. */
export function assumedRole(keys: Required<AwsKeys>, expiresAt: Date): Play {
  const members = {
    AccessKeyId: keys.accessKeyId,
    SecretAccessKey: keys.secretAccessKey,
    SessionToken: keys.sessionToken,
    Expiration: expiresAt.toISOString(),
  };
  const inner = Object.entries(members).map(([name, value]) => `<${name}>${value}</${name}>`);
  return {
    headers: { 'content-type': 'text/xml' },
    chunks: [`<Credentials>${inner.join('')}</Credentials>`],
  };
}

/** Whether a request was signed with these keys at the time that it names. */
export async function isSigned(
  origin: string,
  { method, path, headers, body }: SeenRequest,
  keys: AwsKeys = AWS_KEYS,
): Promise<boolean> {
  const date = String(headers['x-amz-date']);
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date)?.map(Number) ?? [];
  const at = Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute, second);
  const scope = { keys, region: 'us-east-1', service: 'bedrock', at };
  const expected = await new Signer(signWith).sign({ method, url: origin + path, body }, scope);
  return headers.authorization === expected.authorization;
}
