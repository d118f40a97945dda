import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exportDatabase } from '../../scripts/support/export/export.ts'
import { migrate } from '../../scripts/support/migrate.ts'
import { describeObjects } from '../../scripts/support/verify/campaigns.ts'
import { compareFiles } from '../../scripts/support/verify/files.ts'
import { openLocal } from '../../scripts/support/verify/local.ts'
import { formatOutgoing } from '../../scripts/support/verify/outgoing.ts'
import type { Query } from '../../scripts/support/verify/query.ts'
import { findOrphans } from '../../scripts/support/verify/references.ts'
import { listChecks, summarize } from '../../scripts/support/verify/verify.ts'

const organization = 'org_01J00000000000000000000ABC'
const edition = 'edt_01J00000000000000000000XYZ'
const longText = JSON.stringify({ text: `it's "quoted", 🎪 and\nbroken ${'long '.repeat(60_000)}` })

let folder: string
let file: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'local-state-'))
  migrate(join(folder, 'v3'), 'any')
  const place = openLocal(folder)
  file = place.file
  const database = new DatabaseSync(file)
  database.exec(`insert into organizations (id, name, name_key, slug, search, created_at, modified_at)
      values ('${organization}', 'Nordlys', 'nordlys', 'nordlys', 'nordlys', 1, 1);
    insert into events (id, organization_id, name, name_key, search, created_at, modified_at)
      values ('evt_1', '${organization}', 'Fest', 'fest', 'fest', 1, 1);
    insert into editions (id, organization_id, event_id, name, name_key, full_name, slug, timezone,
        default_country_code, default_language, enabled_languages, tax_type, default_price_tax_rate, currency, search,
        created_at, modified_at)
      values ('${edition}', '${organization}', 'evt_1', '2027', '2027', 'Fest 2027', '2027', 'UTC', '+45', 'da', '["da"]',
        'vat', 12.5, 'dkk', '2027', 1, 1);
    insert into segments (seq, id, organization_id, name, name_key, search, communication_type, communication_channel,
        expression, is_time_dependent, status, created_at, modified_at)
      values (1, 'seg_1', '${organization}', 'All', 'all', 'all', 'informational', 'email', 'true', 0, 'draft', 1, 1);`)
  const user = database.prepare(`insert into users (id, organization_id, email, locale, msg_channel, search_text,
    created_at, modified_at) values (?, '${organization}', ?, 'da', 'email', ?, 1, 1)`)
  for (let number = 1; number <= 7; number++) user.run(`usr_${number}`, `guest-${number}@example.dk`, `guest-${number}`)
  database.exec("delete from users where id = 'usr_7'")
  database.exec(`insert into edition_customers (edition_id, user_seq, created_at, locale, search_text)
    select '${edition}', seq, 1, locale, search_text from users where id = 'usr_1'`)
  const order = database.prepare(`insert into orders (id, organization_id, edition_id, user_id, type, status,
      amount_minor, currency, items_count, has_payment, cart, created_at, modified_at, search_text)
    values (?, '${organization}', '${edition}', 'usr_1', 'imported', 'completed', 0, 'dkk', 0, 0, '{"id":"c"}', ?, 1, ?)`)
  for (let number = 1; number <= 5; number++) order.run(`ord_${number}`, number, `order number ${number}`)
  database
    .prepare(`insert into webhook_events (id, organization_id, kind, payload, created_at)
    values ('evn_1', '${organization}', 'order.created', ?, 1)`)
    .run(longText)
  const campaign =
    database.prepare(`insert into campaigns (id, organization_id, edition_id, segment_id, name, name_key, search,
      channel, status, scheduled_at, sent_count, total_recipients, created_at, modified_at)
    values (?, '${organization}', '${edition}', 'seg_1', ?, 'n', 'n', 'email', ?, ?, ?, ?, 1, 1)`)
  campaign.run('cmp_1', 'Doors', 'scheduled', 86_400_000, 0, 0)
  campaign.run('cmp_2', 'Half', 'sending', null, 3, 10)
  database.close()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const open = (path: string): { database: DatabaseSync; query: Query } => {
  const database = new DatabaseSync(path)
  return { database, query: <Row>(sql: string) => Promise.resolve(database.prepare(sql).all() as Row[]) }
}

