/** The keys of everything stored encrypted: SECRET_KEY, and SECRET_KEY_SECOND while it is replaced. */

/** Separates the keys in one text. No environment variable can contain it. */
const SEPARATOR = '\0';

/** Both keys as one text: `settings.secretKey`. The first one encrypts, each of them decrypts. */
export function joinKeys(current: string, second: string | undefined): string {
  return second === undefined ? current : `${current}${SEPARATOR}${second}`;
}

/** The key that encrypts, and from which other keys are derived. */
export function currentKeyOf(secretKey: string): string {
  return keysOf(secretKey)[0];
}

/** All keys that decrypt, the current one first. */
export function keysOf(secretKey: string): [string, ...string[]] {
  const [current = '', ...others] = secretKey.split(SEPARATOR);
  return [current, ...others];
}
