/** The secrets of cloud credentials: JSON texts, validated when they are stored, and read when used. */
import { createPrivateKey } from 'node:crypto';

/** Keys that sign requests. */
export interface AwsKeys {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

/** The members of a service account's key file that are needed. */
export interface ServiceAccountKey {
  clientEmail: string;
  /** PKCS #8 in PEM. */
  privateKey: string;
  privateKeyId: string;
}

/** A client certificate with its private key, both in PEM. */
export interface ClientCertificate {
  certificate: string;
  privateKey: string;
}

/** Reads `{"accessKeyId", "secretAccessKey", "sessionToken"?}`; undefined if the text is something else. */
export function readAwsKeys(text: string): AwsKeys | undefined {
  const value = parsed(text);
  const accessKeyId = textOf(value?.accessKeyId, /^\w{16,128}$/);
  const secretAccessKey = textOf(value?.secretAccessKey, /^[\x21-\x7e]{16,256}$/);
  if (!accessKeyId || !secretAccessKey) return undefined;
  if (value?.sessionToken === undefined || value.sessionToken === '') return { accessKeyId, secretAccessKey };
  const sessionToken = textOf(value.sessionToken, /^[\x21-\x7e]{1,4096}$/);
  return sessionToken ? { accessKeyId, secretAccessKey, sessionToken } : undefined;
}

/**
 * Reads a service account's key file as Google issues it; undefined if the text is something else.
 * https://cloud.google.com/iam/docs/keys-create-delete
 */
export function readServiceAccountKey(text: string): ServiceAccountKey | undefined {
  const value = parsed(text);
  const clientEmail = textOf(value?.client_email, /^[^\s@]+@[^\s@]+$/);
  const privateKeyId = textOf(value?.private_key_id, /^[\x21-\x7e]{1,200}$/);
  const privateKey = value?.private_key;
  if (!clientEmail || !privateKeyId || typeof privateKey !== 'string') return undefined;
  return isPrivateKey(privateKey, ['rsa']) ? { clientEmail, privateKeyId, privateKey } : undefined;
}

/** The key file reduced to the members that are read, as it is stored. */
export function writeServiceAccountKey({ clientEmail, privateKey, privateKeyId }: ServiceAccountKey): string {
  return JSON.stringify({ client_email: clientEmail, private_key_id: privateKeyId, private_key: privateKey });
}

/** Reads the JSON of a client certificate; undefined if the text is something else. */
export function readClientCertificate(text: string): ClientCertificate | undefined {
  const value = parsed(text);
  const certificate = textOf(value?.certificate, /^-----BEGIN CERTIFICATE-----/);
  const privateKey = textOf(value?.privateKey, /^-----BEGIN [A-Z ]*PRIVATE KEY-----/);
  return certificate && privateKey ? { certificate, privateKey } : undefined;
}

/**
 * The first certificate and the first private key of a text in PEM, as `az ad sp create-for-rbac
 * --create-cert` writes them into one file; undefined if one of them is missing. Checks neither.
 */
export function splitPem(text: string): ClientCertificate | undefined {
  const certificate = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/.exec(text)?.[0];
  const privateKey = /-----BEGIN (?:RSA )?PRIVATE KEY-----[\s\S]+?-----END (?:RSA )?PRIVATE KEY-----/.exec(
    text,
  )?.[0];
  return certificate && privateKey ? { certificate, privateKey } : undefined;
}

/** Whether the text is an unencrypted private key in PEM of one of these types. */
export function isPrivateKey(pem: string, types: readonly string[]): boolean {
  try {
    return types.includes(createPrivateKey(pem).asymmetricKeyType ?? '');
  } catch {
    return false;
  }
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function textOf(value: unknown, shape: RegExp): string | undefined {
  return typeof value === 'string' && shape.test(value) ? value : undefined;
}
