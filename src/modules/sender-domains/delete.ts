import { eq } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { requireOneChange, commit } from '../../db/commit.ts'
import { senderDomains } from '../../db/schema/sender-domains.ts'
import { remove } from '../../db/write.ts'
import type { SenderDomainRow } from './queries.ts'

/** Editions keep their sender address, but their e-mails come from the platform's address from now on. */
export const deleteSenderDomain = (ctx: Ctx, row: SenderDomainRow): Promise<null> =>
  commit(ctx, null, [remove(senderDomains, eq(senderDomains.id, row.id)), requireOneChange()])