async function listFaults(query: Query): Promise<string[]> {
  const faults: string[] = []
  for (const { run } of listChecks({ query, size: 2, files: 'The files are not listed.' }))
    for (const finding of await run()) faults.push(...finding.faults)
  return faults
}

describe('an export', () => {
  const listRows = (database: DatabaseSync): Record<string, unknown> => {
    const tables = database.prepare(`select name from sqlite_master where type = 'table' and sql not null
      and sql not like 'create virtual%' and name not like '%\\_search\\_%' escape '\\' order by name`)
    return Object.fromEntries(
      tables.all().map(({ name }) => [
        name,
        database
          .prepare(`select * from "${String(name)}"`)
          .all()
          .map((row) => JSON.stringify(row))
          .toSorted(),
      ]),
    )
  }
  const schema = (database: DatabaseSync) =>
    database.prepare('select type, name, sql from sqlite_master where sql not null order by type, name').all()

  it('creates the same database in an empty one, with texts that are longer than a statement', async () => {
    const source = open(file)
    const statements: string[] = []
    const count = await exportDatabase({
      query: source.query,
      size: 2,
      write: (statement) => void statements.push(statement),
    })
    expect(Math.max(...statements.map((statement) => new TextEncoder().encode(statement).length))).toBeLessThan(100_000)
    expect(count).toBeGreaterThan(20)
    const path = join(folder, 'restored.sqlite')
    const restored = open(path)
    restored.database.exec(`begin;\n${statements.join('\n')}\ncommit;`)
    expect(listRows(restored.database)).toEqual(listRows(source.database))
    expect(schema(restored.database)).toEqual(schema(source.database))
    expect(await listFaults(restored.query)).toEqual([])
    // A new customer gets no number that a deleted one had.
    restored.database.exec(`insert into users (id, organization_id, email, locale, msg_channel, created_at, modified_at)
      values ('usr_8', '${organization}', 'new@example.dk', 'da', 'email', 1, 1)`)
    expect(restored.database.prepare("select seq from users where id = 'usr_8'").get()).toEqual({ seq: 8 })
    restored.database.exec('delete from orders where seq = 2')
    expect(await listFaults(restored.query)).toEqual([])
    restored.database.close()
    source.database.close()
  })
})

