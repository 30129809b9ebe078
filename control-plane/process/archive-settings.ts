/** Settings of the archive of the usage log: a folder, or a bucket with an S3-compatible interface. */
import path from 'node:path';

/** A bucket. Addresses have no slash at the end. */
export interface BucketSettings {
  bucket: string;
  /** Beginning of all names without a slash at its end; empty for none. */
  prefix: string;
  region: string;
  /** Address of the service. */
  endpoint: string;
  /** Whether the bucket is in the path of addresses, and not in their host. */
  isPathStyle: boolean;
  accessKeyId: string;
  secretAccessKey: string;
}

/** Where files are written. */
export type ArchiveSettings = { folder: string } | BucketSettings;

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html */
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
/** Names that need no escaping in an address. */
const PREFIX = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/;
const REGION = /^[a-z0-9-]{1,40}$/;

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * The target of the archive; null without one. Throws an Error that says which variable to set or correct.
 * Only expired partitions are archived, so an archive without a retention time is refused.
 */
export function archiveOf(env: Variables, retentionDays: number | null): ArchiveSettings | null {
  const target = env['USAGE_ARCHIVE']?.trim();
  const bucket = bucketVariables(env);
  if (!target) return null;
  if (retentionDays === null)
    throw new Error(
      'USAGE_ARCHIVE is set without USAGE_RETENTION_DAYS. Set the days after which partitions are archived.',
    );
  if (!target.startsWith('s3://')) return { folder: folderOf(target) };
  const [name = '', ...rest] = target.slice('s3://'.length).replace(/\/+$/, '').split('/');
  const prefix = rest.join('/');
  if (!BUCKET.test(name) || (prefix !== '' && !PREFIX.test(prefix)))
    throw new Error(
      'USAGE_ARCHIVE must be s3://BUCKET or s3://BUCKET/PREFIX. ' +
        'A prefix has letters, digits, dots, _ and -, and parts that are separated by /.',
    );
  return bucketOf({ name, prefix }, bucket);
}

interface BucketVariables {
  region: string | undefined;
  endpoint: string | undefined;
  pathStyle: string | undefined;
  accessKeyId: string | undefined;
  secretAccessKey: string | undefined;
}

function bucketVariables(env: Variables): BucketVariables {
  return {
    region: env['USAGE_ARCHIVE_REGION']?.trim() || undefined,
    endpoint: env['USAGE_ARCHIVE_ENDPOINT']?.trim() || undefined,
    pathStyle: env['USAGE_ARCHIVE_PATH_STYLE']?.trim().toLowerCase() || undefined,
    accessKeyId: env['USAGE_ARCHIVE_ACCESS_KEY_ID']?.trim() || undefined,
    secretAccessKey: env['USAGE_ARCHIVE_SECRET_ACCESS_KEY']?.trim() || undefined,
  };
}

function folderOf(target: string): string {
  if (!path.isAbsolute(target))
    throw new Error('USAGE_ARCHIVE must be an absolute path, e.g. /var/lib/gateway-archive, or s3://BUCKET.');
  return path.resolve(target);
}

function bucketOf(
  { name, prefix }: { name: string; prefix: string },
  { region, endpoint, pathStyle, accessKeyId, secretAccessKey }: BucketVariables,
): BucketSettings {
  if (!region || !REGION.test(region))
    throw new Error(
      'USAGE_ARCHIVE_REGION must be the region of the bucket, e.g. eu-central-1; auto for Cloudflare R2, ' +
        'us-east-1 for a MinIO server without regions.',
    );
  if (!accessKeyId || !secretAccessKey)
    throw new Error(
      'USAGE_ARCHIVE names a bucket. Set USAGE_ARCHIVE_ACCESS_KEY_ID and USAGE_ARCHIVE_SECRET_ACCESS_KEY.',
    );
  const isOwnEndpoint = endpoint !== undefined;
  return {
    bucket: name,
    prefix,
    region,
    endpoint: isOwnEndpoint ? endpointOf(endpoint) : `https://s3.${region}.amazonaws.com`,
    // A name with dots is not covered by the certificate of the service.
    isPathStyle: pathStyleOf(pathStyle) ?? (isOwnEndpoint || name.includes('.')),
    accessKeyId,
    secretAccessKey,
  };
}

function endpointOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.pathname !== '/' || url.search || url.username)
    throw new Error(
      'USAGE_ARCHIVE_ENDPOINT must be an address without a path, e.g. https://minio.example.com:9000.',
    );
  return url.origin;
}

function pathStyleOf(text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined;
  if (['on', 'true', '1'].includes(text)) return true;
  if (['off', 'false', '0'].includes(text)) return false;
  throw new Error('USAGE_ARCHIVE_PATH_STYLE must be on or off.');
}
