/** Validates e-mail addresses, the same for every input. */

const EMAIL =
  /^[^\s@"(),:;<>[\]\\]{1,64}@[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/;
const EMAIL_LENGTH_MAX = 254;

/** The address, trimmed and in lower case; undefined if the text is not exactly one e-mail address. */
export function parseEmail(text: string): string | undefined {
  const address = text.trim().toLowerCase();
  return address.length <= EMAIL_LENGTH_MAX && EMAIL.test(address) ? address : undefined;
}
