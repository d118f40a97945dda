import type { FieldGuide } from './guide.ts'
import { messageRules } from './message-fields.ts'

/** Rules of accounts, editions, orders, webhooks and campaigns. */
const resourceRules = {
  text_missing_default_language: {
    cause: 'The wording of a consent is not there in the language that people are shown when theirs is missing.',
    mend: 'Send the text in the language that `detail` names.',
    detail: 'The text is needed in da, the default language of the edition.',
  },
  text_missing_language: {
    cause: 'The wording of the consent does not exist in this language, so it cannot have been shown.',
    mend: 'Send the language that the person was shown: one of those that `detail` names.',
    detail: 'The wording is in en, da.',
  },
  not_with_double_opt_in: {
    cause: 'The person is asked to confirm by e-mail now, so that the answer has no earlier time.',
    mend: 'Leave the time out.',
    detail: 'The person is asked to confirm now, so the answer has no earlier time.',
  },
  before_definition: {
    cause: 'The answer is older than the consent that it answers.',
    mend: 'Send a time after the consent was created.',
    detail: 'The consent was created at 2026-06-01T08:00:00.000Z.',
  },
  before_last_answer: {
    cause: 'The person has answered again since that time. A later answer counts before an earlier one.',
    mend: 'Leave the answer out.',
    detail: 'The last answer is of 2026-06-01T08:00:00.000Z.',
  },
  consent_inactive: {
    cause: 'The consent is not active: its `is_active` is false.',
    mend: 'Leave the answer out, or set `is_active` of the consent to true first.',
    detail: 'This consent is not active.',
  },
  admin_only: {
    cause: 'Only an admin may give the field this value.',
    mend: 'Leave the field out, or ask an organisation admin for it.',
    detail: 'A token without an end needs an admin of each organisation it reaches.',
  },
  permission_denied: {
    cause: 'Your role does not reach the place that the field names.',
    mend: 'Choose a place where you have a role, or ask an organisation admin for one.',
    detail: 'Your role does not include this organisation or edition.',
  },
  superuser_only: {
    cause: 'Only the superuser of the platform may set this field.',
    mend: 'Leave the field out.',
    detail: 'Only the superuser verifies by hand.',
  },
  scope_not_held: {
    cause: 'A token can only pass on scopes that it has itself.',
    mend: 'Ask for fewer scopes, or make the token with one that has them.',
    detail: 'A token can give only scopes that it has itself.',
  },
  too_many_generations: {
    cause: 'Tokens can make further tokens, up to a limit. The new token would be beyond it.',
    mend: 'Make the token with a token that is nearer to the first.',
    detail: 'At most 8 tokens mint one another in a chain.',
  },
  edition_archived: {
    cause: 'The edition is archived: nothing in it can be changed.',
    mend: 'Set `is_archived` of the edition to false first.',
    detail: 'The edition is archived.',
  },
  platform_not_offered: {
    cause: 'The operator of the service has not set this platform up: it is neither of the two wallet vendors.',
    mend: 'Choose the other platform.',
    detail: 'This service issues no passes for this platform.',
  },
  contact_required: {
    cause: 'The customer of an order has neither an e-mail address nor a telephone number.',
    mend: 'Send at least one of the two.',
    detail: 'An e-mail address or a telephone number.',
  },
  currency_mismatch: {
    cause: 'The order exists in another currency, and an order keeps its currency.',
    mend: 'Send the order in the currency that `detail` names.',
    detail: 'This order is in dkk.',
  },
  duplicate_in_edition: {
    cause: 'The edition has an order with this external_id from the same source.',
    mend: 'Use `on_duplicate` `skip` or `update`, or another external_id.',
    detail: 'An order with this external_id exists.',
  },
  ambiguous_format: {
    cause: 'Numbers or dates of a column can be read in two ways, and nothing in the file says which one is meant.',
    mend: 'Send the `transform` of the column with the reading that you know to be right.',
    detail: 'The dates of "Datum" can be read in two ways: "03/04/2026" is 2026-04-03 or 2026-03-04.',
  },
  duplicate_target: {
    cause: 'More columns are mapped to a target than it takes. Dates and texts take two, all others one.',
    mend: 'Map the others to something else, or to nothing.',
    detail: 'Two columns are mapped to customer.email.',
  },
  missing_target: {
    cause: 'Nothing says what an order needs: no column is mapped to it, and there is no constant.',
    mend: 'Map a column to the target, or give a constant for it.',
    detail: 'No column is mapped to item.product.',
  },
  unknown_target_field: {
    cause: 'Orders of this edition have nothing of this name.',
    mend: 'Take one of the keys of `GET /v1/data-imports/target-fields`.',
    detail: 'No such target; did you mean `order.external_id`?',
  },
  unmapped_values: {
    cause: 'Cells of a column say something that its target does not understand.',
    mend: 'Say in the `value_map` of the column what each of these texts means.',
    detail: 'order.status does not understand "på vej".',
  },
  invalid_transition: {
    cause: 'An order cannot go from the status that it has to the one that was sent.',
    mend: 'Leave the status out, or send one that follows the present one.',
    detail: 'An order that is refunded cannot become pending.',
  },
  negative_amount: {
    cause: 'The discount is larger than the order.',
    mend: 'Send a discount up to the sum of the items and fees.',
    detail: 'The discount is larger than the order.',
  },
  amount_below_refunds: {
    cause: 'The order was paid back in part or in full, and what is sent makes it smaller than what went back.',
    mend: 'Keep the items that were paid, with the status `cancelled` where they are no longer wanted.',
    detail: '200.00 DKK of the order were paid back; its amount cannot become 150.00 DKK.',
  },
  amount_mismatch: {
    cause:
      'The total of the other system is not what the items and fees of the order make. The order was taken with the latter.',
    mend: 'Look for an item, a fee or a discount that is missing, and send the order again with `on_duplicate: update`.',
    detail: 'The source says 450.00 DKK, items and fees make 425.00 DKK.',
  },
  holder_without_email: {
    cause: 'An item names a holder without an e-mail address, by which the person could be found again.',
    mend: 'Send the e-mail address, or nothing of the holder.',
    detail: 'A holder without an e-mail address is not kept: the customer holds these units.',
  },
  not_both: {
    cause: 'Two fields are there that say the same in two ways.',
    mend: 'Send one of the two.',
    detail: 'Either unit_price or line_total.',
  },
  nothing_paid: {
    cause: 'Money is said to have gone back for an order that is not paid yet.',
    mend: 'Send the status that the order has, or leave `refunded_amount` out.',
    detail: 'Of an order that is pending nothing was paid that could be paid back.',
  },
  refund_exceeds_amount: {
    cause: 'More is said to have gone back than was paid for the order.',
    mend: 'Send at most the amount that `detail` names, or the items that are missing.',
    detail: 'At most 450.00 DKK can have been paid back.',
  },
  refund_not_recorded: {
    cause: 'The payment of the order failed or was cancelled before, so that no refund of it can be noted.',
    mend: 'Nothing needs to be done: nothing can be paid back of such a payment.',
    detail: 'The payment of this order is cancelled: nothing can be paid back of it.',
  },
  no_receipt_message: {
    cause: 'Receipts were requested, and the edition has no message for receipts.',
    mend: 'Adopt a receipt template into the edition, or send `send_receipts` as false.',
    detail: 'The edition has no message for receipts.',
  },
  malformed_url: {
    cause: 'The text is not a web address.',
    mend: 'Send a whole address, such as `https://hooks.example.com/events`, without spaces.',
    detail: 'This is not a web address. Write it as https://hooks.example.com/events.',
  },
  forbidden_destination: {
    cause:
      'Events go to public https addresses on the usual port alone, by name and without credentials, and never to this service itself.',
    mend: 'Change what `detail` names. In development ALLOW_INSECURE_WEBHOOKS=1 permits http, ports, any name and loopback.',
    detail: 'Events are sent over https only, and this address begins with http.',
  },
  invalid_domain: {
    cause: 'The text is not a domain name.',
    mend: 'Send the name alone, such as `example.com`, without a protocol or a path.',
    detail: 'This is not a domain name.',
  },
  channel_mismatch: {
    cause: 'The segment was made for another channel than the campaign.',
    mend: 'Choose a segment of the same `communication_channel`.',
    detail: 'The segment is not for sms.',
  },
  not_in_production: {
    cause: 'Accounts of type `test` make their outcomes up, and pay nothing back.',
    mend: 'Choose `manual` or `stripe`.',
    detail: 'Test accounts are for development.',
  },
  type_mismatch: {
    cause: 'The field is for merchant accounts of another type.',
    mend: 'Leave the field out, or create an account of the type that `detail` names.',
    detail: 'Only accounts of type stripe have this.',
  },
  gateway_not_bulk: {
    cause: 'The e-mail or SMS provider of the service takes single messages only, not campaigns.',
    mend: 'Ask the operator of the service to choose another provider with EMAIL_PROVIDER or SMS_PROVIDER.',
    detail: 'The provider of this service takes no campaigns.',
  },
  links_not_configured: {
    cause: 'A campaign needs links back to the service, and the service has no address or key for them.',
    mend: 'Ask the operator of the service to set PUBLIC_URL and LINK_SIGNING_KEY.',
    detail: 'PUBLIC_URL and LINK_SIGNING_KEY are not set.',
  },
  sender_not_verified: {
    cause: 'The edition sends from a domain that is not a verified sender domain of the organisation.',
    mend: 'Add the domain to the sender domains of the organisation and verify it, or choose another sender.',
    detail: 'The domain of the sender is not verified.',
  },
  sender_unset: {
    cause: 'An SMS needs a sender, and the edition has none.',
    mend: 'Set `sms_sender_name` of the edition.',
    detail: "The edition's `sms_sender_name` is not set.",
  },
  nonexistent_local_time: {
    cause: 'This time does not exist in the time zone of the edition: the clocks are put forward over it.',
    mend: 'Choose another time, or send it with an offset.',
    detail: 'The clocks of the edition skip this time.',
  },
  scheduled_at_in_past: {
    cause: 'The time for the campaign is in the past.',
    mend: 'Choose a time that is still to come, or start the campaign now.',
    detail: 'This time is over.',
  },
  scheduled_at_too_far: {
    cause: 'Campaigns are scheduled for at most a year from now.',
    mend: 'Choose an earlier time.',
    detail: 'At most a year from now.',
  },
} as const satisfies Record<string, FieldGuide>

export const resourceFields = {
  language_not_enabled: {
    cause: 'The default language of the edition is not among its enabled languages.',
    mend: 'Enable the language in the same request, or choose a default that is enabled.',
    detail: 'Not among the enabled languages.',
  },
  ...resourceRules,
  ...messageRules,
}
