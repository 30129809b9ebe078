/** The entries of a menu, as data. */
import type { LucideIcon } from 'lucide-react';

export interface MenuAction {
  kind: 'action';
  icon: LucideIcon;
  word: string;
  /** A line under the name that states the effect. */
  effect?: string;
  destructive?: boolean;
  run: () => void;
}

/** One of exclusive choices. */
export interface MenuChoice {
  value: string;
  word: string;
  /** A line under the name. */
  detail?: string;
  /** A decimal string in dollars, shown at the right; decimal points align. */
  amount?: string;
}

/** A group of exclusive choices inside a menu. */
export interface MenuChoices {
  kind: 'choices';
  label: string;
  value: string;
  options: readonly MenuChoice[];
  choose: (value: string) => void;
  /** Shows a field that searches the choices. They have to be the only entry of the menu. */
  searched?: boolean;
}

/** An entry that is turned on and off. The menu stays open. */
export interface MenuSwitch {
  kind: 'switch';
  word: string;
  on: boolean;
  /** Whether the entry cannot be changed. */
  fixed: boolean;
  change: (on: boolean) => void;
}

/** One entry: an action, a group of choices, a switch, a line between groups, or a line of text. */
export type MenuEntry =
  | MenuAction
  | MenuChoices
  | MenuSwitch
  | { kind: 'separator' }
  | { kind: 'note'; text: string };

/** A line between groups of a menu. */
export const RULE: MenuEntry = { kind: 'separator' };
