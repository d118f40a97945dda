import type { ErrorGuide } from './guide.ts'

const campaign = { type: 'campaign', id: 'cmp_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8', name: 'Early birds' }
const aCampaign = '/v1/campaigns/cmp_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8'
const aSegment = '/v1/segments/seg_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8'
const aMessage = '/v1/email-messages/eml_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8'
const aPurchase = '/v1/purchases/pur_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8'
const aDelivery = '/v1/webhooks/whk_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8/deliveries/whd_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8/retry'
const aConsent = '/v1/consents/con_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8'
const anAnswer = '/v1/user/usr_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8/consents/con_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8'
const aMerchantAccount = '/v1/merchant-accounts/mac_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8'
const domains = '/v1/organizations/org_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8/sender-domains'

/** Refusals because of the state of a resource. */
export const conflictErrors = {
  consent_has_records: {
    cause: 'This consent has answers. They are proof and are kept.',
    mend: 'Set `is_active` of the consent to false: it is then no longer offered.',
    example: { path: aConsent, detail: 'This consent has answers. Set is_active to false.' },
  },
  consent_inactive: {
    cause: 'The consent is not active: `is_active` is false.',
    mend: 'Set `is_active` of the consent to true first. Withdrawing is always possible.',
    example: { path: `${anAnswer}/give`, detail: 'This consent is not active.' },
  },
  consent_required: {
    cause: 'The consent is required, so that it cannot be skipped.',
    mend: 'Give the consent, or do not go on with what needs it.',
    example: { path: `${anAnswer}/skip`, detail: 'This consent is required.' },
  },
  address_suppressed: {
    cause:
      'Nobody is asked to confirm at this address: it does not take messages, or its person unsubscribed or complained.',
    mend: 'The person subscribes again by the link of a message, or answers where they can be asked in another way.',
    example: {
      path: `${anAnswer}/give`,
      detail: 'No message goes to this address.',
      extra: { reason: 'unsubscribed' },
    },
  },
  email_missing: {
    cause: 'A consent is confirmed by e-mail, and the customer has no e-mail address.',
    mend: 'Give the customer an e-mail address first, or record the answer with another method.',
    example: { path: `${anAnswer}/give`, detail: 'This customer has no e-mail address.' },
  },
  delivery_already_succeeded: {
    cause: 'The receiver has taken this delivery: it answered with a status from 200 to 299.',
    mend: 'There is nothing to do. To send an event of the kind again, use the test of the endpoint.',
    example: { path: aDelivery, detail: 'This delivery has succeeded.', extra: { current_status: 'success' } },
  },
  delivery_in_progress: {
    cause: 'An attempt of this delivery is due already, or is being made.',
    mend: 'Read the delivery after a moment. Retry it once its status is `failed` or `exhausted`.',
    example: { path: aDelivery, detail: 'An attempt is due or under way.', extra: { current_status: 'pending' } },
  },
  edition_archived: {
    cause: 'The edition is archived: it can be read, and nothing in it can be changed.',
    mend: 'Set `is_archived` of the edition to false first, or work in another edition.',
    example: { path: '/v1/editions/edt_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8', detail: 'This edition is archived.' },
  },
  edition_not_publishable: {
    cause: 'The edition fails at least one critical check of its health. It stays a draft.',
    mend: 'Follow the `suggestion` of each entry in `checks`, and publish again.',
    example: {
      path: '/v1/editions/edt_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
      detail: 'This edition cannot be published: 1 critical check fails.',
      extra: {
        checks: [
          {
            category: 'basics',
            check_id: 'basics.name_present',
            severity: 'critical',
            passed: false,
            message: 'The edition has no name.',
            suggestion: 'Enter a name.',
            related_objects: [],
          },
        ],
      },
    },
  },
  email_message_in_use: {
    cause: 'Editions or campaigns use this message. `related_objects` names them.',
    mend: 'Choose another message in each of `related_objects`, and try again.',
    example: { path: aMessage, detail: 'This message is in use.', extra: { related_objects: [campaign] } },
  },
  email_message_locked: {
    cause: 'The message is locked: it can be read and copied, but not changed.',
    mend: 'Duplicate the message, and change the copy.',
    example: { path: aMessage, detail: 'This message is locked. Duplicate it to change it.' },
  },
  email_message_not_template: {
    cause: 'Only templates of the platform and of the organisation are adopted. This message belongs to an edition.',
    mend: 'Duplicate the message into the edition that needs it.',
    example: { path: `${aMessage}/adopt`, detail: 'Only templates are adopted. Duplicate messages of an edition.' },
  },
  endpoint_inactive: {
    cause: 'The webhook endpoint is switched off: a member did this, or its receiver kept failing.',
    mend: 'Set `is_active` of the endpoint to true, and try again.',
    example: { path: aDelivery, detail: 'This endpoint is switched off.' },
  },
  idempotency_in_progress: {
    cause: 'The first request with this Idempotency-Key has not been answered yet.',
    mend: 'Wait as many seconds as `Retry-After` says, and send the same request again: it gets the answer of the first.',
    example: { path: '/v1/campaigns', detail: 'The first request with this Idempotency-Key is still running.' },
  },
  idempotency_answer_lost: {
    cause:
      'The request with this Idempotency-Key was done. Its stored answer was encrypted with a key that the service no longer has.',
    mend: 'Read the resource to see what was done. Do not send the request with another key: it would be done twice.',
    example: { path: '/v1/campaigns', detail: 'This request has succeeded, but its response can no longer be read.' },
  },
  campaign_not_ready: {
    cause: 'Something that the campaign needs is missing or does not fit. `errors` lists all of it.',
    mend: 'Mend each entry of `errors`, and send or schedule the campaign again.',
    example: {
      path: `${aCampaign}/send-now`,
      detail: 'The campaign cannot be sent yet.',
      errors: [
        {
          code: 'required',
          detail: 'An e-mail campaign needs a message.',
          attr: 'email_message_id',
          pointer: '#/email_message_id',
        },
      ],
    },
  },
  invalid_transition: {
    cause:
      'The status of the resource does not allow this. `allowed_transitions` lists the statuses that it can change to.',
    mend: 'Read the resource again, and choose one of `allowed_transitions`.',
    example: {
      path: `${aCampaign}/cancel`,
      detail: "Campaign in status 'sent' cannot be cancelled.",
      extra: { current_status: 'sent', allowed_transitions: [] },
    },
  },
  last_admin: {
    cause: 'The member is the only admin of the organisation.',
    mend: 'Make another member an admin first.',
    example: {
      path: '/v1/organizations/org_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8/members/mem_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
      detail: 'An organisation keeps at least one admin.',
    },
  },
  no_uses_left: {
    cause: 'The purchase was used as often as it allows, or has fewer uses left than were asked for.',
    mend: 'Let nobody in with it. If a use was recorded by mistake, revert that use, and try again.',
    example: {
      path: `${aPurchase}/uses`,
      detail: 'This purchase has no uses left.',
      extra: { current_status: 'used', available_uses: 0 },
    },
  },
  purchase_not_usable: {
    cause:
      'The purchase is not paid yet, was refunded or cancelled, or its validity is over. `current_status` says which.',
    mend: 'Let nobody in with it. A pending purchase becomes usable once its order is confirmed.',
    example: {
      path: `${aPurchase}/uses`,
      detail: 'This purchase was refunded.',
      extra: { current_status: 'refunded' },
    },
  },
  nothing_to_retry: {
    cause:
      'Every failed recipient of the campaign failed for a lasting reason, such as an address that does not exist.',
    mend: 'There is nothing to do. The recipients of the campaign say why each failed.',
    example: {
      path: `${aCampaign}/retry-failed`,
      detail: 'No recipient failed for a temporary reason.',
      extra: { current_status: 'sent' },
    },
  },
  merchant_account_in_use: {
    cause: 'Editions choose the account, or payments or refunds went through it. `related_objects` names some of them.',
    mend: 'Choose another account in the editions. An account with payments or refunds stays: set `is_active` to false.',
    example: {
      path: aMerchantAccount,
      detail: 'This merchant account is in use.',
      extra: { related_objects: [{ type: 'edition', id: 'edt_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8', name: 'Nordlys 2026' }] },
    },
  },
  segment_calculating: {
    cause: 'The segment is being calculated, and cannot change meanwhile.',
    mend: 'Wait until its status is `ready`. If the calculation is stuck, reset the segment to draft.',
    example: {
      path: aSegment,
      detail: 'This segment is being calculated.',
      extra: { current_status: 'calculating', allowed_transitions: ['ready', 'failed', 'draft'] },
    },
  },
  segment_in_use: {
    cause: 'Campaigns that are not over use the segment. `related_objects` names them.',
    mend: 'Cancel or delete these campaigns, or give them another segment.',
    example: {
      path: aSegment,
      detail: 'Campaigns that have not ended use this segment.',
      extra: { related_objects: [campaign] },
    },
  },
  segment_not_ready: {
    cause: 'The segment has no members yet: it was never calculated, or the last calculation failed.',
    mend: 'Recalculate the segment, and wait until its status is `ready`.',
    example: {
      path: `${aSegment}/export`,
      detail: 'Only a segment that is ready can be exported.',
      extra: { current_status: 'draft' },
    },
  },
  segment_not_stuck: {
    cause: 'The calculation of the segment still makes progress.',
    mend: 'Wait for it to end. It can be reset once it has made no progress for `retry_after` seconds.',
    example: {
      path: `${aSegment}/reset-to-draft`,
      detail: 'The calculation of this segment is still running.',
      extra: { retry_after: 120 },
    },
  },
  sender_domain_taken: {
    cause: 'Another organisation has proved that the domain is its own, and its DNS record still stands.',
    mend: 'Remove the record of the other organisation from the DNS of the domain, and verify again.',
    example: {
      path: `${domains}/sdm_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8/verify`,
      detail: 'Another organisation has verified this domain, and its record still exists.',
    },
  },
  too_many_merchant_accounts: {
    cause: 'The organisation has the largest number of merchant accounts that is allowed.',
    mend: 'Delete an account that nothing uses.',
    example: { path: '/v1/merchant-accounts', detail: 'An organisation has at most 100 merchant accounts.' },
  },
  too_many_sender_domains: {
    cause: 'The organisation has the largest number of sender domains that is allowed.',
    mend: 'Delete a domain that is no longer used.',
    example: { path: domains, detail: 'An organisation has at most 20 sender domains.' },
  },
  user_erased: {
    cause: 'Everything that says who this customer is was erased. What they bought stays, without them.',
    mend: 'There is nothing to do. An import with the same address makes a new customer.',
    example: { path: '/v1/user/usr_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8', detail: 'This customer was erased.' },
  },
  wallet_pass_unavailable: {
    cause:
      'The purchase cannot become a pass. `reason` says why: `purchase_not_active`, `product_not_for_wallet`, `no_pass_design`, or `not_configured` where the service has no key to sign links with.',
    mend: 'Make passes of active purchases, of products that are for the wallet, in editions with a pass design.',
    example: {
      path: '/v1/purchases/pur_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8/wallet-passes',
      detail: 'Only an active purchase becomes a pass.',
      extra: { reason: 'purchase_not_active', current_status: 'cancelled' },
    },
  },
  write_conflict: {
    cause: 'Others changed the same resource while your change was decided, several times over. Nothing was changed.',
    mend: 'Wait as many seconds as `Retry-After` says, and send the request again.',
    example: { detail: 'Other requests keep changing this resource. Try again.' },
  },
} as const satisfies Record<string, ErrorGuide>
