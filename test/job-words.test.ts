/** The console has words for every job that the control plane runs beside requests. */
import { expect, test } from 'vitest';
import { JOBS } from '../console/pages/admin/health/job-names.ts';
import { JOB_NAMES } from '../control-plane/job-list.ts';

test('every job has a name and an explanation in the console', () => {
  expect([...JOBS].toSorted()).toEqual([...JOB_NAMES].toSorted());
});
