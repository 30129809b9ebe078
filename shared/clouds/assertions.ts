/** Signed JSON Web Tokens by which an application proves to a token endpoint who it is. */
import { X509Certificate, constants, hash, randomUUID, sign } from 'node:crypto';
import type { ClientCertificate, ServiceAccountKey } from './secrets.ts';

const SECOND_MS = 1_000;
/** Life of an assertion for Google in seconds: the longest that it permits. */
const GOOGLE_SECONDS = 3_600;
/** Life of an assertion for Entra in seconds: Microsoft asks for five to ten minutes. */
const ENTRA_SECONDS = 600;

/** The receiver of an assertion, and the time by the clock of this machine. */
interface Addressed {
  /** Address of the token endpoint. */
  audience: string;
  /** ms since the epoch. */
  now: number;
}

/** https://developers.google.com/identity/protocols/oauth2/service-account#httprest */
export function googleAssertion(
  key: ServiceAccountKey,
  { audience, now, scope }: Addressed & { scope: string },
): string {
  const iat = Math.floor(now / SECOND_MS);
  const content = contentOf(
    { alg: 'RS256', typ: 'JWT', kid: key.privateKeyId },
    { iss: key.clientEmail, scope, aud: audience, iat, exp: iat + GOOGLE_SECONDS },
  );
  return `${content}.${sign('RSA-SHA256', Buffer.from(content), key.privateKey).toString('base64url')}`;
}

/** https://learn.microsoft.com/en-us/entra/identity-platform/certificate-credentials */
export function entraAssertion(
  { certificate, privateKey }: ClientCertificate,
  { audience, now, clientId }: Addressed & { clientId: string },
): string {
  const iat = Math.floor(now / SECOND_MS);
  const thumbprint = hash('sha256', new X509Certificate(certificate).raw, 'buffer').toString('base64url');
  const times = { nbf: iat, iat, exp: iat + ENTRA_SECONDS };
  const content = contentOf(
    { alg: 'PS256', typ: 'JWT', 'x5t#S256': thumbprint },
    { aud: audience, iss: clientId, sub: clientId, jti: randomUUID(), ...times },
  );
  const padding = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
  const signature = sign('sha256', Buffer.from(content), { key: privateKey, ...padding });
  return `${content}.${signature.toString('base64url')}`;
}

function contentOf(header: object, claims: object): string {
  return `${encoded(header)}.${encoded(claims)}`;
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
