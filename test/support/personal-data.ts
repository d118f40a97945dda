import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { sweepObjects } from '../../src/modules/files/jobs.ts'
import { sweepErasures } from '../../src/modules/personal-data/jobs.ts'
import { sendEmails } from '../../src/modules/transactional-emails/jobs.ts'
import { patch, post } from './api.ts'
import { createJob, runUntil } from './campaigns.ts'
import { listColumns, listTableNames } from './dump.ts'
import { givenReadyImport, start, work } from './imported-files.ts'
import { seedReady } from './seeding/messaging/campaigns.ts'
import { seedConsent } from './seeding/messaging/consents.ts'
import { aBlock } from './seeding/messaging/email-messages.ts'
import { freshId, next, write } from './seeding/rows.ts'
import { seedShopWithReceipts, type Shop } from './seeding/sales/orders.ts'
import { seedEndpoint } from './seeding/webhooks.ts'

/** Values that only this person has, so that each occurrence is personal data that remains. */
export interface KnownPerson extends Shop {
  id: string
  email: string
  phone: string
  marks: string[]
  campaign: string
}

const buildOrder = (person: { email: string; phone: string; mark: string }) => ({
  external_id: `2026-${person.email}`,
  order_number: person.phone.slice(3),
  coupon_code: `for-${person.email}`.slice(0, 64),
  payment: { service: 'manual', reference: `paid by ${person.email}` },
  currency: 'dkk',
  customer: {
    email: person.email,
    phone_number: person.phone,
    first_name: `First${person.mark}`,
    last_name: `Last${person.mark}`,
    metadata: { note: `usermeta${person.mark}` },
  },
  items: [{ product: 'Day ticket', quantity: 2, unit_price: 225, vendor_code: `code-${person.phone.slice(1)}` }],
  metadata: { note: `ordermeta${person.mark}` },
})

/** Seeds rows that no operation creates, and rows that depend on a provider. */
async function fillUp(person: KnownPerson, mark: string): Promise<void> {
  const { id, email, phone, organization_id } = person
  const pass = freshId('wallet_pass')
  await write(
    sql`update purchases set metadata = ${`{"note":"purchasemeta${mark}"}`} where user_id = ${id}`,
    sql`insert into purchase_uses (id, purchase_id, quantity, used_at, created_at)
      select ${freshId('purchase_use')}, id, 1, 1, 1 from purchases where user_id = ${id} order by id limit 1`,
    sql`update transactional_emails set content = ${`{"to":"${email}"}`}, error_detail = ${`detail${mark}`} where user_id = ${id}`,
    sql`insert into suppressions (organization_id, channel, address, reason, detail, created_at)
      values (${organization_id}, 'email', ${email}, 'complaint', ${`detail${mark}`}, 1),
        (${organization_id}, 'sms', ${phone}, 'unsubscribed', '', 1)`,
    sql`insert into earlier_addresses (user_id, channel, address, organization_id, created_at)
      values (${id}, 'email', ${`earlier-${email}`}, ${organization_id}, 1)`,
    sql`insert into soft_bounces (organization_id, channel, address, reference, bounced_at)
      values (${organization_id}, 'email', ${email}, ${freshId('request')}, 1)`,
    sql`insert into signup_requests (id, form_id, organization_id, address, mailbox_hash, language, consents, evidence,
        expires_at, created_at)
      values (${freshId('signup_request')}, 'sgf_1', ${organization_id}, ${email}, 'hash', 'en', '[]',
        ${JSON.stringify({ user_agent: `agent${mark}` })}, ${Date.now() + 86_400_000}, 1)`,
    sql`insert into wallet_passes (id, organization_id, edition_id, purchase_id, platform, provider, serial_number,
        token_hash, status, registrations_count, change_number, changed_at, created_at, modified_at)
      select ${pass}, ${organization_id}, edition_id, id, 'apple', 'vendorA', ${freshId('request')}, 'hash', 'active', 1, 1,
        1, 1, 1 from purchases where user_id = ${id} limit 1`,
    sql`insert into wallet_registrations (pass_id, device_id, push_token, notified_number, created_at, modified_at)
      values (${pass}, ${`device${mark}`}, ${`push${mark}`}, 1, 1, 1)`,
  )
}

