import { and, eq, inArray, isNull, or } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { isShowable } from '../../db/images.ts'
import { feeRules } from '../../db/schema/editions.ts'
import { emailMessages } from '../../db/schema/email-messages.ts'
import { files } from '../../db/schema/files.ts'
import { merchantAccounts } from '../../db/schema/merchant-accounts.ts'
import { type Query, select } from '../../db/select.ts'
import { receiptEmailTypes, refundConfirmationEmailTypes } from '../../domain/editions/editions.ts'
import { doesNotExist, invalid } from '../../domain/errors.ts'
import type { EmailMessageType } from '../../domain/messaging/email-messages.ts'
import type { EditionRow } from './queries.ts'

interface ReferenceRow {
  id: string
  /** The access key, if the reference is an image. */
  image_key?: string
}

/** A message of the platform, the organisation or the edition, if it has one of the types. */
const selectEmail = (edition: EditionRow, id: string, types: readonly EmailMessageType[]): Query<ReferenceRow> =>
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

const selectOfOrganization = (
  table: typeof feeRules | typeof merchantAccounts,
  { organization_id }: EditionRow,
  id: string,
): Query<ReferenceRow> =>
  select({ id: table.id })
    .from(table)
    .where(and(eq(table.id, id), eq(table.organization_id, organization_id)))

/** The queries that find the ids in an edition's fields, always inside its organisation. */
const queries = {
  fee_rule_id: (_, edition, id) => selectOfOrganization(feeRules, edition, id),
  merchant_account_id: (_, edition, id) => selectOfOrganization(merchantAccounts, edition, id),
  meta_image_id: (ctx, edition, id) =>
    select({ id: files.id, image_key: files.access_key })
      .from(files)
      .where(and(eq(files.id, id), isShowable(ctx.caller, edition))),
  transaction_receipt_email_id: (_, edition, id) => selectEmail(edition, id, receiptEmailTypes),
  refund_confirmation_email_id: (_, edition, id) => selectEmail(edition, id, refundConfirmationEmailTypes),
} satisfies Record<string, (ctx: Ctx, edition: EditionRow, id: string) => Query<ReferenceRow>>

type ReferenceField = keyof typeof queries
const referenceFields = Object.keys(queries) as ReferenceField[]

/** Checks the changed ids in one round trip, and returns the access key of the edition's image after the change. */
export async function checkReferences(
  ctx: Ctx,
  edition: EditionRow & { image_key: string | null },
  input: Partial<Record<ReferenceField, string | null | undefined>>,
): Promise<string | null> {
  const lookUps = referenceFields.flatMap((field) => {
    const id = input[field]
    return id && id !== edition[field] ? [{ field, statement: queries[field](ctx, edition, id) }] : []
  })
  const rows = lookUps.length ? await ctx.db.batch(lookUps.map(({ statement }) => statement)) : []
  const missingReferences = lookUps.filter((_, index) => !rows[index]?.length)
  if (missingReferences.length) throw invalid(...missingReferences.flatMap(({ field }) => doesNotExist(field).errors))
  const image = rows[lookUps.findIndex(({ field }) => field === 'meta_image_id')]?.[0]
  if (image?.image_key !== undefined) return image.image_key
  return input.meta_image_id === null ? null : edition.image_key
}
