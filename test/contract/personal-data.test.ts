import { beforeAll, describe, expect, it } from 'vitest'
import { ownPlaces } from '../../src/modules/personal-data/places.ts'
import { searchedPlaces } from '../../src/modules/personal-data/searches.ts'
import { get, post, type Reply } from '../support/api.ts'
import {
  listAllColumns,
  findCellsWith,
  finishErasures,
  givenKnown,
  type KnownPerson,
} from '../support/personal-data.ts'

/** Columns that an erasure empties. A column may be a place of its own rows and of a search. */
const erased = [...new Set([...ownPlaces, ...searchedPlaces].flatMap(({ columns }) => columns))]

const staff = 'of people who work for the organisation, not of customers'
const reference = 'an id that leads to the row of the customer, in which nothing says who it is any more'
const organizer = "the organiser's own text"
const template = 'text of a message before anything of a customer is in it'

/** Reasons why a column that looks like personal data stays. */
const keepReasons: Record<string, string> = {
  'accounts.email': staff,
  'members.account_id': staff,
  'members.first_name': staff,
  'members.last_name': staff,
  'access_tokens.account_id': staff,
  'sign_in_codes.account_id': staff,
  'sign_in_codes.address_hash': 'a keyed hash; deleted after a day',
  'data_imports.account_id': staff,
  'segment_exports.caller_id': staff,
  'idempotency_keys.caller_id': staff,
  'erasures.caller_id': staff,
  'audit_log.actor_id': staff,
  'edition_customers.user_seq': reference,
  'orders.user_id': reference,
  'purchases.user_id': reference,
  'consent_records.user_id': reference,
  'transactional_emails.user_id': reference,
  'transactional_emails.example_user_id': reference,
  'campaign_receipts.user_id': reference,
  'import_orders.user_id': reference,
  'earlier_addresses.user_id': reference,
  'erasures.user_id': reference,
  'erasures.user_seq': reference,
  'erasures.user_created_at': 'a time',
  'data_imports.shared_customer_orders': 'a number',
  'segment_members.user_seq': reference,
  'campaign/recipients.user_id': reference,
  'webhook_deliveries.signature': reference,
  'erasures.addresses': 'what the passes look for; empty once the erasure is complete',
  'suppression_hashes.address_hash': 'a hash, so that a suppressed address stays so',
  'idempotency_keys.body': 'sealed with a key that only the client has; deleted within a day',
  'idempotency_keys.headers': 'of the answer: its type and tag',
  'captured_messages.sender': organizer,
  'captured_messages.reply_to': organizer,
  'campaigns.search': organizer,
  'campaigns.sms_body': template,
  'campaigns.user_count': 'a number',
  'campaign_contents.subject': template,
  'campaign_contents.html': template,
  'email_renditions.subject': template,
  'email_renditions.html': template,
  'email_messages.subject': template,
  'consents.metadata': organizer,
  'consents.search': organizer,
  'editions.metadata': organizer,
  'editions.search': organizer,
  'editions.email_sender_name': organizer,
  'editions.email_sender_address': organizer,
  'editions.email_reply_to': organizer,
  'editions.transaction_receipt_email_id': 'the id of a message',
  'editions.refund_confirmation_email_id': 'the id of a message',
  'events.search': organizer,
  'organizations.search': organizer,
  'segments.search': organizer,
  'segments.user_count': 'a number',
  'segment_exports.user_count': 'a number',
  'campaigns.email_message_id': 'the id of a message',
  'triggers.email_message_id': 'the id of a message',
  'transactional_emails.email_message_id': 'the id of a message',
  'campaign_receipts.received_at': 'a time',
  'alarms.subject': 'the name of a queue, a sweep or a service',
  'dead_messages.body': 'numbers and ids: messages of queues carry no addresses',
  'campaign/recipients.language': 'one of five',
  'campaign/record.user_count': 'a number',
  'campaign/record.content_run': 'a number',
  'campaign/chunks.content_run': 'a number',
  'campaign_contents.context': organizer,
  'campaigns.total_recipients': 'a number',
  'editions.full_name': organizer,
  'editions.merchant_account_id': organizer,
  'editions.merchant_account_extra_parameters': organizer,
  'editions.sms_sender_name': organizer,
  'merchant_accounts.provider_account': organizer,
  'transactions.merchant_account_id': organizer,
  'transactions.provider_account': organizer,
  'refund_requests.merchant_account_id': organizer,
  'payment_events.merchant_account_id': organizer,
  'refund_requests.user_id': reference,
  'refund_requests.requested_by': staff,
  'transactional_emails.requested_by': staff,
  'refund_requests.reviewed_by': staff,
  'campaign_approvals.requested_by': staff,
  'campaign_approvals.note': organizer,
  'campaign_approvals.content': organizer,
  'editions.sender_changed_by': staff,
  'editions.sender_changed_at': 'a time',
  'refund_requests.notify_customer': 'a flag',
  'files.metadata': organizer,
  'files.search': organizer,
  'file_uploads.metadata': organizer,
  'data_imports.search': organizer,
  'refund_batch_customers.user_id': 'counts customers once, and goes when the count is done',
  'refund_batches.notify_customers': 'a flag',
  'refund_batches.customers_count': 'a number',
}