/** Seeds what a file without a header, a constant, a default and a value map make of an address. */
async function fillMappings({ organization_id, email, phone }: KnownPerson): Promise<void> {
  const valueMap = JSON.stringify({ [`Paid by ${email}`]: 'completed', other: 'pending' })
  const warnings = [{ code: 'phone_not_taken', detail: `"${email}" is not a phone number.` }]
  const storedResults = JSON.stringify([{ index: 0, action: 'created', order_id: null, warnings }])
  const ofImports = sql`import_id in (select id from data_imports where organization_id = ${organization_id})`
  await write(
    sql`insert into import_constants (import_id, target_field, value)
      select id, 'customer.email', ${`Office ${email}`} from data_imports
        where organization_id = ${organization_id} and source = 'api' limit 1`,
    sql`update import_columns set default_value = ${email}, value_map = ${valueMap}, source_column = ${email}
      where ${ofImports} and source_index = 0`,
    sql`update data_imports set error_message = ${`Line 2: ${email}`},
        format = json_set(format, '$.names[0]', ${email})
      where organization_id = ${organization_id} and source = 'csv'`,
    sql`update data_imports set resume_key = 'interrupted ' || id, stored_results = ${storedResults}
      where organization_id = ${organization_id} and source = 'api'`,
    sql`insert into import_header_history (owner_id, organization_id, external_source, header_key, target_position,
        default_value, transform, value_map, used_at)
      values (${organization_id}, ${organization_id}, 'shop2', ${email}, 0, null, '{}', null, 1),
        (${organization_id}, ${organization_id}, 'shop2', 'phone', 0, ${phone}, '{}', ${valueMap}, 1)`,
    sql`insert into import_source_history (owner_id, organization_id, external_source, constants, options, used_at)
      values (${organization_id}, ${organization_id}, 'shop2', ${JSON.stringify({ 'customer.email': email })}, '{}', 1)`,
  )
}

/** Imports a file with an order of the person, one with an error that they hold a ticket of, and one of others. */
async function importFile(person: KnownPerson, mark: string): Promise<void> {
  const { email, organization_id, edition_id } = person
  const rows = [
    'E-mail;First name;Last name;Holder e-mail;Product;Unit price',
    `${email};Anna${mark};Holm${mark};;Day ticket;225,00`,
    `friend-${next()}@example.dk;Friend;Friend;${email};Day ticket;price${mark}`,
    `other-${next()}@example.dk;Other;Other;;Day ticket;225,00`,
  ]
  const id = await givenReadyImport({ organization_id, edition_id }, rows.join('\r\n'), { group_by: 'email' })
  await start(id, { skip_invalid_rows: true })
  const ended = await work(id)
  if (ended.status !== 'completed_with_errors') throw new Error(JSON.stringify(ended))
  const faults = JSON.stringify([{ column: null, target_field: null, code: 'x', message: mark, value: mark }])
  await write(
    sql`update import_rows set warnings = ${faults}
      where import_id = ${id} and instr(data, ${email}) > 0`,
    sql`update import_orders set errors = ${faults}, warnings = ${faults}
      where import_id = ${id} and group_key like ${`%${email}`}`,
  )
}

/** Seeds what receivers of webhooks answered, and texts of a provider. */
async function fillAnswers({ id, organization_id, email }: KnownPerson, mark: string): Promise<void> {
  const deliveries = sql`(select id from webhook_deliveries where event_id in
    (select id from webhook_events where organization_id = ${organization_id} and instr(payload, ${id}) > 0))`
  await write(
    sql`update webhook_deliveries set last_attempt = ${JSON.stringify({ number: 2, response_text: `Dear ${mark}` })}
      where id in ${deliveries}`,
    sql`insert into webhook_attempts (delivery_id, number, started_at, duration_ms, is_manual, response_text)
      select id, 1, 1, 1, 0, ${`Dear ${mark}`} from webhook_deliveries where id in ${deliveries}`,
    sql`update refund_requests set failure_message = ${`refused for ${email}`} where user_id = ${id}
      and rejection_reason is null`,
    sql`update captured_messages set headers = ${JSON.stringify({ 'x-to': email })}
      where instr(recipient, ${email}) > 0`,
    sql`update segments set error_message = ${`No such name: ${email}`} where organization_id = ${organization_id}`,
  )
}

/** Requests refunds, one approved with a note, the other rejected with a reason. */
async function refundTwice(edition: string, mark: string): Promise<void> {
  const { results } = await env.DB.prepare('select id from purchases where edition_id = ? order by id')
    .bind(edition)
    .all<{ id: string }>()
  const ask = async ({ id }: { id: string }) => {
    const body = { reason: 'other', comment: `comment${mark}`, metadata: { note: `refundmeta${mark}` }, amount: 1 }
    return `/v1/refund-requests/${(await post(`/v1/purchases/${id}/refund-requests`, body)).body.id}`
  }
  const [one = '', other = ''] = await Promise.all(results.map(ask))
  await post(`${one}/approve`, { note: `note${mark}`, notify_customer: false })
  await post(`${one}/settle`, { reference: 'Transfer 17' })
  await post(`${other}/reject`, { reason: `rejection${mark}` })
}

/**
 * Makes a person with a purchase, an update, a receipt, a campaign, stored events of webhooks and, with `hasFile`, an
 * imported file.
 */
