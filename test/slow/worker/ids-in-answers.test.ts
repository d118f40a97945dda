import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { dataImports } from '../../../src/db/schema/data-imports.ts'
import { update } from '../../../src/db/write.ts'
import { roleCodes } from '../../../src/domain/accounts/access.ts'
import type { Operation } from '../../../src/http/operations/operation.ts'
import { implemented, reads, send, sharedSample } from '../../support/operations.ts'
import { seedDataImports, seedTable } from '../../support/seeding/imports/data-imports.ts'
import { db, write } from '../../support/seeding/rows.ts'
import { buildWorld, type World } from '../../support/world.ts'

let world: World

/** Ids in answers that lead the caller to no resource, with the reason. */
const unreadable: Readonly<Record<string, string>> = {
  'getEdition mac': 'It is a field of the edition, which its managers choose.',
  'getEditionMeta fee': 'Roles of an edition choose among the fee rules of their organisation.',
  'getEditionMeta mac': 'Roles of an edition choose among the merchant accounts of their organisation.',
  listWebhookEventKinds: 'The ids are those of examples.',
}

describe('ids in answers', () => {
  /** Finds the operation that reads one resource by the prefix of its id. */
  const readers = new Map<string, Operation>()
  const ids = /\b[a-z]{3}_[0-9A-HJKMNP-TV-Z]{26}\b/g
  const readPrefix = (id: string) => id.slice(0, 3)

  beforeAll(async () => {
    world = await buildWorld()
    const { id: organization, editions } = world.a
    const [{ id: edition_id }] = editions
    for (const edition of [edition_id, null]) {
      const file_id = await seedTable({ organization, edition })
      const [id] = await seedDataImports({ organization, edition: edition_id }, 1)
      await write(update(dataImports, { file_id }, sql`id = ${id}`))
    }
    for (const operation of implemented) {
      if (operation.method !== 'get' || !/^\/v1\/[\w-]+\/\{id\}$/.test(operation.path)) continue
      const { path } = await sharedSample(operation, world, world.people.OA)
      readers.set(readPrefix(path?.['id'] ?? ''), operation)
    }
    expect(readers.size).toBeGreaterThan(10)
  })

  it.each(roleCodes)('lead a caller with the role %s only to resources that this caller may read', async (role) => {
    const { token } = world.people[role]
    // Accounts have the prefix of customers, and no operation reads them.
    const accounts = new Set((await db.all(sql<{ id: string }>`select id from accounts`)).map(({ id }) => id))
    const statuses = new Map<string, number>()
    const leading = new Set<string>()
    for (const operation of reads.filter(({ id, roles }) => roles.includes(role) && !(id in unreadable))) {
      const { text } = await send(operation, await sharedSample(operation, world, world.people[role]), { token })
      for (const id of new Set(text.match(ids))) {
        const reader = readers.get(readPrefix(id))
        if (!reader || accounts.has(id) || `${operation.id} ${readPrefix(id)}` in unreadable) continue
        const status = statuses.get(id) ?? (await send(reader, { path: { id } }, { token })).status
        statuses.set(id, status)
        if (status !== 200) leading.add(`${operation.id}: ${id} is ${status}`)
      }
    }
    expect([...leading]).toEqual([])
    expect(statuses.size).toBeGreaterThan(20)
  })
})
