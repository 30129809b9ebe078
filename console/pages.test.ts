/** The rules for every page, on the pages of visitors and customers. */
import { OWN_PAGES, PUBLIC_PAGES } from './test/browser.ts';
import { describePages } from './test/page-rules.ts';

describePages([...PUBLIC_PAGES, ...OWN_PAGES]);
