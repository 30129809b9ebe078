/** Names of card brands. The service sends the processor's short names. */
const NAMES: Readonly<Record<string, string>> = {
  amex: 'American Express',
  diners: 'Diners Club',
  discover: 'Discover',
  jcb: 'JCB',
  mastercard: 'Mastercard',
  unionpay: 'UnionPay',
  visa: 'Visa',
};

/** The name of a brand as its cards show it; the short name of an unknown brand. */
export function brandName(brand: string): string {
  return NAMES[brand] ?? brand;
}
