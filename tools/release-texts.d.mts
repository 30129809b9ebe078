/** Types of release-texts.mjs for the tests. */

export const IMAGE_MENTIONS: readonly string[];
export const BILL_OF_MATERIALS: readonly string[];
export function withoutDevelopment(bill: string): string;
export function isNewer(version: string | undefined, current: string): boolean;
export function withVersion(manifest: string, current: string, version: string): string;
export function withChartVersion(chart: string, version: string): string;
export function withLockVersion(lock: string, version: string): string;
export function withReleasedSection(changelog: string, version: string, date: Date): string | undefined;
