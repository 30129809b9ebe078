/** The look of pages, dialogs, drawers and menus in Chinese: a part, or all with `PROOF_CASES=all`. */
import { sliceOf, TAKES_ALL_CASES } from '../test/seeds.ts';
import { describeLayout } from './test/layout-rules.ts';
import { PLACES } from './test/places.ts';

/** A run takes every n-th place. */
const EVERY = 4;

describeLayout({ language: 'zh-CN', places: sliceOf(PLACES, EVERY), everyLook: TAKES_ALL_CASES });
