import { and, eq, inArray, isNull, or } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { isShowable } from '../../db/visibility.ts'
import { feeRules, merchantAccounts } from '../../db/schema/editions.ts'
import { files } from '../../db/schema/files/files.ts'
import { emailMessages } from '../../db/schema/messaging/email-messages.ts'
import { type Query, select } from '../../db/select.ts'
import { receiptEmailTypes, refundConfirmationEmailTypes } from '../../domain/editions/editions.ts'
import { doesNotExist, invalid } from '../../domain/errors.ts'
import type { EmailMessageType } from '../../domain/messaging/email-messages.ts'
import type { EditionRow } from './queries.ts'

interface FoundReference {
  id: string
  /** The key in the address of an image. */
  image_key?: string
}

/** The platform's messages, the organisation's and the edition's own, as far as they are of a fitting type. */
const emailOf = (edition: EditionRow, id: string, types: readonly EmailMessageType[]): Query<FoundReference> =>
  select({ id: emailMessages.id })
    .from(emailMessages)
    .where(
      and(
        eq(emailMessages.id, id),
        or(isNull(emailMessages.organization_id), eq(emailMessages.organization_id, edition.organization_id)),
        or(isNull(emailMessages.edition_id), eq(emailMessages.edition_id, edition.id)),
        inArray(emailMessages.type, [...types]),
      ),
    )

const ofOrganization = (
  table: typeof feeRules | typeof merchantAccounts,
  { organization_id }: EditionRow,
  id: string,
): Query<FoundReference> =>
  select({ id: table.id })
    .from(table)
    .where(and(eq(table.id, id), eq(table.organization_id, organization_id)))

/** Where the ids in an edition's fields are looked up: always inside its organisation. */
const lookUps = {
  fee_rule_id: (_, edition, id) => ofOrganization(feeRules, edition, id),
  merchant_account_id: (_, edition, id) => ofOrganization(merchantAccounts, edition, id),
  meta_image_id: (ctx, edition, id) =>
    select({ id: files.id, image_key: files.access_key })
      .from(files)
      .where(and(eq(files.id, id), isShowable(ctx.caller, edition))),
  transaction_receipt_email_id: (_, edition, id) => emailOf(edition, id, receiptEmailTypes),
  refund_confirmation_email_id: (_, edition, id) => emailOf(edition, id, refundConfirmationEmailTypes),
} satisfies Record<string, (ctx: Ctx, edition: EditionRow, id: string) => Query<FoundReference>>

type ReferenceField = keyof typeof lookUps
const referenceFields = Object.keys(lookUps) as ReferenceField[]

/**
 * Looks up the changed ids in one round trip, and answers the key of the edition's image after the
 * change. Refuses every field with an id that this edition may not use.
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
  if (image?.image_key !== undefined) return image.image_key
  return input.meta_image_id === null ? null : edition.image_key
}
