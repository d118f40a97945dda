import { and, eq, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { campaignConditions } from '../../db/schema/campaigns.ts'
import { select } from '../../db/select.ts'
import { update } from '../../db/write.ts'
import { type ErasedContacts, eraseInExpression } from '../../domain/erasure.ts'

/** Replaces the addresses of an erased person in the conditions that campaigns were started with. */
export async function eraseInCampaignConditions(
  { db }: Pick<JobCtx, 'db'>,
  organizationId: string,
  contacts: ErasedContacts,
): Promise<void> {
  const { campaign_id, position, expression } = campaignConditions
  const rows = await db.all(
    select({ campaign_id, position, expression })
      .from(campaignConditions)
      .where(sql`${campaign_id} in (select id from campaigns where organization_id = ${organizationId})`),
  )
  const statements = rows.flatMap((row) => {
    const erasedExpression = eraseInExpression(row.expression, contacts)
    return erasedExpression === row.expression
      ? []
      : [
          update(
            campaignConditions,
            { expression: erasedExpression },
            and(eq(campaign_id, row.campaign_id), eq(position, row.position)),
          ),
        ]
  })
  if (statements.length > 0) await db.batch(statements)
}
