import type { ErrorGuide } from './guide.ts'

const aRequest = '/v1/refund-requests/rfr_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8'
const aPurchase = '/v1/purchases/pur_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8'

/** Refusals of refunds. */
export const refundErrors = {
  above_limit: {
    cause: 'The organisation lets managers approve refunds up to an amount, and this one is larger.',
    mend: 'Ask an admin to approve it, or approve a smaller amount.',
    example: {
      path: `${aRequest}/approve`,
      detail: 'Managers approve up to 500.00 DKK.',
      extra: { manager_limit: 500, currency: 'dkk' },
    },
  },
  four_eyes_required: {
    cause: 'The organisation requires two people for a refund, and the account that approves it has requested it.',
    mend: 'Let another member approve it. Another token of the same account is the same account.',
    example: {
      path: `${aRequest}/approve`,
      detail: 'Another account than the one that requested this refund must approve it.',
    },
  },
  merchant_not_ready: {
    cause: 'The merchant account of the payment has no key, is switched off, or cannot be used here.',
    mend: 'Give the merchant account its key, or switch it on, and approve the refund again. The request waits.',
    example: {
      path: `${aRequest}/approve`,
      detail: 'The merchant account of this payment has no key, or is switched off.',
    },
  },
  nothing_to_refund: {
    cause: 'All that was paid was paid back already, or is part of open refund requests.',
    mend: 'Look at the refund requests of the order. To cancel a purchase, send an amount of 0 with `cancel_purchase`.',
    example: {
      path: `${aPurchase}/refund-requests`,
      detail: 'All of it was paid back or is part of open refund requests.',
    },
  },
  purchase_not_refundable: {
    cause: 'The purchase is not paid yet, was cancelled, or has expired. `current_status` says which.',
    mend: 'There is nothing to pay back for it. A payment as a whole is refunded by its `transaction_id`.',
    example: {
      path: `${aPurchase}/refund-requests`,
      detail: 'Only a purchase that is active or used is refunded.',
      extra: { current_status: 'cancelled' },
    },
  },
  transaction_not_captured: {
    cause: 'The money of the payment has not come in, or the payment was cancelled. `current_status` says which.',
    mend: 'Wait until the payment is captured. An order without a payment has nothing to pay back.',
    example: {
      path: '/v1/refund-requests',
      detail: 'Only a payment that was captured is paid back.',
      extra: { current_status: 'pending' },
    },
  },
} as const satisfies Record<string, ErrorGuide>
