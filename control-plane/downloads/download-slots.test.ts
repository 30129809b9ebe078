/** Downloads of one account leave slots for others. */
import { describe, expect, it } from 'vitest';
import type { Viewer } from '../graphql/context.ts';
import { DOWNLOADS } from '../limits.ts';
import { DownloadSlots } from './download-slots.ts';

const viewer = (id: string, role: Viewer['role'] = 'USER'): Viewer => ({
  id,
  email: `${id}@example.com`,
  role,
  allowedGroups: [],
  session: null,
  token: null,
});

describe('the slots of downloads', () => {
  it('are limited per account, and another account has its own', () => {
    const slots = new DownloadSlots();
    const free = Array.from({ length: DOWNLOADS.user.perCaller }, () => slots.take(viewer('hostile')));
    expect(() => slots.take(viewer('hostile'))).toThrow('Too many downloads');
    slots.take(viewer('honest'));
    free[0]?.();
    slots.take(viewer('hostile'));
  });

  it('are kept for administrators when accounts have taken all of theirs', () => {
    const slots = new DownloadSlots();
    for (let taken = 0; taken < DOWNLOADS.user.upTo; taken += 1) slots.take(viewer(`user-${taken}`));
    expect(() => slots.take(viewer('another'))).toThrow('Too many downloads');
    slots.take(viewer('operator', 'ADMIN'));
  });
});
