import { sql } from 'drizzle-orm'
import type { RecipientOutcome } from '../../../src/domain/campaigns/chunk-report.ts'
import { recipientEventTypes } from '../../../src/domain/campaigns/recipient-events.ts'
import { failReasons, skipReasons } from '../../../src/domain/campaigns/sending-policy.ts'
import { filePurposes } from '../../../src/domain/files/files.ts'
import { buildSearchText } from '../../../src/domain/text/fold.ts'
import { deliveryStatuses } from '../../../src/domain/webhooks/webhooks.ts'
import { seedEntries } from '../seeding/audit-log.ts'
import { seedFiles } from '../seeding/files.ts'
import { aBadRow, aRow, seedStarted } from '../seeding/imports/staged-imports.ts'
import { seedAccount } from '../seeding/members.ts'
import { inRecipientStore, seedCampaign } from '../seeding/messaging/campaigns.ts'
import { seedSegment } from '../seeding/messaging/segments.ts'
import { seededAt, write } from '../seeding/rows.ts'
import { importOrders } from '../seeding/sales/orders.ts'
import { seedDeliveries, seedEndpoint } from '../seeding/webhooks.ts'
import { runToEnd } from '../staged-imports.ts'
import type { Parent, Row } from './model.ts'
import type { RowsOfParent } from './other-lists.ts'
import type { Places } from './places.ts'
import { readAll } from './read-all.ts'

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

/** Seeds entries of some actors, actions and resources, three for each time. */
export async function makeAuditEntries({ a, b }: Places): Promise<Row[]> {
  const actors = [await seedAccount(), await seedAccount(), 'root']
  const actions = [
    ['updateSegment', 'segment'],
    ['updateOrder', 'order'],
    ['deleteSegment', 'segment'],
    ['exportSegment', null],
  ] as const
  for (const index of numbers(24)) {
    const [action, resource_type] = actions[index % actions.length] ?? actions[0]
    const resource_id = resource_type && `${resource_type}_${index % 5}`
    const actor_id = actors[index % actors.length] ?? 'root'
    await seedEntries(index % 6 === 5 ? b.id : a.id, 3, { action, resource_type, resource_id, actor_id })
  }
  const rows: Row[] = []
  for (const { id } of [a, b])
    for (const entry of await readAll(`/v1/audit-log?organization_id=${id}`))
      rows.push({ id: entry.id, organization: id, editions: [], shown: entry })
  return rows
}

const fileTypes = ['image/png', 'image/jpeg', 'application/pdf', 'text/csv']

/** Seeds files of the organisations and of editions, some of which an edition shows. */
export async function makeFiles({ a, b }: Places): Promise<Row[]> {
  const owners = [null, a.editions[0], a.editions[1], a.editions[0]]
  for (const index of numbers(30)) {
    const place =
      index % 6 === 5
        ? { organization: b.id, edition: index % 4 === 1 ? b.editions[0] : null }
        : { organization: a.id, edition: owners[index % owners.length] ?? null }
    const name = `${['Poster', 'poster', 'Ægir', 'map'][index % 4]}-${index % 7}.png`
    const title = index % 3 === 0 ? `Sommer ${index % 5}` : ''
    const [first] = await seedFiles(place, 3, {
      name,
      title,
      search: buildSearchText(name, title),
      purpose: filePurposes[index % filePurposes.length] ?? 'other',
      mime_type: fileTypes[index % fileTypes.length] ?? 'image/png',
      size: 100 * (index % 4),
      created_at: seededAt + 1000 * (index % 11),
      modified_at: seededAt + 500_000 + 1000 * (index % 8),
    })
    if (index < 3) await write(sql`update editions set meta_image_id = ${first} where id = ${a.editions[index]}`)
  }
  const files = [
    ...(await readAll(`/v1/files?organization_id=${a.id}`)),
    ...(await readAll(`/v1/files?organization_id=${b.id}`)),
  ]
  return files.map((file) => ({
    id: file.id,
    organization: file.organization_id,
    editions: file.edition_id === null ? [] : [file.edition_id],
    shown: file,
  }))
}

/** Seeds deliveries of events of several editions to endpoints of an organisation and of editions. */
export async function makeDeliveries({ a, b }: Places): Promise<RowsOfParent[]> {
  const [first, second] = a.editions
  const seedParent = async (organization: string, edition: string | null): Promise<Parent> => {
    const { id } = await seedEndpoint({ organization, edition })
    return { id, organization, edition }
  }
  const all: RowsOfParent[] = []
  for (const { parent, editions } of [
    { parent: await seedParent(a.id, null), editions: [first, second, null] },
    // An endpoint that was moved keeps deliveries of its former edition.
    { parent: await seedParent(a.id, first), editions: [first, first, second] },
    { parent: await seedParent(b.id, null), editions: [b.editions[0]] },
  ]) {
    const rows: Row[] = []
    for (const [index, status] of deliveryStatuses.entries())
      for (const edition of editions) {
        const place = { organization: parent.organization, edition }
        const next_retry_at = status === 'pending' || status === 'retrying' ? Date.UTC(2100, 0, 1) : null
        const response_status_code = [200, 500, null][index % 3] ?? null
        const columns = { status, next_retry_at, response_status_code }
        const deliveries = await seedDeliveries(place, parent.id, 4 + index, columns)
        const resource = `ord_${index % 2}`
        const eventIds = JSON.stringify(deliveries.map(({ event_id }) => event_id))
        await write(sql`update webhook_events set resource_ids = ${` pur_1  ${resource} `}
          where id in (select value from json_each(${eventIds}))`)
        for (const { id, event_id, kind, created_at, modified_at } of deliveries)
          rows.push({
            id,
            organization: parent.organization,
            editions: edition === null ? [] : [edition],
            shown: {
              status,
              event: kind,
              endpoint_id: parent.id,
              event_id,
              response_status_code,
              resource,
              edition,
              created: new Date(created_at).toISOString(),
              modified: new Date(modified_at).toISOString(),
            },
          })
      }
    all.push({ parent, rows })
  }
  return all
}