const sounds =
  /user|email|recipient|address|phone|first_name|last_name|full_name|person|customer|payload|content$|metadata|search|subject|html|body|detail|caller|account|actor|sender|reply|contact|signature|received|device|push|comment|^note$|rejection|requested_by|reviewed_by/

let person: KnownPerson
let other: KnownPerson
let before: Record<string, string[]>
let othersBefore: Record<string, string[]>
let exportReply: Reply
let erasureReply: Reply

beforeAll(async () => {
  person = await givenKnown({ hasFile: true })
  other = await givenKnown({ hasFile: true })
  before = await findCellsWith(person)
  othersBefore = await findCellsWith(other)
  exportReply = await get(`/v1/user/${person.id}/export`)
  erasureReply = await post(`/v1/user/${person.id}/erase`, { reason: 'Asked for' })
  await finishErasures()
})

describe('every column that may contain personal data', () => {
  it('is erased, or is listed with the reason why it stays', async () => {
    const treated = new Set([...erased, ...Object.keys(keepReasons)])
    const columns = [...(await listAllColumns(person.campaign)), 'bucket']
    const unknown = columns.filter((column) => sounds.test(column.split('.')[1] ?? '') && !treated.has(column))
    expect(unknown).toEqual([])
    expect([...treated].filter((column) => !columns.includes(column))).toEqual([])
  })

  it('contains data of the test’s person, if it is erased', () => {
    expect(erased.filter((column) => !before[column])).toEqual([])
    expect(Object.keys(before).filter((column) => !erased.includes(column))).toEqual([])
  })
})

const firstTime = Date.parse('2000-01-01')

/** Lists fields with an amount in minor units, a time as a number, or a flag as 0 or 1, also inside of JSON. */
function listInternalForms(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item: unknown, index) => listInternalForms(item, `${path}[${index}]`))
  if (typeof value !== 'object' || value === null) {
    const name = /[^.[\]]*$/.exec(path)?.[0] ?? ''
    const isTime = typeof value === 'number' && value >= firstTime
    const isFlag = /^(is|has)_/.test(name) && (value === 0 || value === 1)
    return isTime || isFlag || /_minor$|_json$|_key$/.test(name) ? [`${path} = ${String(value)}`] : []
  }
  return Object.entries(value).flatMap(([name, field]) => listInternalForms(field, `${path}.${name}`))
}

describe('exportUser', () => {
  it('returns everything that is stored about a person, and nothing about others', () => {
    const { status, body, text } = exportReply
    expect(status).toBe(200)
    const [mark = ''] = person.marks
    expect(body.user).toMatchObject([
      { id: person.id, email: person.email, phone_number: person.phone, first_name: `First${mark}` },
    ])
    for (const kind of [
      'usermeta',
      'ordermeta',
      'purchasemeta',
      'detail',
      'comment',
      'note',
      'rejection',
      'refundmeta',
    ])
      expect(text).toContain(`${kind}${mark}`)
    for (const [name, count] of Object.entries({
      editions: 1,
      orders: 2,
      transactions: 3,
      purchases: 3,
      uses: 1,
      refunds: 2,
      suppressions: 2,
      bounces: 1,
      emails: 2,
      campaigns: 1,
      wallet_passes: 1,
      wallet_phones: 1,
      import_rows: 1,
      changes: 3,
      campaign_recipients: 1,
    }))
      expect([name, body[name].length]).toEqual([name, count])
    expect(body.campaign_recipients[0]).toMatchObject({ campaign_id: person.campaign, state: 'sent' })
    expect(listInternalForms(body)).toEqual([])
    for (const foreign of [...other.marks, other.id]) expect(text).not.toContain(foreign)
  })
})

describe('eraseUser', () => {
  it('answers at once that the erasure runs', () => {
    const { status, body } = erasureReply
    expect([status, body]).toMatchObject([
      200,
      { user_id: person.id, status: 'running', reason: 'Asked for', completed_at: null },
    ])
  })

  it('removes the person everywhere', async () => {
    expect(await findCellsWith(person)).toEqual({})
  })

  it('changes nothing about others', async () => {
    expect(await findCellsWith(other)).toEqual(othersBefore)
  })

  it('answers a second request with the first erasure', async () => {
    const { body } = await post(`/v1/user/${person.id}/erase`, {})
    expect(body).toMatchObject({
      status: 'completed',
      erased_at: erasureReply.body.erased_at,
      reason: 'Asked for',
    })
  })

  it('keeps the orders and their sums', async () => {
    const { body } = await get(`/v1/orders?customer_id=${person.id}&ordering=created`)
    expect(body.results).toMatchObject([{ amount: 225 }, { amount: 450 }])
    const order = await get(`/v1/orders/${body.results[0].id}`)
    expect(order.body.customer).toMatchObject({ email: null, phone_number: null, full_name: '', metadata: {} })
  })

  it('shows a customer without anything personal', async () => {
    const { body } = await get(`/v1/user/${person.id}`)
    expect(body).toMatchObject({
      email: null,
      phone_number: null,
      first_name: '',
      last_name: '',
      is_active: false,
      metadata: {},
    })
  })

  it('keeps the recipient of a campaign without address and name', async () => {
    const { body } = await get(`/v1/campaigns/${person.campaign}/recipients`)
    expect(body.results).toMatchObject([{ address: '', state: 'sent', user: { email: null, full_name: '' } }])
  })
})
