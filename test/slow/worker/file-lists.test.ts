import { type SQL, sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { listIds, readAs, walkAs } from '../../support/lists.ts'
import { seedEdition } from '../../support/seeding/editions.ts'
import { seedDataImports } from '../../support/seeding/imports/data-imports.ts'
import { givenMember } from '../../support/seeding/members.ts'
import { seedMessage } from '../../support/seeding/messaging/email-messages.ts'
import { givenOrganization, type Organization } from '../../support/seeding/organizations.ts'
import { db, write } from '../../support/seeding/rows.ts'
import { seedProduct } from '../../support/seeding/sales/trades.ts'

const fileCount = 1200
const begin = Date.parse('2026-02-01T00:00:00Z')
const later = begin + fileCount * 40_000 + 3_600_000
const kinds = [
  'image image/png',
  'image image/jpeg',
  'import text/csv',
  'attachment application/pdf',
  'other image/png',
]

let organization: Organization
let editions: string[]
let tokens: { token: string; sees: SQL }[]
let uses: { change: (part: number) => SQL }[]

const ofShop = () => sql`organization_id = ${organization.id}`
const selectFile = (part: number) =>
  sql`(select id from files where ${ofShop()} order by id limit 1 offset ${part * 3})`

beforeAll(async () => {
  organization = await givenOrganization()
  const place = { organization: organization.id }
  editions = [(await seedEdition(organization)).id, (await seedEdition(organization)).id]
  const kind = sql`(${JSON.stringify(kinds)} ->> (i % ${sql.raw(String(kinds.length))}))`
  await write(sql`insert into files (id, organization_id, edition_id, name, name_key, purpose, mime_type, size, access_key, search, created_at, modified_at)
    with recursive numbers (i) as (select 1 union all select i + 1 from numbers where i < ${fileCount})
    select 'fil_' || printf('%026d', i), ${organization.id}, iif(i % 3, ${JSON.stringify(editions)} ->> (i % 3 - 1), null),
      'file ' || i % 17, 'file 0' || length(i % 17) || i % 17, substr(${kind}, 1, instr(${kind}, ' ') - 1), substr(${kind}, instr(${kind}, ' ') + 1), i % 13, 'key',
      iif(i % 2, 'often ', 'seldom ') || i, ${begin} + i * 40000, ${begin} + i * 31 % 1000 from numbers`)
  const member = async (edition?: string) =>
    (await givenMember(organization, edition ? 'manager' : 'admin', edition)).token
  tokens = [
    { token: await member(), sees: ofShop() },
    { token: await member(editions[0]), sees: sql`${ofShop()} and edition_id = ${editions[0]}` },
  ]
  const edition = { ...place, edition: editions[0] ?? '' }
  const [product, message] = [await seedProduct(edition), await seedMessage(edition)]
  await seedDataImports(edition, 2)
  const toggled = (table: 'product_images' | 'email_message_images', column: string, id: string, part: number) => {
    const owned = sql`${sql.raw(column)} = ${id} and file_id = ${selectFile(part)}`
    return [
      sql`delete from ${sql.raw(table)} where ${owned}`,
      sql`insert or ignore into ${sql.raw(table)} (${sql.raw(column)}, file_id) select ${id}, ${selectFile(part)}`,
    ]
  }
  uses = [
    { change: (part) => sql`update editions set meta_image_id = ${selectFile(part)} where id = ${editions[1]}` },
    { change: () => sql`update editions set meta_image_id = null where id = ${editions[1]}` },
    {
      change: (part) =>
        sql`update organizations set avatar_file_id = ${selectFile(part + 1)} where id = ${organization.id}`,
    },
    {
      change: (part) =>
        sql`update data_imports set file_id = ${selectFile(part + 2)} where edition_id = ${editions[0]}`,
    },
    {
      change: () => sql`delete from data_imports where id = (select max(id) from data_imports where ${ofShop()})`,
    },
    ...[0, 1].flatMap((way) => [
      { change: (part: number) => toggled('product_images', 'product_id', product, part + 3)[way] ?? sql`` },
      { change: (part: number) => toggled('email_message_images', 'message_id', message, part + 4)[way] ?? sql`` },
    ]),
  ]
})

const selectPart = (part: number) => sql`${ofShop()} and cast(substr(id, -4) as integer) % 97 = ${part}`
const ofFiles: Record<string, (part: number) => SQL> = {
  renamed: (part) =>
    sql`update files set name = 'a ' || size, name_key = 'a 0' || length(size) || size, search = iif(search like 'often%', 'x', 'often') where ${selectPart(part)}`,
  touched: (part) => sql`update files set modified_at = modified_at + 997 where ${selectPart(part)}`,
  moved: (part) =>
    sql`update files set purpose = 'other', edition_id = iif(edition_id is null, ${editions[1]}, null) where ${selectPart(part)}`,
  deleted: (part) => sql`delete from files where ${selectPart(part)} and id not in (select file_id from product_images
    union select file_id from email_message_images union select meta_image_id from editions where meta_image_id is not null
    union select avatar_file_id from organizations where avatar_file_id is not null
    union select file_id from data_imports where file_id is not null)`,
  added: (
    part,
  ) => sql`insert into files (id, organization_id, edition_id, name, name_key, purpose, mime_type, size, access_key, search,
      created_at, modified_at)
    select 'fil_' || printf('%022d', ${part} + count(*) * 100) || substr(max(id), -4), organization_id, ${editions[part % 3] ?? null},
      'file 3', 'file 013', 'image', 'image/png', 5, 'key', 'often', ${later}, max(modified_at) from files where ${ofShop()}`,
}

const isUsed = sql`(id in (select file_id from product_images union select file_id from email_message_images
  union select meta_image_id from editions union select avatar_file_id from organizations union select file_id from data_imports))`
const conditions: Record<string, (value: string) => SQL> = {
  edition_id: (value) => sql`edition_id = ${value}`,
  purpose: (value) => sql`purpose = ${value}`,
  mime_type: (value) => sql`mime_type = ${value}`,
  is_used: (value) => (value === 'true' ? sql`coalesce(${isUsed}, 0)` : sql`not coalesce(${isUsed}, 0)`),
  search: (value) => sql`instr(search, ${value})`,
}
const columns: Record<string, string> = {
  created: 'created_at',
  modified: 'modified_at',
  name: 'name_key',
  size: 'size',
}

/** Lists the ids that the list should have, by comparing all files. */
async function naive(sees: SQL, filter: Record<string, string>, ordering: string): Promise<string[]> {
  const where = Object.entries(filter).flatMap(([name, value]) => conditions[name]?.(value) ?? [])
  const keys = ordering.split(',').map((key) => ({ column: columns[key.replace('-', '')], desc: key.startsWith('-') }))
  const order = [...keys, { column: 'id', desc: keys.at(-1)?.desc }]
    .map(({ column, desc }) => `${column} ${desc ? 'desc' : 'asc'}`)
    .join(', ')
  const rows = await db.all(
    sql<{
      id: string
    }>`select id from files where ${sql.join([sees, ...where], sql` and `)} order by ${sql.raw(order)}`,
  )
  return rows.map(({ id }) => id)
}

const choices: readonly Record<string, string>[] = [
  {},
  { is_used: 'true' },
  { is_used: 'false' },
  { search: 'often' },
  { mime_type: 'image/png' },
  { purpose: 'image', search: 'seldom' },
  { purpose: 'other', mime_type: 'image/png' },
  { mime_type: 'other image/png' },
]
const arbitraryRequest = fc.record({
  filter: fc.constantFrom(...choices),
  scope: fc.constantFrom('organization', 'edition'),
  ordering: fc.constantFrom(
    'created',
    '-created',
    'modified',
    '-modified',
    'name',
    '-name',
    'size',
    '-size',
    'size,-name',
  ),
  steps: fc.array(fc.record({ kind: fc.nat(20), part: fc.nat(96) }), { minLength: 1, maxLength: 3 }),
})

const allChanges = () => [...Object.values(ofFiles), ...uses.map(({ change }) => change)]

describe('listFiles', () => {
  it('shows each kind of change of a file or of what uses one', async () => {
    const [{ token, sees } = expect.unreachable()] = tokens
    const filters: Record<string, string>[] = [{ is_used: 'true' }, { is_used: 'false', search: 'often' }]
    const lists = filters.map((filter) => ({
      filter,
      path: `/v1/files?${new URLSearchParams({ organization_id: organization.id, ...filter, ordering: '-modified', page_size: '500' }).toString()}`,
    }))
    // Images that are shown here are hidden later.
    for (const [number, change] of [...allChanges().entries(), ...allChanges().entries()]) {
      await write(change(40))
      for (const { filter, path } of lists) {
        const ids = await naive(sees, filter, '-modified')
        const reply = await readAs(token, path)
        expect([number, path, reply.body.count, listIds(reply)]).toEqual([number, path, ids.length, ids.slice(0, 500)])
      }
    }
  }, 60_000)

  it('returns what a comparison of all files finds, after every change and for every caller', async () => {
    const changes = allChanges()
    await fc.assert(
      fc.asyncProperty(arbitraryRequest, async ({ filter, scope, ordering, steps }) => {
        const scoped = scope === 'edition' ? { ...filter, edition_id: editions[0] ?? '' } : filter
        const path = `/v1/files?${new URLSearchParams({ organization_id: organization.id, ...scoped, ordering }).toString()}`
        for (const { kind, part } of steps) {
          await write((changes[kind % changes.length] ?? expect.unreachable())(part))
          for (const { token, sees } of tokens) {
            const ids = await naive(sees, scoped, ordering)
            const walked = await walkAs(token, `${path}&page_size=99`)
            expect([path, walked.count, walked.ids]).toEqual([path, ids.length, ids])
            for (const page of new Set([1, Math.ceil(ids.length / 100), Math.ceil(ids.length / 50)].filter(Boolean))) {
              const reply = await readAs(token, `${path}&page_size=50&page=${page}`)
              const expected = ids.slice((page - 1) * 50, page * 50)
              expect([path, page, reply.body.count, listIds(reply)]).toEqual([path, page, ids.length, expected])
            }
          }
        }
      }),
      { numRuns: 12, endOnFailure: true },
    )
  }, 300_000)
})
