/** Every page of the console, and the menus, dialogs and drawers that open from pages. */
import type { Page } from 'playwright-core';
import { en } from '../messages/en.ts';
import { zhCN } from '../messages/zh-cn.ts';
import { addTexts, type TFunction, translationTo } from '../translation.ts';
import { ADMIN_PAGES, OWN_PAGES, PUBLIC_PAGES } from './browser.ts';

export type Language = 'en' | 'zh-CN';

/** A control that is pressed. Names are keys of texts, so that all languages work. */
interface Step {
  role: 'button' | 'menuitem';
  /** The key of its name. */
  name: Parameters<TFunction>[0];
  values?: object;
}

export interface Place {
  /** The address, and after it a word for what is open. */
  name: string;
  where: string;
  steps: readonly Step[];
  /** The role of what the steps open. */
  opens?: 'dialog' | 'menu';
}

const press = (name: Step['name'], values: object = {}): Step => ({ role: 'button', name, values });
const entry = (name: Step['name'], values: object = {}): Step => ({ role: 'menuitem', name, values });
const menuOf = (name: string): Step => press('keys.menu', { name });
const actionsOn = (name: string): Step => press('admin.actionsFor', { name });
const MARA = actionsOn('mara@lindgren.dev');

/** The dialogs, drawers and menus, by page. */
const OPENED: Readonly<Record<string, Readonly<Record<string, readonly Step[]>>>> = {
  '/keys': {
    palette: [press('shell.jump')],
    'menu of a key': [menuOf('Production API')],
    'connect a tool': [menuOf('Staging'), entry('keys.connect')],
    rotate: [menuOf('Production API'), entry('keys.rotate')],
    leaked: [menuOf('Production API'), entry('keys.leaked')],
    reveal: [menuOf('Voice demo'), entry('keys.reveal')],
    secret: [menuOf('Voice demo'), entry('keys.reveal'), press('reveal.button')],
  },
  '/keys?open=create': { create: [] },
  '/keys?open=key_2': { edit: [] },
  '/usage?receipt=req_01KAGX000003': { receipt: [] },
  '/wallet': {
    'add credit': [press('wallet.pay.open')],
    'automatic top-up': [press('wallet.warningEdit')],
    export: [press('state.export')],
  },
  '/pools': { renew: [press('pools.renewOf', { name: 'Atlas' })] },
  '/pools/pool_1': { rename: [press('pools.rename')], key: [press('pools.createKey')] },
  '/playground': {
    settings: [press('playground.settingsOpen', { count: 0 })],
    templates: [press('playground.templates')],
    call: [press('playground.apiCall')],
  },
  '/playground?chat=cnv_1': { used: [press('items.usedChip', { count: 2 })] },
  '/profile': { close: [press('profile.closeButton')] },
  '/profile/security': { app: [press('totp.setUp')], passkey: [press('passkeys.make')] },
  '/profile/tokens': { create: [press('tokens.create')], revoke: [press('tokens.revoke')] },
  '/profile/webhooks': { create: [press('webhooks.create')] },
  '/profile/privacy': { 'delete chats': [press('profile.chatsDelete')] },
  '/profile/personal-intelligence': { preview: [press('items.preview')], forget: [press('items.forget')] },
  '/admin/users': {
    create: [press('admin.users.create')],
    'menu of a user': [MARA],
    edit: [MARA, entry('admin.users.edit')],
    adjust: [MARA, entry('admin.users.adjust')],
    link: [MARA, entry('admin.users.link')],
    'end sessions': [MARA, entry('admin.users.sessions')],
  },
  '/admin/models': {
    create: [press('admin.models.create')],
    'menu of a model': [actionsOn('swift')],
    edit: [actionsOn('swift'), entry('admin.editTask')],
    routing: [actionsOn('swift'), entry('admin.models.routingTask')],
    retire: [actionsOn('swift'), entry('admin.models.moves.RETIRED')],
    deprecate: [actionsOn('swift'), entry('admin.models.moves.DEPRECATED')],
  },
  '/admin/groups': { edit: [press('admin.editTitle', { name: 'vip' })] },
  '/admin/upstreams': { create: [press('admin.upstreams.create')] },
  '/admin/upstreams/prv_north-eu': {
    probe: [press('admin.upstreams.probe')],
    route: [press('admin.upstreams.addRoute')],
    'read models': [press('admin.quirks.readModels')],
    quirks: [press('admin.quirks.edit')],
    credential: [press('admin.upstreams.addCredential')],
    probing: [press('admin.quirks.probing')],
  },
  '/admin/nodes': {
    create: [press('admin.nodes.create')],
    'menu of a node': [actionsOn('eu-1')],
    drain: [actionsOn('eu-1'), entry('admin.nodes.drainTask')],
    rotate: [actionsOn('eu-1'), entry('admin.nodes.rotateTask')],
    forget: [actionsOn('us-2'), entry('admin.nodes.forgetTask')],
  },
  '/admin/incidents': {
    create: [press('incidents.new')],
    update: [press('incidents.update')],
    remove: [press('incidents.removeTask')],
  },
  '/admin/policies': { publish: [press('admin.policies.publish')] },
  '/admin/personal-intelligence': { edit: [press('admin.intelligence.edit')] },
  '/admin/storefront': { terms: [press('storefront.edit')], close: [press('storefront.close')] },
  '/admin/pools/pool_2': {
    'menu of a pool': [actionsOn('Orbit')],
    cap: [actionsOn('Orbit'), entry('storefront.capTask')],
    extend: [actionsOn('Orbit'), entry('storefront.extendTask')],
    cancel: [actionsOn('Orbit'), entry('storefront.cancelTask')],
  },
  '/admin/payments/top-ups/top_a2': { refund: [press('payments.refund.task')] },
  '/admin/payments/cards': {
    secret: [press('payments.cards.addSecret')],
    terms: [press('payments.cards.editTerms')],
    processor: [press('payments.cards.editProcessor')],
  },
  '/admin/payments/blockchains': {
    add: [press('payments.chains.add')],
    key: [press('payments.chains.setKey')],
    token: [press('payments.chains.addTokenTitle', { name: 'Base' })],
  },
};

const pages = [...PUBLIC_PAGES, ...OWN_PAGES, ...ADMIN_PAGES];

/** Every page, then everything that opens from one. */
export const PLACES: readonly Place[] = [
  ...pages.map((where) => ({ name: where, where, steps: [] })),
  ...Object.entries(OPENED).flatMap(([where, opened]) =>
    Object.entries(opened).map(([word, steps]): Place => {
      const isMenu = word.startsWith('menu') || word === 'export';
      return { name: `${where} ${word}`, where, steps, opens: isMenu ? 'menu' : 'dialog' };
    }),
  ),
];

/** The text as a regular expression that matches it. */
const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/** Shows a place on a page that is at its address. Throws if a control is missing. */
export async function showPlace(page: Page, { steps, opens }: Place, language: Language): Promise<void> {
  addTexts('en', en);
  addTexts('zh-CN', zhCN);
  const { t } = translationTo(language);
  for (const [at, { role, name, values }] of steps.entries()) {
    // The name may go on, for example with the keys of a shortcut.
    const begins = new RegExp(`^${escaped(t(name, values))}`);
    // A button after the first step is one of the dialog that the step before opened.
    const place = at > 0 && role === 'button' ? page.getByRole('dialog') : page;
    await place.getByRole(role, { name: begins }).last().click();
  }
  if (opens) await page.getByRole(opens).last().waitFor();
}
