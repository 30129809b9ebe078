/** Tests of the built console in a real browser: what its pages do, by mouse and by keyboard. */
import { describe, expect, test } from 'vitest';
import { SECRET } from './test/key-answers.ts';
import { ready, violations } from './test/browser.ts';
import { houseOfTests, press, typeInto } from './test/visit.ts';

const house = houseOfTests();
const { visit } = house;

describe.skipIf(!ready)('a copy button', () => {
  test('announces to screen readers that the browser refused to copy', async () => {
    await visit('/keys', async (page) => {
      await page.addInitScript('delete Navigator.prototype.clipboard');
      await page.reload();
      const button = page.getByRole('button', { name: 'Copy the base address' }).first();
      await button.click();
      await button.getByRole('status').filter({ hasText: 'Press Ctrl C' }).waitFor({ state: 'attached' });
    });
  });
});

describe.skipIf(!ready)('keys', () => {
  test('a key is created and revealed by keyboard alone; Done removes its secret from the page', async () => {
    await visit('/keys', async (page) => {
      await press(page, page.getByRole('button', { name: 'Create key' }));
      await typeInto(page.getByLabel('Name', { exact: true }), 'Night batch');
      await page.keyboard.press('Enter');
      await press(page, page.getByRole('dialog').getByRole('button', { name: 'Reveal', exact: true }));
      await page.getByLabel('The secret').waitFor();
      expect(await page.getByLabel('The secret').textContent()).toBe(SECRET);
      expect(await violations(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await page.getByText('Close without storing the key?').waitFor();
      await press(page, page.getByRole('button', { name: 'Back to the key' }));
      await page.getByLabel('The secret').waitFor();
      const box = page.getByLabel('I stored it in a safe place');
      await box.focus();
      await page.keyboard.press('Space');
      await press(page, page.getByRole('button', { name: 'Done' }));
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(await page.content()).not.toContain(SECRET.slice(7, -4));
      await page.getByText('Night batch').waitFor();
    });
  });

  test('disabling a key shows the number of nodes that applied it, and can be undone', async () => {
    await visit('/keys', async (page) => {
      await page.getByRole('button', { name: 'Actions for Staging' }).click();
      await page.getByRole('menuitem', { name: /^Disable/ }).click();
      await page.getByText('Staging disabled, applied on 3 of 3 nodes').first().waitFor();
      await page.getByRole('button', { name: 'Undo' }).click();
      await page.getByText('Staging enabled').first().waitFor();
    });
  });

  test('the first visit shows three steps', async () => {
    house.stage.fake.state.keys = [];
    await visit('/keys', async (page) => {
      await page.getByRole('heading', { name: 'Get started' }).waitFor();
      await page.getByText('1 of 3 done').waitFor();
      expect(await page.getByRole('main').getByRole('listitem').count()).toBe(3);
      expect(await page.getByRole('main').getByRole('button', { name: 'Create key' }).count()).toBe(1);
      expect(await violations(page)).toEqual([]);
    });
  });
});

describe.skipIf(!ready)('the palette', () => {
  test('leads to a page by keyboard alone, and is accessible', async () => {
    await visit('/keys', async (page) => {
      await page.keyboard.press('Control+k');
      const search = page.getByRole('combobox', { name: 'Search or run a command' });
      await search.waitFor();
      expect(await violations(page)).toEqual([]);
      await typeInto(search, 'wal');
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/wallet$/);
      await page.keyboard.press('?');
      await page.getByText('Keyboard shortcuts').waitFor();
      expect(await violations(page)).toEqual([]);
    });
  });

  test('ranks results, moves by arrows, describes each result, and shows when there is none', async () => {
    await visit('/keys', async (page) => {
      await page.keyboard.press('Control+k');
      const input = page.getByRole('combobox', { name: 'Search or run a command' });
      await input.fill('theme');
      const meant = page.getByRole('option', { selected: true });
      await expect.poll(() => meant.textContent()).toMatch(/^Theme/);
      const first = await meant.textContent();
      const theme = await meant.getAttribute('id');
      await expect.poll(() => input.getAttribute('aria-activedescendant')).toBe(theme);
      await input.fill('crea');
      await page.getByRole('option', { name: 'Create key', selected: true }).waitFor();
      const create = await meant.getAttribute('id');
      await expect.poll(() => input.getAttribute('aria-activedescendant')).toBe(create);
      await input.fill('theme');
      await expect.poll(() => meant.textContent()).toBe(first);
      await page.keyboard.press('ArrowDown');
      await expect.poll(() => meant.textContent()).not.toBe(first);
      const id = await meant.getAttribute('id');
      await expect.poll(() => input.getAttribute('aria-activedescendant')).toBe(id);
      await page.keyboard.press('ArrowUp');
      await expect.poll(() => meant.textContent()).toBe(first);
      await input.fill('qqqq');
      await page.getByText('Nothing matches').waitFor();
      expect(await page.getByRole('option').count()).toBe(0);
      await expect.poll(() => input.getAttribute('aria-activedescendant')).toBeNull();
      await input.fill('create key');
      await page.keyboard.press('Enter');
      await page.getByRole('dialog', { name: 'Create key' }).waitFor();
    });
  });
});

describe.skipIf(!ready)('usage', () => {
  test('new requests are shown only after a press of their button', async () => {
    const listeners = house.stage.fake.usageListeners();
    await visit('/usage', async (page) => {
      const rows = page.getByRole('table', { name: 'Requests' }).getByRole('row');
      // An event that is sent before the page listens is lost.
      await expect.poll(() => house.stage.fake.usageListeners()).toBe(listeners + 1);
      // The rows are drawn after the page.
      await expect.poll(() => rows.count()).toBeGreaterThan(1);
      const before = await rows.count();
      house.stage.fake.addUsage();
      const show = page.getByRole('button', { name: '1 new request' });
      await show.waitFor();
      expect(await rows.count()).toBe(before);
      await show.click();
      await expect.poll(() => rows.count()).toBe(before + 1);
    });
  });

  test('older requests have an address of their own, and lead back to newer ones', async () => {
    await visit('/usage', async (page) => {
      const first = page.getByRole('button', { name: 'First page' });
      await page.getByRole('button', { name: 'Next', exact: true }).click();
      await page.waitForURL(/after=/);
      await first.waitFor();
      await page.getByRole('button', { name: 'Previous', exact: true }).click();
      await page.waitForURL(/before=/);
      await page.getByRole('button', { name: 'Previous', exact: true }).waitFor({ state: 'detached' });
      await first.click();
      await first.waitFor({ state: 'detached' });
      await page.goBack();
      await first.waitFor();
    });
  });
});

describe.skipIf(!ready)('accounts', () => {
  test('a wrong password shows an error that does not say which part was wrong', async () => {
    await visit('/sign-in', async (page) => {
      await page.getByLabel('Email').fill('mara@lindgren.dev');
      await page.getByLabel('Password', { exact: true }).fill('wrong');
      await page.keyboard.press('Enter');
      await page.getByText('Email or password is wrong.').waitFor();
    });
  });

  test('a visitor returns to the requested page after sign-in', async () => {
    await visit('/sign-in?next=%2Fwallet', async (page) => {
      house.stage.fake.state.signedIn = false;
      await page.goto(`${house.stage.fake.url}/wallet?kind=USAGE`);
      await page.getByLabel('Email').fill('mara@lindgren.dev');
      await page.getByLabel('Password', { exact: true }).fill('tram orchid 41 window');
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/wallet\?kind=USAGE/);
    });
  });

  test('an account is created only after the policy is accepted', async () => {
    await visit('/register', async (page) => {
      await page.getByLabel('Email').fill('mara@lindgren.dev');
      await page.getByLabel('Password', { exact: true }).fill('tram orchid 41 window');
      await page.getByRole('button', { name: 'Create account' }).click();
      await page.getByText('Accept the privacy policy to create an account.').waitFor();
      await page.getByRole('checkbox').check();
      await page.getByRole('button', { name: 'Create account' }).click();
      await page.waitForURL(/\/keys/);
    });
  });
});