export async function givenKnown({ hasFile = false } = {}): Promise<KnownPerson> {
  const shop = await seedShopWithReceipts()
  const mark = `mark${next()}x${crypto.randomUUID().slice(0, 8)}`
  const email = `person-${mark}@example.dk`
  const phone = `+4531${String(200_000 + next())}`
  const place = { organization: shop.organization_id, edition: shop.edition_id }
  await seedEndpoint(place, { events: ['purchase.action'] })
  const body = { ...shop, source: 'webshop', send_receipts: true, emit_webhooks: true }
  const orders = [buildOrder({ email: `old-${email}`, phone, mark })]
  const reply = await post('/v1/data-imports/external-orders', { ...body, orders })
  if (reply.body.status !== 'completed') throw new Error(reply.text)
  const [user] = (
    await env.DB.prepare('select id from users where email = ?').bind(`old-${email}`).all<{ id: string }>()
  ).results
  const id = user?.id ?? ''
  await refundTwice(shop.edition_id, mark)
  await sendEmails(createJob())
  const { campaign, message } = await seedReady(place)
  const blocks = [aBlock('For all'), { ...aBlock('For one', 'blk_2'), condition: `user.email == "${email}"` }]
  await patch(`/v1/email-messages/${message}`, { blocks })
  await post(`/v1/campaigns/${campaign.id}/send-now`, {})
  await runUntil(campaign.id, ['sent', 'failed'])
  await patch(`/v1/user/${id}`, { email })
  const person: KnownPerson = { ...shop, id, email, phone, marks: [mark, phone, phone.slice(3)], campaign: campaign.id }
  const consent = await seedConsent(place)
  const answer = { language: 'da', method: 'admin', source: 'support', evidence: { note: `evidence${mark}` } }
  await post(`/v1/user/${id}/consents/${consent}/give`, answer)
  await post('/v1/segments', {
    organization_id: place.organization,
    name: 'The customer alone',
    communication_type: 'transactional',
    communication_channel: 'email',
    expression: `user.email == "${email}" || user.phone_number == "${phone}"`,
  })
  if (hasFile) await importFile(person, mark)
  await fillUp(person, mark)
  await fillMappings(person)
  await fillAnswers(person, mark)
  await runInDurableObject(getObject(person.campaign), (_, { storage }) => {
    storage.sql.exec('update recipients set detail = ? where user_id = ?', `No such mailbox: ${email}`, id)
  })
  return person
}

type Cells = Record<string, string[]>

const markPlaces = (
  rows: Record<string, unknown>[],
  table: string,
  marks: readonly string[],
  valuesByPlace: Cells,
): void => {
  for (const row of rows)
    for (const [column, value] of Object.entries(row))
      if (typeof value === 'string' && marks.some((mark) => value.includes(mark)))
        (valuesByPlace[`${table}.${column}`] ??= []).push(value)
}

const getObject = (campaign: string) => env.CAMPAIGN_SENDER.get(env.CAMPAIGN_SENDER.idFromName(campaign))

/** Lists every column of the database and of a campaign's object, as `table.column` and `campaign/table.column`. */
export async function listAllColumns(campaign: string): Promise<string[]> {
  const tables = await listTableNames()
  const columns = await Promise.all(
    tables.map(async (table) => (await listColumns(table)).map(({ name }) => `${table}.${name}`)),
  )
  const inObject = await runInDurableObject(getObject(campaign), (_, { storage }) =>
    storage.sql
      .exec<{ name: string }>(
        "select name from sqlite_master where type = 'table' and name not like '\\_cf%' escape '\\' and name not like 'sqlite%'",
      )
      .toArray()
      .flatMap(({ name }) =>
        storage.sql
          .exec<{ name: string }>(`select name from pragma_table_info('${name}')`)
          .toArray()
          .map((column) => `campaign/${name}.${column.name}`),
      ),
  )
  return [...columns.flat(), ...inObject]
}

/** Lists the contents of all objects in the bucket. */
async function listStoredTexts(): Promise<string[]> {
  const texts: string[] = []
  let cursor: string | undefined
  do {
    const page = await env.FILES.list(cursor === undefined ? {} : { cursor })
    for (const { key } of page.objects) texts.push((await (await env.FILES.get(key))?.text()) ?? '')
    cursor = page.truncated ? page.cursor : undefined
  } while (cursor !== undefined)
  return texts
}

/** Lists the places with values of the person, and those values. */
export async function findCellsWith({ marks, campaign }: Pick<KnownPerson, 'marks' | 'campaign'>): Promise<Cells> {
  const valuesByPlace: Cells = {}
  for (const table of await listTableNames()) {
    // Columns that are computed when they are read are left out.
    const names = (await listColumns(table)).map(({ name }) => `"${name}"`).join(', ')
    const { results } = await env.DB.prepare(`select ${names} from "${table}"`).all()
    markPlaces(results, table, marks, valuesByPlace)
  }
  const rows = await runInDurableObject(getObject(campaign), (_, { storage }) =>
    storage.sql.exec('select * from recipients').toArray(),
  )
  markPlaces(rows, 'campaign/recipients', marks, valuesByPlace)
  for (const text of await listStoredTexts())
    if (marks.some((mark) => text.includes(mark))) (valuesByPlace['bucket'] ??= []).push(text)
  return valuesByPlace
}

/** Runs the sweep, its second pass after all running work, and the deletion of files. */
export async function finishErasures(): Promise<void> {
  for (const minutes of [0, 1, 6, 7]) await sweepErasures(createJob({ now: () => Date.now() + minutes * 60_000 }))
  await sweepObjects(createJob())
}
