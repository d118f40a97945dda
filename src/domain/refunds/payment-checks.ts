/**
 * Says whose payment a reference is. An attempt to refund it finds out. `own`: the refund may be paid. `disputed`: another
 * edition of the organisation has an order with the payment, and no role of the organisation approved the refund.
 * `unreadable`: another edition may have one under the payment's other reference, which the account may not read.
 */
export const paymentChecks = ['own', 'disputed', 'unreadable'] as const
export type PaymentCheck = (typeof paymentChecks)[number]

/**
 * The message to roles of an edition when the payment of a refund is unknown or disputed, so that they do not learn of
 * payments of other editions.
 */
export const hiddenFailure = {
  code: 'payment_not_found',
  message: 'The provider does not know this payment, or a role of the organisation has to approve it.',
} as const

export const disputedMessage =
  'Another edition of the organisation has an order with this payment. A role of the organisation has to approve the refund.'

/** `permission` is what the account lacks, such as `payment intents (rak_payment_intent_read)`. */
export const buildUnreadableMessage = (permission: string): string =>
  `The API key of the merchant account may not read ${permission}, so nobody can tell whether this is a payment of another edition. Give the key this permission and approve the refund again.`
