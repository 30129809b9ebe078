/** Finds out whether a refusal may come from a wrong clock. Signatures and signed tokens carry the time. */

/** The headers and the body of an error response. */
interface Refusal {
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** Smaller differences are the resolution of the header and the time on the way, in ms. */
const NOTEWORTHY_MS = 60_000;

/**
 * By how much the clock of this machine is ahead of that of a host, in ms, less than 0 if it is behind;
 * undefined if it hardly differs, or if the host sent no `Date` header
 * (https://www.rfc-editor.org/rfc/rfc9110#name-date). `now` is in ms since the epoch.
 */
export function clockAheadMs(
  headers: Record<string, string | string[] | undefined>,
  now: number,
): number | undefined {
  const date = headers.date;
  const theirs = typeof date === 'string' ? Date.parse(date) : Number.NaN;
  const differenceMs = now - theirs;
  return Number.isNaN(differenceMs) || Math.abs(differenceMs) < NOTEWORTHY_MS ? undefined : differenceMs;
}

/**
 * Texts of refusals because of the time of a signature, a signed token or a client assertion.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-troubleshooting.html
 * https://learn.microsoft.com/en-us/entra/identity-platform/reference-error-codes
 * Google writes "Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat
 * and exp values".
 */
const ABOUT_TIME = new RegExp(
  [
    ...['Signature expired', 'Signature not yet current', 'RequestTimeTooSkewed', 'RequestExpired'],
    ...['short-lived token', 'within its valid time range'],
  ].join('|'),
);
/** Texts of refusals for another reason, whatever the clock shows. */
const ABOUT_OTHERS = new RegExp(
  [
    ...['does not match', 'security token', 'AccessDenied', 'not authorized'],
    ...['Invalid JWT Signature', 'account not found', 'invalid_client'],
  ].join('|'),
  'i',
);

/**
 * Codes of AWS for a signature that it refused. Some services send them with status 400.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/CommonErrors.html
 */
const SIGNATURE_CODE = /(?:^|#)(?:RequestExpired|RequestTimeTooSkewed|InvalidSignature)(?:Exception)?(?:$|:)/;

/**
 * Whether AWS refused the signature of a request, by its error code. The message does not count: it may
 * repeat text of the client.
 */
export function isSignatureRefusal({ headers, body }: Refusal): boolean {
  const code = headers['x-amzn-errortype'] ?? typeMember(body);
  return typeof code === 'string' && SIGNATURE_CODE.test(code);
}

/** The member `__type` of a JSON object; undefined without one. */
function typeMember(body: string): unknown {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null && '__type' in value ? value.__type : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether a wrong clock may be the reason of a refusal. `isSigned`: the request or the token grant carries
 * the time of this machine. Without it, only a refusal that speaks of the time counts.
 */
export function mayBeClock(refusal: string, isSigned: boolean): boolean {
  return ABOUT_TIME.test(refusal) || (isSigned && !ABOUT_OTHERS.test(refusal));
}

/** The difference as a sentence for the log. */
export function clockSentence(differenceMs: number, host: string): string {
  const seconds = Math.round(Math.abs(differenceMs) / 1_000);
  const way = differenceMs > 0 ? 'ahead of' : 'behind';
  return (
    `The clock of this machine differs by ${seconds} s: it is ${way} the clock of ${host}. ` +
    'Synchronise it with a time service.'
  );
}
