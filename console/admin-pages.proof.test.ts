/** The rules for every page, on the pages of administrators. */
import { ADMIN_PAGES } from './test/browser.ts';
import { describePages } from './test/page-rules.ts';

describePages(ADMIN_PAGES);
