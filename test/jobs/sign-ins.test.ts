import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { accessTokens, signInCodes, signInLinks } from '../../src/db/schema/accounts.ts'
import { transactionalEmails } from '../../src/db/schema/transactional-emails.ts'
import { insert, insertAll } from '../../src/db/write.ts'
import { type IdKind, newId } from '../../src/domain/ids.ts'
import { dayMs } from '../../src/domain/time/instants.ts'
import { sweepSignIns } from '../../src/modules/auth/jobs.ts'
import { createContextAt } from '../support/context.ts'
import { seedAccount, seedTokens } from '../support/seeding/members.ts'
import { db, write } from '../support/seeding/rows.ts'

const now = Date.now()

const idAt = (kind: IdKind, at: number) => newId(kind, at, Math.random)

const codeRow = (created_at: number) => ({
  id: idAt('sign_in_code', created_at),
  account_id: null,
  address_hash: 'a',
  network_hash: 'n',
  salt: 's',
  expires_at: created_at + 600_000,
  created_at,
})

const emailRow = (codeId: string, created_at: number) => ({
  id: idAt('transactional_email', created_at),
  kind: 'sign_in_code' as const,
  sign_in_code_id: codeId,
  language: 'en' as const,
  recipient: 'old@example.test',
  status: 'sent' as const,
  created_at,
  modified_at: created_at,
})

const linkRow = (created_at: number) => ({
  id: idAt('sign_in_link', created_at),
  member_id: 'mem_1',
  secret_hash: idAt('request', created_at),
  expires_at: created_at + 3_600_000,
  created_at,
})

const sessionRow = (account_id: string, created_at: number) => ({
  id: idAt('access_token', created_at),
  account_id,
  name: 'Session',
  name_key: 'session',
  token_hash: idAt('request', created_at),
  prefix: 'ecm_0000',
  scopes: 'read write',
  expires_at: created_at + 43_200_000,
  is_session: true,
  signed_in_at: null,
  created_at,
})

const sweep = async () => {
  const ctx = createContextAt(now)
  await sweepSignIns(ctx)
  return { ...ctx.db.meter }
}

const listIds = async (table: string): Promise<string[]> => {
  const rows = await db.all(sql<{ id: string }>`select id from ${sql.raw(table)} order by id`)
  return rows.map(({ id }) => id)
}

describe('the sweep of sign-ins', () => {
  it('deletes codes with their messages and links after a day, and sessions 30 days after their end', async () => {
    const account = await seedAccount()
    const [oldCode, youngCode] = [codeRow(now - 2 * dayMs), codeRow(now - dayMs / 2)]
    const [oldLink, youngLink] = [linkRow(now - 2 * dayMs), linkRow(now - dayMs / 2)]
    const [oldSession, youngSession] = [sessionRow(account, now - 32 * dayMs), sessionRow(account, now - 29 * dayMs)]
    await seedTokens(account, 3)
    const tokens = await listIds('access_tokens')
    await write(
      ...insertAll(signInCodes, [oldCode, youngCode]),
      insert(transactionalEmails, emailRow(oldCode.id, oldCode.created_at)),
      insert(transactionalEmails, emailRow(youngCode.id, youngCode.created_at)),
      ...insertAll(signInLinks, [oldLink, youngLink]),
      ...insertAll(accessTokens, [oldSession, youngSession]),
    )
    await sweep()
    expect(await listIds('sign_in_codes')).toEqual([youngCode.id])
    expect(await listIds('sign_in_links')).toEqual([youngLink.id])
    expect(await listIds('access_tokens')).toEqual([...tokens, youngSession.id].toSorted())
    const emails = await db.all(sql<{ code: string }>`select sign_in_code_id as code from transactional_emails`)
    expect(emails).toEqual([{ code: youngCode.id }])
  })

  it('reads few rows when nothing is due, and no other token for each session that it deletes', async () => {
    const account = await seedAccount()
    const few = await sweep()
    expect([few.rows_read <= 15, few.rows_written]).toEqual([true, 0])
    await seedTokens(account, 500)
    await write(
      ...insertAll(
        signInCodes,
        Array.from({ length: 300 }, () => codeRow(now)),
      ),
      ...insertAll(
        accessTokens,
        Array.from({ length: 300 }, () => sessionRow(account, now)),
      ),
    )
    expect(await sweep()).toEqual(few)
    await write(
      ...insertAll(
        accessTokens,
        Array.from({ length: 50 }, () => sessionRow(account, now - 40 * dayMs)),
      ),
    )
    const { rows_read } = await sweep()
    expect(rows_read).toBeLessThan(1000)
  })
})
