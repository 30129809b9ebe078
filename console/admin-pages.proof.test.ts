/** The rules for every page, on the pages of administrators, in all looks. */
import { ADMIN_PAGES } from './test/browser.ts';
import { ALL_LOOKS, describePages } from './test/page-rules.ts';

describePages(ADMIN_PAGES, ALL_LOOKS);
