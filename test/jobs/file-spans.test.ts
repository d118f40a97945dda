import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newId } from '../../src/domain/ids.ts'
import { dayMs } from '../../src/domain/time/instants.ts'
import { recountFiles, settleFiles } from '../../src/modules/files/jobs.ts'
import { rootToken } from '../support/api.ts'
import { contextAt } from '../support/context.ts'
import { costOf } from '../support/cost.ts'
import { dearRuns } from '../support/dear-runs.ts'
import { batch, begin, expectPartsToAddUp, minute, queryOf, settle, settled, wait } from '../support/list-spans.ts'
import { idsOf, readAs } from '../support/lists.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenMember } from '../support/seeding/members.ts'
import { givenOrganization, type Organization } from '../support/seeding/organizations.ts'
import { db, write } from '../support/seeding/rows.ts'

interface Shop {
  organization: Organization
  /** Of the organisation, and one of another. */
  editions: readonly [string, string, string]
}

async function seedShop(): Promise<Shop> {
  const [organization, other] = [await givenOrganization(), await givenOrganization()]
  const [one, two, strange] = [
    await seedEdition(organization),
    await seedEdition(organization),
    await seedEdition(other),
  ]
  await write(
    sql`insert into organization_storage (organization_id, used_bytes) values (${organization.id}, 0), (${other.id}, 0)`,
  )
  await addFiles(
    { organization: other, editions: [strange.id, strange.id, strange.id] },
    { at: begin, many: 40, step: 7 },
  )
  return { organization, editions: [one.id, two.id, strange.id] }
}

const kinds = [
  'image image/png',
  'image image/jpeg',
  'import text/csv',
  'attachment application/pdf',
  'other image/png',
]

/** Files that come one after the other, in turns of every place and kind. */
async function addFiles(
  { organization, editions }: Shop,
  { at, many, step }: { at: number; many: number; step: number },
): Promise<void> {
  const mark = newId('file', at, Math.random).slice(4, 24)
  const kind = sql`(${JSON.stringify(kinds)} ->> (i % ${sql.raw(String(kinds.length))}))`
  await write(sql`insert into files (id, organization_id, edition_id, name, purpose, mime_type, size, access_key, created_at, modified_at)
    with recursive numbers (i) as (select 1 union all select i + 1 from numbers where i < ${many})
    select 'fil_' || ${mark} || printf('%06d', i), ${organization.id},
      iif(i % 3, ${JSON.stringify(editions.slice(0, 2))} ->> (i % 3 - 1), null), 'file ' || i % 17,
      substr(${kind}, 1, instr(${kind}, ' ') - 1), substr(${kind}, instr(${kind}, ' ') + 1), i % 13, 'key',
      ${at} + i * ${step}, ${at} + i * 31 % 100 from numbers`)
}

const someFiles = (shop: Shop, rest: number) =>
  sql`organization_id = ${shop.organization.id} and unicode(substr(id, -1)) % 7 = ${rest}`

const filters = ({ organization, editions: [one, two, strange] }: Shop) => {
  const ofOrganization = { organization_id: organization.id }
  const scopes: Record<string, string>[] = [
    {},
    ofOrganization,
    ...[one, strange].map((edition_id) => ({ edition_id })),
    { ...ofOrganization, edition_id: two },
    { ...ofOrganization, edition_id: strange },
  ]
  const chosen: Record<string, string>[] = [
    {},
    { purpose: 'image' },
    { mime_type: 'image/png' },
    { purpose: 'import', mime_type: 'image/png' },
    { mime_type: 'x' },
  ]
  return scopes.flatMap((scope) => chosen.map((more) => ({ ...scope, ...more })))
}

/** What a caller sees, by the rows of a table: all files, those of the organisation, of its first edition, or of the other one. */
async function callersOf({ organization, editions: [one, , strange] }: Shop) {
  const isOfShop = sql`organization_id = ${organization.id}`
  const member = async (edition?: string) =>
    (await givenMember(organization, edition ? 'manager' : 'admin', edition)).token
  return [
    { token: rootToken, sees: sql`1` },
    { token: await member(), sees: isOfShop },
    { token: await member(one), sees: sql`${isOfShop} and edition_id = ${one}` },
    { token: (await givenMember(await givenOrganization(), 'admin')).token, sees: sql`0 and ${strange} is null` },
  ]
}