describe.skipIf(!ready)('the pages of administrators', () => {
  test('check the ledger on demand', async () => {
    await visit('/admin/ledger', async (page) => {
      await page.getByRole('button', { name: 'Check now' }).click();
      await page.getByText('All 2 rules hold').waitFor();
    });
  });

  test('show what changed between two versions of the policy, and publish a third', async () => {
    await visit('/admin/policies', async (page) => {
      await page.getByText('Difference from version 1.0').click();
      await page.getByText('+ | Usage rows | 12 months |').waitFor();
      await page.getByRole('button', { name: 'Publish a version' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Version number').fill('2.0');
      await dialog.getByLabel('What changed').fill('Shorter.');
      await dialog.getByLabel('Text, in Markdown').fill('# Privacy policy\n\nShorter.');
      await dialog.getByLabel('Reason').fill('Asked for by counsel');
      expect(await violations(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Publish', exact: true }).click();
      await page.getByText('The version is published').first().waitFor();
    });
  });

  test('drain a node after showing its requests in flight', async () => {
    await visit('/admin/nodes', async (page) => {
      await page.getByRole('button', { name: 'Actions for eu-1' }).click();
      await page.getByRole('menuitem', { name: 'Drain…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Drain eu-1' });
      await dialog.getByText('finishes those in flight (41)').waitFor();
      await dialog.getByLabel('Reason').fill('New kernel');
      await page.keyboard.press('Enter');
      await dialog.waitFor({ state: 'detached' });
    });
  });

  test('preview the balance of a wallet after an entry', async () => {
    await visit('/admin/users', async (page) => {
      await page.getByRole('button', { name: 'Actions for mara@lindgren.dev' }).click();
      await page.getByRole('menuitem', { name: 'Adjust wallet…' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Amount').fill('12.5');
      await dialog.getByText('Now $0.00, then $12.50.').waitFor();
      await dialog.getByLabel('Amount').fill('-1');
      await dialog.getByText('That is more than the balance.').waitFor();
    });
  });
});

describe.skipIf(!ready)('a node that is offline', () => {
  test('is forgotten after its dialog said what is lost; nodes in use cannot be', async () => {
    await visit('/admin/nodes', async (page) => {
      await page.getByRole('button', { name: 'Actions for us-1' }).click();
      await page.getByRole('menuitem', { name: 'Drain…' }).waitFor();
      expect(await page.getByRole('menuitem', { name: 'Forget…' }).count()).toBe(0);
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Actions for us-2' }).click();
      await page.getByRole('menuitem', { name: 'Forget…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Forget us-2' });
      await dialog.getByText('Charges that only its disk holds are lost.').waitFor();
      await dialog.getByLabel('Reason').fill('Its disk is broken');
      await dialog.getByRole('button', { name: 'Forget' }).click();
      await dialog.waitFor({ state: 'detached' });
    });
  });
});

describe.skipIf(!ready)('the health of an upstream', () => {
  test('is shown as one word and as figures, for each node and each credential', async () => {
    await visit('/admin/upstreams', async (page) => {
      await page.getByText('No recent requests').waitFor();
      await page.getByText('Degraded').waitFor();
    });
    await visit('/admin/upstreams/prv_north-eu', async (page) => {
      await page.getByText('4.12 %').waitFor();
      for (const words of ['1.8 s', '56 of 740 failed', 'Access refused', 'Busy: 1 hr ago'])
        await page.getByText(words).waitFor();
      await expect.poll(() => page.getByText('Open', { exact: true }).count()).toBe(2);
    });
  });
});

describe.skipIf(!ready)('a key', () => {
  test('is edited; the page shows a concurrent change, and then saves the typed input', async () => {
    await visit('/keys', async (page) => {
      await page.getByRole('button', { name: 'Actions for Staging' }).click();
      await page.getByRole('menuitem', { name: 'Edit…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Edit Staging' });
      await dialog.getByLabel('Name').fill('Staging EU');
      await dialog.getByLabel('Allowed IP addresses').fill('192.0.2.0/24');
      const [staging] = house.stage.fake.state.keys.filter(({ name }) => name === 'Staging');
      if (staging) staging.version += 1;
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.getByText('This key was changed elsewhere.').waitFor();
      expect(await dialog.getByLabel('Name').inputValue()).toBe('Staging EU');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.waitFor({ state: 'detached' });
      expect(staging?.allowedIps).toEqual(['192.0.2.0/24']);
    });
  });

  test('shows the addresses that used it recently, if it leaked', async () => {
    await visit('/keys', async (page) => {
      await page.getByRole('button', { name: 'Actions for Production API' }).click();
      await page.getByRole('menuitem', { name: 'Mark as leaked…' }).click();
      await page.getByRole('dialog').getByText('203.0.113.24').waitFor();
      await page.getByRole('button', { name: 'Disable permanently' }).click();
      await page.getByText('Production API disabled').first().waitFor();
    });
  });
});

describe.skipIf(!ready)('a reply', () => {
  test('shows its charge; a new reply shows the charge as soon as it is known', async () => {
    await visit('/playground?chat=cnv_1', async (page) => {
      const replies = page.getByRole('article', { name: 'coder' });
      await replies.first().getByText('$0.25 charged').waitFor();
      await replies.last().getByText('$0.30 charged').waitFor();
    });
  });
});

describe.skipIf(!ready)('the privacy policy', () => {
  test('shows how long this gateway keeps the usage log', async () => {
    await visit('/privacy-policy', async (page) => {
      await page.getByText('Whole months, until 400 days after they ended').waitFor();
    });
  });
});