describe('the state of a server on this machine', () => {
  it('has no faults as it is, and names rows that refer to a row which is gone', async () => {
    expect(await listFaults(openLocal(folder).query)).toEqual([])
    const { database, query } = open(file)
    database.exec("pragma foreign_keys = off; begin; delete from organizations; delete from users where id = 'usr_1'")
    const { faults, faultCount } = await findOrphans(query, 3)
    database.exec('rollback')
    database.close()
    expect(faults).toContain(`campaigns 1 names organization_id ${organization}, which is gone.`)
    expect(faults).toHaveLength(10)
    expect(faultCount).toBeGreaterThan(15)
  })

  it('says what goes out, by organisation and edition', async () => {
    expect(await formatOutgoing(openLocal(folder).query)).toEqual([
      `Nordlys, Fest 2027 (${edition}):`,
      '  campaign cmp_1 "Doors", which is scheduled, since 1970-01-02T00:00:00.000Z',
      '  7 messages of the campaign cmp_2 "Half", which is sending',
    ])
  })

  it('has the objects of campaigns, also of one that the database does not have', async () => {
    const objects = join(folder, 'v3', 'do', 'service-CampaignSender')
    mkdirSync(objects, { recursive: true })
    for (const [id, sent] of [
      ['cmp_1', 5],
      ['cmp_2', 3],
      ['cmp_3', 8],
      ['cmp_4', 0],
    ]) {
      const { database } = open(join(objects, `${id}.sqlite`))
      database.exec(`create table record (campaign_id text, sent integer); create table recipients (n integer);
        insert into record values ('${id}', ${sent})`)
      database.close()
    }
    const { query, readObjects } = openLocal(folder)
    expect(await describeObjects(query, readObjects)).toEqual([
      'cmp_1 "Doors" is scheduled with 0 sent messages, and its object has sent 5.',
      'cmp_3 has sent 8 messages, and the database does not have the campaign.',
    ])
  })

  it('has files, which are compared with their rows', async () => {
    const bucket = join(folder, 'v3', 'r2', 'miniflare-R2BucketObject')
    mkdirSync(bucket, { recursive: true })
    const blobs = join(folder, 'v3', 'r2', 'event-commerce-files', 'blobs')
    mkdirSync(blobs, { recursive: true })
    for (const name of ['a', 'b', 'c', 'd1', 'd2', 'e1']) writeFileSync(join(blobs, name), '12345')
    const { database } = open(join(bucket, 'any.sqlite'))
    database.exec(`create table _mf_objects (key text primary key, blob_id text, size integer);
      create table _mf_multipart_parts (object_key text, blob_id text, size integer);
      insert into _mf_objects values ('objects/a', 'a', 5), ('objects/b', 'b', 5), ('objects/cut', 'c', 6),
        ('objects/lost', 'x', 5), ('objects/parts', null, 10), ('objects/lost-part', null, 10), ('other/b', 'b', 5);
      insert into _mf_multipart_parts values ('objects/parts', 'd1', 5), ('objects/parts', 'd2', 5),
        ('objects/lost-part', 'e1', 5), ('objects/lost-part', 'e2', 5)`)
    database.close()
    const state = open(file)
    state.database.exec(`insert into stored_objects (storage_key, organization_id, checksum_sha256, size, created_at)
      values ${['b', 'cut', 'lost', 'lost-part', 'parts'].map((key) => `('objects/${key}', '${organization}', '${key}', 5, 1)`).join(', ')}`)
    const { query, files } = openLocal(folder)
    const findings = await compareFiles(query, files)
    state.database.exec('delete from stored_objects')
    state.database.close()
    expect(findings.flatMap(({ faults }) => faults)).toEqual([
      'No row names objects/a.',
      ...['cut', 'lost', 'lost-part'].map((key) => `objects/${key} of ${organization} is not in the store.`),
    ])
  })

  it('has databases that SQLite checks, so that a damaged page is a fault', () => {
    expect(openLocal(folder).checkDatabases()).toMatchObject({ compared: 6, faultCount: 0 })
    const damaged = join(folder, 'v3', 'do', 'service-CampaignSender', 'damaged.sqlite')
    writeFileSync(damaged, 'no database')
    expect(openLocal(folder).checkDatabases().faults).toEqual([`${damaged}: file is not a database`])
    rmSync(damaged)
  })

  it('is called faultless only if all of it was read', () => {
    expect(summarize(0, true)).toEqual({ line: 'No faults.', exitCode: 0 })
    expect(summarize(1, true)).toEqual({ line: '1 fault. Nothing was changed.', exitCode: 1 })
    expect(summarize(0, false)).toMatchObject({ exitCode: 2 })
    expect(summarize(2, false)).toMatchObject({ exitCode: 1 })
  })

  it('is not there in an empty folder, and the error says what to do', () => {
    const empty = mkdtempSync(join(tmpdir(), 'no-state-'))
    expect(() => openLocal(empty)).toThrow(
      `${empty} has no database of the service. Name the folder of the server: npm run verify -- --state <folder>`,
    )
    rmSync(empty, { recursive: true })
    expect(() => openLocal(empty)).toThrow(`${empty} does not exist.`)
  })
})