/**
 * The same deliveries as rows of the organisation's list. A role of an edition sees those of its events to endpoints of
 * the edition.
 */
export const joinDeliveries = (all: readonly RowsOfParent[]): Row[] =>
  all.flatMap(({ parent, rows }) =>
    rows.map((row) => ({ ...row, editions: row.editions.filter((edition) => edition === parent.edition) })),
  )

/** The events of these deliveries. */
export async function readEvents({ a, b }: Places, all: readonly RowsOfParent[]): Promise<Row[]> {
  const resources = new Map(all.flatMap(({ rows }) => rows).map(({ shown }) => [shown.event_id, shown.resource]))
  const events = [
    ...(await readAll(`/v1/webhooks/events?organization_id=${a.id}`)),
    ...(await readAll(`/v1/webhooks/events?organization_id=${b.id}`)),
  ]
  return events.map((event) => ({
    id: event.id,
    organization: event.organization_id,
    editions: event.edition_id === null ? [] : [event.edition_id],
    shown: { ...event, resource: resources.get(event.id) ?? null },
  }))
}

/** Seeds an import of a file whose rows became orders, were known already, or could not be read. */
export async function makeImportRows({ b }: Places): Promise<RowsOfParent[]> {
  const edition = b.editions[2]
  const shop = { organization_id: b.id, edition_id: edition }
  const rows = numbers(60).map((index) => {
    const id = `I-${Math.floor(index / 2)}`
    const values = { 'order.external_id': id, 'customer.email': `${id.toLowerCase()}@file.dk` }
    if (index % 10 === 7) return aBadRow({ ...values, 'order.external_id': `bad-${index}` })
    return { ...aRow(values), is_ignored: index % 10 === 4 }
  })
  const existingOrders = [3, 6, 8, 11].map((number) => ({
    external_id: `I-${number}`,
    currency: 'dkk',
    customer: { email: `i-${number}@file.dk`, first_name: 'Ægir' },
    items: [{ product: 'Day ticket', quantity: 1, unit_price: 225 }],
  }))
  await importOrders(shop, existingOrders, { source: 'shop' })
  const id = await seedStarted(shop, rows)
  await runToEnd(id)
  const parent = { id, organization: b.id, edition }
  const listedRows = await readAll(`/v1/data-imports/${id}/rows`)
  return [
    { parent, rows: listedRows.map((row) => ({ id: row.id, organization: b.id, editions: [edition], shown: row })) },
  ]
}

/** Seeds recipients in every state, with every event of a message. */
export async function makeRecipients({ a, b }: Places): Promise<RowsOfParent[]> {
  const all: RowsOfParent[] = []
  for (const [organization, edition] of [
    [a.id, a.editions[0]],
    [b.id, b.editions[0]],
  ] as const) {
    const place = { organization, edition }
    const segment = await seedSegment(place)
    const { id } = await seedCampaign(place, segment.id, { status: 'sent', run: 1 })
    await inRecipientStore(id, (store) => {
      const people = numbers(80).map((n) => {
        const address = `guest-${Math.floor(n / 2) % 17}@example.test`
        const person = {
          id: `usr_${n}`,
          email: address,
          phone_number: null,
          first_name: 'Astrid',
          last_name: `Holm ${n}`,
        }
        const reason = n % 5 === 0 ? (skipReasons[n % skipReasons.length] ?? null) : null
        return {
          n,
          user_id: person.id,
          address,
          language: 'en' as const,
          person: JSON.stringify(person),
          conditions: 0,
          reason,
        }
      })
      store.transaction(() => {
        store.addRecipients(people, 'email')
        const tried = people.filter(({ n, reason }) => reason === null && n % 7 > 0)
        const sent = tried.filter(({ n }) => n % 3 > 0)
        const failed = tried.filter(({ n }) => n % 3 === 0)
        store.recordOutcomes(
          new Map<number, RecipientOutcome>([
            ...sent.map(({ n }): [number, RecipientOutcome] => [
              n,
              { to: 'sent', provider_id: `p-${n}`, at: seededAt + 1000 * (n % 5) },
            ]),
            ...failed.map(({ n }): [number, RecipientOutcome] => [
              n,
              { to: 'failed', reason: failReasons[n % 4] ?? 'unknown', code: '', detail: '' },
            ]),
          ]),
          false,
        )
        store.stampEvents(
          sent.map(({ n }) => ({
            n,
            type: recipientEventTypes[n % recipientEventTypes.length] ?? 'opened',
            at: seededAt + 60_000 + n,
          })),
        )
        store.changeRecord({ run: 1, status: 'sent' })
        for (const n of [1, 22, 43]) store.erase(n)
      })
    })
    const recipients = await readAll(`/v1/campaigns/${id}/recipients`)
    all.push({
      parent: { id, organization, edition },
      rows: recipients.map((row) => ({ id: row.id, organization, editions: [edition], shown: row })),
    })
  }
  return all
}
