import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { changedOne, commit } from '../../db/commit.ts'
import type { SenderDomainRow } from './queries.ts'

/** Editions keep their address: e-mails come from the platform's from now on. */
export const deleteSenderDomain = (ctx: Ctx, row: SenderDomainRow): Promise<null> =>
  commit(ctx, null, [sql`delete from sender_domains where id = ${row.id}`, changedOne()])
