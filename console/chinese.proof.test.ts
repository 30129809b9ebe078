/** The Chinese console shows in Chinese what the service sends as data: failures, hints, events and rules. */
import { describe, expect, test } from 'vitest';
import { ready } from './test/browser.ts';
import { houseOfTests } from './test/visit.ts';

const house = houseOfTests(async ({ tab }) => {
  await tab.context.addInitScript(() => {
    // The empty page between two visits has no storage.
    if (location.protocol === 'http:') localStorage.setItem('language', 'zh-CN');
  });
});
const { visit } = house;
/** Pages with several sentences in one paragraph. */
const SENTENCES = ['/pricing', '/usage', '/wallet', '/admin/payments/corrections', '/profile/security'];

describe.skipIf(!ready)('in Chinese', () => {
  test('a failed top-up says why, to its owner and to administrators', async () => {
    const { topUps, adminPayments } = house.stage.fake.state;
    Object.assign(topUps[0] ?? {}, { state: 'FAILED', failure: 'BANK_REFUSED', credited: '0.00' });
    Object.assign(adminPayments.topUps[1] ?? {}, { state: 'FAILED', failure: 'CARD_REFUSED' });
    await visit('/wallet?topup=top_1', async (page) => {
      await page.getByText('的付款失败，未入账。银行付款失败，未扣款。').waitFor();
    });
    await visit('/admin/payments/top-ups/top_a2', async (page) => {
      await page.getByText('已保存的银行卡被拒绝。').waitFor();
    });
  });

  test('the settings of a client have Chinese hints', async () => {
    await visit('/quickstart', async (page) => {
      await page.getByRole('radio', { name: 'Claude Code' }).check({ force: true });
      await page.getByText('已用 name 版本测试。').waitFor();
      await page.getByText('npm install name').waitFor();
      expect(await page.getByText('Tested with').count()).toBe(0);
    });
  });

  test('events of the audit log name their action and the type of their object', async () => {
    await visit('/admin/audit', async (page) => {
      const event = page.getByRole('listitem').filter({ hasText: 'wallet.adjust' });
      await event.getByText('调整钱包').waitFor();
      await event.getByText('上游', { exact: false }).first().waitFor();
    });
  });

  test.each(SENTENCES)('no space follows a sentence on %s', async (where) => {
    await visit(where, async (page) => {
      const text = await page.getByRole('main').innerText();
      expect(text).toContain('。');
      expect(text).not.toMatch(/。 +\S/);
    });
  });

  test('rules of the ledger are Chinese sentences', async () => {
    await visit('/admin/ledger', async (page) => {
      await page.getByRole('button', { name: '立即检查' }).click();
      await page.getByText('每笔交易都有分录，且分录之和为零。').waitFor();
    });
  });
});
