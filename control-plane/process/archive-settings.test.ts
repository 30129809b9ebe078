/** Tests of the settings of the archive: every mistake is named with the variable to correct. */
import { describe, expect, it } from 'vitest';
import { archiveOf } from './archive-settings.ts';

const KEY = { USAGE_ARCHIVE_ACCESS_KEY_ID: 'id', USAGE_ARCHIVE_SECRET_ACCESS_KEY: 'secret' };
const BUCKET = { USAGE_ARCHIVE: 's3://records/gateway/usage/', USAGE_ARCHIVE_REGION: 'eu-central-1', ...KEY };

describe('the archive', () => {
  it('is off by default', () => {
    expect(archiveOf({}, null)).toBeNull();
    expect(archiveOf({ USAGE_ARCHIVE: '' }, 30)).toBeNull();
  });

  it('is a folder, or a bucket with a prefix', () => {
    expect(archiveOf({ USAGE_ARCHIVE: '/var/lib/archive/' }, 30)).toEqual({ folder: '/var/lib/archive' });
    const [names, keys] = [
      { bucket: 'records', prefix: 'gateway/usage' },
      { accessKeyId: 'id', secretAccessKey: 'secret' },
    ];
    expect(archiveOf(BUCKET, 30)).toEqual({
      ...{ ...names, ...keys, region: 'eu-central-1', isPathStyle: false },
      endpoint: 'https://s3.eu-central-1.amazonaws.com',
    });
    const own = { ...BUCKET, USAGE_ARCHIVE_ENDPOINT: 'http://minio.internal:9000/' };
    expect(archiveOf(own, 30)).toMatchObject({ endpoint: 'http://minio.internal:9000', isPathStyle: true });
    expect(archiveOf({ ...own, USAGE_ARCHIVE_PATH_STYLE: 'off' }, 30)).toMatchObject({ isPathStyle: false });
    expect(archiveOf({ ...BUCKET, USAGE_ARCHIVE: 's3://a.records' }, 30)).toMatchObject({
      ...{ bucket: 'a.records', prefix: '', isPathStyle: true },
    });
  });

  it.each([
    [{ USAGE_ARCHIVE: 'archive' }, /must be an absolute path/],
    [{ ...BUCKET, USAGE_ARCHIVE: 's3://Records' }, /must be s3:\/\/BUCKET/],
    [{ ...BUCKET, USAGE_ARCHIVE: 's3://records/../other' }, /must be s3:\/\/BUCKET/],
    [{ ...BUCKET, USAGE_ARCHIVE: 's3://records/a b' }, /must be s3:\/\/BUCKET/],
    [{ ...BUCKET, USAGE_ARCHIVE_REGION: '' }, /USAGE_ARCHIVE_REGION must be/],
    [{ ...BUCKET, USAGE_ARCHIVE_ACCESS_KEY_ID: '' }, /Set USAGE_ARCHIVE_ACCESS_KEY_ID and/],
    [{ ...BUCKET, USAGE_ARCHIVE_SECRET_ACCESS_KEY: undefined }, /and USAGE_ARCHIVE_SECRET_ACCESS_KEY/],
    [{ ...BUCKET, USAGE_ARCHIVE_ENDPOINT: 'minio:9000' }, /USAGE_ARCHIVE_ENDPOINT must be an address/],
    [{ ...BUCKET, USAGE_ARCHIVE_ENDPOINT: 'https://minio/records' }, /without a path/],
    [{ ...BUCKET, USAGE_ARCHIVE_PATH_STYLE: 'maybe' }, /USAGE_ARCHIVE_PATH_STYLE must be on or off/],
  ])('refuses %o', (env, message) => {
    expect(() => archiveOf(env, 30)).toThrow(message);
  });

  it('needs a retention time', () => {
    expect(() => archiveOf({ USAGE_ARCHIVE: '/archive' }, null)).toThrow(/Set the days after which/);
  });
});
