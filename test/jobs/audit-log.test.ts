import { createScheduledController } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { dayMs } from '../../src/domain/time/instants.ts'
import worker from '../../src/index.ts'
import { seedEntries } from '../support/seeding/audit-log.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'

describe('the sweep of the audit log', () => {
  const run = async (at: number) => {
    await worker.scheduled(createScheduledController({ scheduledTime: new Date(at) }), env)
  }

  it('deletes entries after 400 days, a thousand at a time, in every organisation', async () => {
    const now = Date.now()
    const [one, other] = [await givenOrganization(), await givenOrganization()]
    const countEntries = async (id: string, before: number) =>
      (
        await env.DB.prepare('select count(*) as n from audit_log where organization_id = ? and created_at < ?')
          .bind(id, before)
          .first<{ n: number }>()
      )?.n
    await seedEntries(one.id, 700, { created_at: now - 401 * dayMs })
    await seedEntries(other.id, 700, { created_at: now - 401 * dayMs })
    await seedEntries(other.id, 3, { created_at: now - 399 * dayMs })
    await run(now)
    expect(((await countEntries(one.id, now)) ?? 0) + ((await countEntries(other.id, now)) ?? 0)).toBe(403)
    await run(now)
    expect(await countEntries(one.id, now - 400 * dayMs)).toBe(0)
    expect(await countEntries(other.id, now - 400 * dayMs)).toBe(0)
    expect(await countEntries(other.id, now - 398 * dayMs)).toBe(3)
  })
})
