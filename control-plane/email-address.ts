/** What counts as an e-mail address, wherever one comes in. */

const EMAIL =
  /^[^\s@"(),:;<>[\]\\]{1,64}@[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/;
const EMAIL_LENGTH_MAX = 254;

/** The address in lower case; undefined where the text is none, or not one alone. */
export function emailIn(text: string): string | undefined {
  const address = text.trim().toLowerCase();
  return address.length <= EMAIL_LENGTH_MAX && EMAIL.test(address) ? address : undefined;
}
