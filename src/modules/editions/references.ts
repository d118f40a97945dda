import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { isShowable } from '../../db/images.ts'
import { inList } from '../../db/visibility.ts'
import { receiptEmailTypes, refundConfirmationEmailTypes } from '../../domain/editions/editions.ts'
import { doesNotExist, invalid } from '../../domain/errors.ts'
import type { EditionRow } from './queries.ts'

interface FoundReference {
  id: string
  image_key: string | null
}

/** The platform's messages, the organisation's and the edition's own, as far as they are of a fitting type. */
const emailOf = (edition: EditionRow, id: string, types: readonly string[]) =>
  sql<FoundReference>`select id, null as image_key from email_messages where id = ${id}
    and (organization_id is null or organization_id = ${edition.organization_id})
    and (edition_id is null or edition_id = ${edition.id}) and ${inList(sql`type`, types)}`

/** Where the ids in an edition's fields are looked up: always inside its organisation. */
const lookUps = {
  fee_rule_id: (_, edition, id) =>
    sql<FoundReference>`select id, null as image_key from fee_rules where id = ${id} and organization_id = ${edition.organization_id}`,
  merchant_account_id: (_, edition, id) =>
    sql<FoundReference>`select id, null as image_key from merchant_accounts
      where id = ${id} and organization_id = ${edition.organization_id}`,
  meta_image_id: (ctx, edition, id) =>
    sql<FoundReference>`select id, access_key as image_key from files
      where id = ${id} and ${isShowable(ctx.caller, { ...edition, edition_id: edition.id })}`,
  transaction_receipt_email_id: (_, edition, id) => emailOf(edition, id, receiptEmailTypes),
  refund_confirmation_email_id: (_, edition, id) => emailOf(edition, id, refundConfirmationEmailTypes),
} satisfies Record<string, (ctx: Ctx, edition: EditionRow, id: string) => SQL<FoundReference>>

type ReferenceField = keyof typeof lookUps
const referenceFields = Object.keys(lookUps) as ReferenceField[]

/**
 * Looks up, in one round trip, what the changed ids point to, and answers the key of the edition's image after the
 * change. Refuses every field whose id is not there for this edition.
 */
export async function resolveReferences(
  ctx: Ctx,
  edition: EditionRow & { image_key: string | null },
  input: Partial<Record<ReferenceField, string | null | undefined>>,
): Promise<string | null> {
  const asked = referenceFields.flatMap((field) => {
    const id = input[field]
    return id && id !== edition[field] ? [{ field, statement: lookUps[field](ctx, edition, id) }] : []
  })
  const found = asked.length ? await ctx.db.batch(asked.map(({ statement }) => statement)) : []
  const missing = asked.filter((_, index) => !found[index]?.length)
  if (missing.length) throw invalid(...missing.flatMap(({ field }) => doesNotExist(field).errors))
  const image = found[asked.findIndex(({ field }) => field === 'meta_image_id')]?.[0]
  if (image) return image.image_key
  return input.meta_image_id === null ? null : edition.image_key
}