async function expectLists(shop: Shop, size = 20): Promise<void> {
  const callers = await callersOf(shop)
  for (const filter of filters(shop))
    for (const { token, sees } of callers) {
      if (token === rootToken && Object.keys(filter).every((name) => !name.endsWith('_id'))) continue
      for (const [ordering, direction] of [
        ['created', sql`asc`],
        ['-created', sql`desc`],
      ] as const) {
        const conditions = Object.entries(filter).map(([name, value]) => sql`and ${sql.raw(name)} = ${value}`)
        const rows = await db.all(sql<{ id: string }>`select id from files where ${sees} ${sql.join(conditions, sql` `)}
          order by created_at ${direction}, id ${direction}`)
        const last = Math.max(1, Math.ceil(rows.length / size))
        for (const page of new Set([1, Math.ceil(last / 3), Math.ceil(last * 0.7), last])) {
          const path = `/v1/files?${queryOf({ ...filter, ordering, page, page_size: size })}`
          const reply = await readAs(token, path)
          const ids = rows.slice((page - 1) * size, page * size).map(({ id }) => id)
          expect([path, reply.status, reply.body.count, idsOf(reply)]).toEqual([path, 200, rows.length, ids])
        }
      }
    }
}

const nightBehind = (moment: number): number => Math.ceil(moment / dayMs + 1) * dayMs + 3 * 3_600_000

describe('counts of files', () => {
  it('are exact for every filter and caller, through settling, moves and deletions', async () => {
    const change = fc.record({ act: fc.constantFrom('move', 'delete'), rest: fc.nat({ max: 6 }) })
    const acts = fc.array(fc.oneof(batch, wait, settle, change), { minLength: 2, maxLength: 7 })
    let parts = 0
    await fc.assert(
      fc.asyncProperty(acts, fc.constantFrom(1, 700, 40_000), async (all, step) => {
        const shop = await seedShop()
        let now = begin
        for (const one of [...settled, ...all]) {
          if (one.act === 'wait') now += one.ms
          if (one.act === 'add') {
            await addFiles(shop, { at: now, many: one.many, step })
            now += one.many * step
          }
          if (one.act === 'settle') await settleFiles(contextAt(now))
          if (one.act === 'delete') await write(sql`delete from files where ${someFiles(shop, one.rest)}`)
          if (one.act === 'move')
            await write(sql`update files set purpose = 'other', edition_id = iif(edition_id is null, ${shop.editions[1]}, null)
              where ${someFiles(shop, one.rest)}`)
        }
        await expectLists(shop)
        parts += await expectPartsToAddUp('files', shop.organization.id)
        // Nights find nothing to repair.
        for (let sweep = 0; sweep < 4; sweep++) await recountFiles(contextAt(nightBehind(now)))
        await write(
          sql`delete from files`,
          sql`delete from list_spans`,
          sql`delete from list_span_parts`,
          sql`delete from settled_lists`,
          sql`delete from organization_storage`,
          sql`delete from storage_sweeps`,
        )
      }),
      { numRuns: dearRuns(3) },
    )
    expect(parts).toBeGreaterThan(10)
  }, 300_000)

  it('are repaired at night', async () => {
    const shop = await seedShop()
    await addFiles(shop, { at: begin, many: 260, step: 1 })
    await settleFiles(contextAt(begin + 20 * minute))
    await write(sql`update list_spans set total = total + 1 where list = 'files' and scope = ${shop.organization.id}`)
    await expect(recountFiles(contextAt(nightBehind(begin)))).rejects.toThrow('Counts of files were wrong')
    await expectLists(shop)
  })

  it('lead to pages in few rows', async () => {
    const shop = await seedShop()
    const many = 20_000
    await addFiles(shop, { at: begin, many, step: 1_500_000 })
    for (let sweep = 0; sweep < 4; sweep++) await settleFiles(contextAt(begin + (many + 1) * 1_500_000))
    const dear: [string, number][] = []
    for (const filter of filters(shop).filter((one) => Object.values(one).some((value) => value.length > 10)))
      for (const ordering of ['created', '-created']) {
        const path = `/v1/files?${queryOf({ ...filter, ordering, page_size: 50 })}`
        const { count } = (await readAs(rootToken, path)).body as { count: number }
        for (const part of [0, 0.3, 0.7, 0.95]) {
          const at = `${path}&page=${Math.max(1, Math.ceil((count / 50) * part))}`
          const { rows_read } = costOf(await readAs(rootToken, at))
          if (rows_read > 600) dear.push([at, rows_read])
        }
      }
    expect(dear).toEqual([])
  }, 120_000)
})
